"""Maps of layers that mix tokens without softmax attention, computed again, and given only where they are exact.

For a given text such a layer is a matrix from token to token for each head or channel, y = M v (models/mixers; of a
gated delta rule Yang et al. 2024). Weights have a sign, and rows sum to anything: M is no distribution, so its records
stand in `Trace.mixers`, beside the attentions that entropy, rollout, roles and the atlas read.

Every row that is given was held to the layer: M v must equal what the layer's own core left, within TOLERANCE of the
largest number that its head left on this text. Shapes: H heads or channels, Q query positions, T key positions, V value
width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from inspector.trace.counting import places
from inspector.trace.pooling import MaxPool
from inspector.trace.recompute import Array
from models.mixers import BY_CHANNEL, CHUNK, Core, MixerKind

TOLERANCE = 1e-5
CHECKED = 8  # blocks of rows of a text, at most, that a whole mixer is held to
SAMPLED = 32  # channels of a mixer whose map is by channel, evenly spaced, that stand for all in picture and check


@dataclass(frozen=True)
class MixerSite:
    """The place of a mixer: its kind, stream, layer, heads, and the tokens that it joins (queries and keys are one).

    heads: how many; channels, where `by_channel`. predicts, call: as in AttentionSite; a layer mixes its tokens once in
    each way.
    """

    call: ClassVar[int] = 0

    kind: MixerKind
    stream: str
    layer: int
    heads: int
    queries: tuple[str, ...]
    predicts: tuple[str | None, ...] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens that are read: the text's own."""
        return self.queries

    @property
    def predicted(self) -> tuple[str, ...] | None:
        """Names for the tokens that the queries have to predict, see `AttentionSite.predicted`."""
        return None if self.predicts is None else tuple("…" if token is None else token for token in self.predicts)

    @property
    def by_channel(self) -> bool:
        """True where each channel has a map of its own: thousands, of which one is looked at."""
        return self.kind in BY_CHANNEL

    @property
    def tiles(self) -> int:
        """Small pictures in a grid of all heads: one for each, and one for all channels where `by_channel`."""
        return 1 if self.by_channel else self.heads

    @property
    def name(self) -> str:
        """The layer and what mixes its tokens: "layer 3 (gated delta rule)"."""
        return f"layer {self.layer} ({self.kind})"


@dataclass(frozen=True)
class MixerBlock:
    """A block of query rows of all maps of a mixer: weights, float32 [H, queries, keys]; keys after `keys` weigh 0.

    difference: the largest of M v from what the core left in these rows, [H], as a share of the head's largest output.
    """

    queries: slice
    keys: slice
    weights: Array
    difference: np.ndarray


