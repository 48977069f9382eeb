"""A text that a decoder reads in segments, with Transformer-XL's memory, held to the same text in one pass.

```python
import models
from inspector import segments

found = segments.read(models.load("mini-gpt"), ids, segment=8, memory=8)  # ids: those of trace.encoding
found.changed  # for each token, how far its last hidden state is from the one pass, of the largest number of all
found.maps[0][3]  # layer 0, head 3: weights [T, T], NaN where a key is neither in the segment nor in its memory
segments.table(found, trace.encoding.tokens)  # a row for each memory and token
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

import models
from models import LoadedModel
from models.attention import AttentionCall, watch
from models.training.replay import weights
from models.transformer import Decoder
from models.transformer.runner import OwnRunner
from models.transformer.segment_memory import joined, reach, read_segments

MOST = 192  # tokens: L H T^2 weights are kept
ABSOLUTE = ("sinusoidal", "learned")  # positions that begin anew with each segment


@dataclass(frozen=True, eq=False)
class SegmentedText:
    """A text of T tokens, read in segments and whole.

    changed, at_most: of each token, how far the numbers of its last hidden state are from the numbers of one pass: the
    largest difference, as a share of the largest number of all tokens, [T]; with this memory, and with one as long as
    the text. maps: [H, T, T] of each layer, read in segments. reach: how many tokens before it each token can depend
    on, [T].
    """

    segment: int
    memory: int
    positions: str
    changed: NDArray[np.float64]
    at_most: NDArray[np.float64]
    maps: tuple[NDArray[np.float32], ...]
    reach: NDArray[np.int64]

    @property
    def starts(self) -> NDArray[np.int64]:
        """The place of the first token of each segment."""
        return np.arange(0, len(self.changed), self.segment)

    @property
    def tokens(self) -> int:
        """The tokens of the text, T."""
        return len(self.changed)

    @property
    def count(self) -> int:
        """The segments of the text."""
        return len(self.starts)

    @property
    def layers(self) -> int:
        """The layers of the model."""
        return len(self.maps)

    @property
    def back(self) -> int:
        """The tokens before it that the last token can depend on."""
        return int(self.reach[-1])

    @property
    def pairs(self) -> int:
        """The pairs of query and key that are compared in segments, in each head."""
        return int((~np.isnan(self.maps[0][0])).sum())

    @property
    def all_pairs(self) -> int:
        """The pairs of query and key that one causal pass compares, in each head."""
        return self.tokens * (self.tokens + 1) // 2

    @property
    def begins_anew(self) -> bool:
        """True where the positions are places in a table, counted from 0 in each segment."""
        return self.positions in ABSOLUTE

    def place(self, at: int) -> tuple[slice, int, int]:
        """Locate segment `at`: its rows, its first token, and the first token of its memory."""
        start = at * self.segment
        return slice(start, min(start + self.segment, self.tokens)), start, max(start - self.memory, 0)

    def of_memory(self, at: int, *, layer: int, head: int) -> float:
        """Measure the mean share of weight that a head gives to the memory in segment `at`."""
        rows, start, first = self.place(at)
        return float(np.nansum(self.maps[layer][head][rows, first:start]) / (rows.stop - rows.start))

    def remembering(self, at: int) -> tuple[int, int]:
        """Find the layer and head that give most of their weight to the memory in segment `at`.

        The key of the memory that gets most of a head counts for nothing: a head that rests on one token shows little.
        """
        rows, start, first = self.place(at)
        if start == first:
            return 0, 0
        keys = np.stack([np.nansum(maps[:, rows, first:start], axis=1) for maps in self.maps])  # [L, H, M]
        weights = keys.sum(axis=-1) - keys.max(axis=-1)
        layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
        return int(layer), int(head)


def reader(loaded: LoadedModel) -> Decoder:
    """Find the decoder that reads a model's segments: its own, or one of the own Transformer with its weights.

    Raises ValueError for a model that reads both ways, for one with two stacks, and for one that the own Transformer
    cannot hold.
    """
    if loaded.shape != "decoder":
        what = "reads both ways" if loaded.shape == "encoder" else "reads a source and a target"
        raise ValueError(
            f"{loaded.card.id} {what}: memory over segments goes from left to right in one text, as a decoder reads; "
            "choose mini-gpt, or mini-gpt?positions=xl"
        )
    readable = loaded if isinstance(loaded.runner, OwnRunner) else models.own_implementation(loaded)
    network = readable.runner.network if isinstance(readable.runner, OwnRunner) else None
    if not isinstance(network, Decoder):
        raise ValueError(f"{loaded.card.id} is no decoder of one text; choose mini-gpt")
    return network


@torch.inference_mode()
def read(loaded: LoadedModel, ids: Sequence[int], *, segment: int, memory: int) -> SegmentedText:
    """Read the tokens of a text in segments with a memory, and compare with one pass, all on the CPU.

    Raises ValueError for a model that cannot (see `reader`), for more than 192 tokens or none, and for a segment or
    memory that is no such number.
    """
    if not 1 <= len(ids) <= MOST:
        raise ValueError(f"a text of {len(ids)} tokens; choose 1 to {MOST}")
    decoder = reader(loaded)
    given = torch.tensor([list(ids)], device=decoder.embedding.token.weight.device)
    whole = decoder(given)[0].double().cpu()
    calls: list[AttentionCall] = []
    with watch(calls.append):
        parts = read_segments(decoder, given, segment=segment, memory=memory)
    longest = read_segments(decoder, given, segment=segment, memory=len(ids))
    count = len(decoder.layers)
    every = [weights(call).cpu() for call in calls]
    hidden = ~_seen(len(ids), segment=segment, memory=memory)
    return SegmentedText(
        segment=segment,
        memory=memory,
        positions=decoder.config.positions,
        changed=_changed(parts, whole),
        at_most=_changed(longest, whole),
        maps=tuple(
            joined(every[layer::count])[0].float().masked_fill(torch.from_numpy(hidden), torch.nan).numpy()
            for layer in range(count)
        ),
        reach=np.array([reach(layers=count, segment=segment, memory=memory, place=place) for place in range(len(ids))]),
    )


def table(segmented: SegmentedText, tokens: Sequence[str]) -> pd.DataFrame:
    """List how far each token is from one pass, in percent, with the chosen memory and with one as long as the text.

    tokens: the text's tokens, or more. Columns: memory ("chosen" | "whole"), position, token, difference.
    """
    rows = {"position": range(segmented.tokens), "token": tokens[: segmented.tokens]}
    kinds = (("chosen", segmented.changed), ("whole", segmented.at_most))
    return pd.concat(
        [pd.DataFrame({"memory": kind, **rows, "difference": 100 * values}) for kind, values in kinds],
        ignore_index=True,
    )


def _changed(hidden: Tensor, whole: Tensor) -> NDArray[np.float64]:
    """Compare hidden states [1, T, D] with the states of one pass [T, D] -> [T]."""
    apart = (hidden[0].double().cpu() - whole).abs().amax(dim=-1) / whole.abs().max()
    changed: NDArray[np.float64] = apart.numpy()
    return changed


def _seen(tokens: int, *, segment: int, memory: int) -> NDArray[np.bool_]:
    """Mark the keys that each query has, in its segment up to itself and in its memory: [T, T]."""
    query, key = np.arange(tokens)[:, None], np.arange(tokens)
    return (key <= query) & (key >= query // segment * segment - memory)