@dataclass(frozen=True)
class MixerRecord:
    """One run of a mixer: what its map is computed from, the values [T, H, V] and what its own core left, [T, H, V].

    again: the model computes in half precision, and its core ran once more in float32, on what it was given. gate: what
    the core multiplied M v by before it left it, [T, H, V] (Mamba's silu(z)); None for most.
    """

    site: MixerSite
    core: Core
    value: Tensor
    output: Tensor
    again: bool = False
    gate: Tensor | None = None

    def of_head(self, head: int) -> MixerRecord:
        """The record of one head, or channel, alone. Raises ValueError if there is none."""
        if not 0 <= head < self.site.heads:
            what, last = "channel" if self.site.by_channel else "head", self.site.heads - 1
            raise ValueError(f"{what} {head} is out of range: {self.site.name} has {what}s 0 to {last}")
        return self._of_heads([head])

    @property
    def sampled(self) -> tuple[int, ...]:
        """The heads, or the SAMPLED channels, that the check of the whole mixer and `averaged` look at."""
        heads = self.output.shape[1]
        if not self.site.by_channel or heads <= SAMPLED:
            return tuple(range(heads))
        return tuple(np.linspace(0, heads - 1, SAMPLED).round().astype(int).tolist())

    @cached_property
    def difference(self) -> float:
        """The largest difference of M v from what the core left, over `sampled`, as a share of a head's size.

        Of every row; of a text of more than CHECKED blocks of rows, of as many, from the first to the last, for work
        that is linear in the text. (A row is held anyhow before it is given.)
        """
        held, tokens = self._of_heads(self.sampled), len(self.site.queries)
        last = (tokens - 1) // CHUNK
        if tokens <= CHECKED * CHUNK:
            return max(float(block.difference.max()) for block in held._blocks(slice(0, tokens)))
        starts = np.unique(np.linspace(0, last, CHECKED).round().astype(int)) * CHUNK
        blocks = (next(held._blocks(slice(start, min(start + CHUNK, tokens)))) for start in starts.tolist())
        return max(float(block.difference.max()) for block in blocks)

    @property
    def exact(self) -> bool:
        """True where `difference` is within TOLERANCE, and the maps are shown."""
        return self.difference <= TOLERANCE

    def blocks(self, *, queries: slice | None = None) -> Iterator[MixerBlock]:
        """Compute all maps in blocks of query rows; queries: the rows of interest, whose blocks come whole.

        Raises ValueError, with the difference, where M v is not what the layer's own core left; and for all channels of
        a mixer whose map is by channel.
        """
        if self.site.by_channel and self.output.shape[1] > SAMPLED:
            raise ValueError(
                f"{self.site.name} has a map for each of its {self.site.heads:,} channels: choose one with head="
            )
        for block in self._blocks(queries or slice(0, len(self.site.queries))):
            worst = int(np.argmax(block.difference))
            if not block.difference[worst] <= TOLERANCE:
                raise ValueError(
                    f"no map of {self.site.name} is given: its product with the values is off by "
                    f"{block.difference[worst]:.1e} of what the layer's own core left, where {TOLERANCE:.0e} is allowed"
                )
            yield block

    def window(self, *, queries: slice, keys: slice) -> Array:
        """Compute some rows and columns of all maps, as slices of numpy: float32 [H, queries, keys], read-only.

        Raises ValueError for a window that holds nothing, and for steps.
        """
        tokens = len(self.site.queries)
        queries, keys = places(queries, "queries", count=tokens), places(keys, "keys", count=tokens)
        chosen = np.zeros((self.output.shape[1], queries.stop - queries.start, keys.stop - keys.start), np.float32)
        for block in self.blocks(queries=queries):
            rows = slice(max(block.queries.start, queries.start), min(block.queries.stop, queries.stop))
            columns = slice(keys.start, min(block.keys.stop, keys.stop))
            if columns.start < columns.stop:
                into = slice(rows.start - queries.start, rows.stop - queries.start)
                of_block = slice(rows.start - block.queries.start, rows.stop - block.queries.start)
                chosen[:, into, : columns.stop - columns.start] = block.weights[:, of_block, columns]
        chosen.setflags(write=False)
        return chosen

    def pooled(self, *, side: int) -> Array:
        """Small pictures of all maps: float32 [H, rows, cols], at most `side` cells in either direction.

        Each cell is the weight of its tile that is the farthest from 0, with its sign.
        """
        tokens = len(self.site.queries)
        above, below = (MaxPool(self.output.shape[1], tokens, tokens, side=side) for _ in range(2))
        for block in self._held(self):
            above.add(block.weights, queries=block.queries, keys=block.keys)
            below.add(-block.weights, queries=block.queries, keys=block.keys)
        cells: Array = np.where(below.cells > above.cells, -below.cells, above.cells)
        cells.setflags(write=False)
        return cells

    def averaged(self, *, side: int) -> Array:
        """One small picture for a mixer by channel: float32 [rows, cols], the mean size |M| over `sampled` channels.

        Each cell is the largest mean of its tile.
        """
        tokens = len(self.site.queries)
        mean = MaxPool(1, tokens, tokens, side=side)
        for block in self._held(self._of_heads(self.sampled)):
            sizes = np.abs(block.weights).mean(axis=0, keepdims=True, dtype=np.float32)
            mean.add(sizes, queries=block.queries, keys=block.keys)
        mean.cells.setflags(write=False)
        cells: Array = mean.cells[0]
        return cells

    def _held(self, heads: MixerRecord) -> Iterator[MixerBlock]:
        """All maps of `sampled` in blocks; where the last comes, `difference` is known without another pass."""
        difference = 0.0
        for block in heads.blocks():
            difference = max(difference, float(block.difference.max()))
            yield block
        if len(self.site.queries) <= CHECKED * CHUNK:
            self.__dict__.setdefault("difference", difference)

    def _of_heads(self, heads: Sequence[int]) -> MixerRecord:
        if tuple(heads) == tuple(range(self.output.shape[1])):
            return self
        chosen = list(heads)
        gate = None if self.gate is None else self.gate[:, chosen]
        value, output = self.value[:, chosen], self.output[:, chosen]
        return replace(self, core=self.core.of_heads(chosen), value=value, output=output, gate=gate)

    @torch.no_grad()
    def _blocks(self, queries: slice) -> Iterator[MixerBlock]:
        value = self.value.double().transpose(0, 1).contiguous()
        output = self.output.double().transpose(0, 1)  # [H, T, V]
        size = output.abs().amax(dim=(1, 2))
        for rows, made in self.core.blocks(queries=queries):
            weights = made.float()  # what is shown is what is held to the layer
            mixed = weights.double() @ value[:, : weights.shape[-1]]
            if self.gate is not None:
                mixed = mixed * self.gate[rows].double().transpose(0, 1)
            off = (mixed - output[:, rows]).abs().amax(dim=(1, 2))
            difference = torch.where(off == 0, 0.0, off / size)
            yield MixerBlock(rows, slice(0, weights.shape[-1]), weights.numpy(), difference.numpy())
