"""Memory over segments: a text is read piece by piece, and each layer keeps what it read before (Dai et al. 2019).

```python
hidden = read_segments(decoder, ids, segment=16, memory=16)  # as decoder(ids), for relative positions
```

A layer's queries are the segment's tokens alone; its keys and values are made of the memory and of the segment. The
memory is what the layer's attention read of earlier segments, cut off from their gradients. With a memory as long as
the text a relative decoder gives what it gives in one pass. With L layers and a memory of M tokens, as long as a
segment, a token depends on tokens up to L M before its segment: the tokens in the memory have read the segment before.

Positions must be distances (XL, T5, ALiBi, Shaw, RoPE) or none: a table of absolute positions begins anew with each
segment, so that a token of the memory and a token of the segment share a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from models.transformer.stacks import Decoder


@dataclass(eq=False)
class LayerMemory:
    """The memory of one layer: `read` [B, M, D], what its attention read of earlier segments; None before the first.

    longest: M at most. gradients: whether they go back through the memory into earlier segments.
    """

    longest: int
    read: Tensor | None = None
    gradients: bool = False

    @property
    def length(self) -> int:
        """The tokens in memory now, M."""
        return 0 if self.read is None else self.read.shape[1]

    def join(self, x: Tensor) -> Tensor:
        """Put the memory before the segment x [B, Q, D] -> [B, M + Q, D], and keep the last tokens of both."""
        known = x if self.read is None else torch.cat([self.read, x], dim=1)
        last = known[:, known.shape[1] - min(self.longest, known.shape[1]) :]
        self.read = last if self.gradients else last.detach()
        return known


class SegmentMemory:
    """The memory of a decoder with L layers, up to `tokens` tokens in each; its forward reads and renews it."""

    def __init__(self, layers: int, *, tokens: int, gradients: bool = False) -> None:
        if tokens < 0:
            raise ValueError(f"a memory of {tokens} tokens; choose 0 for none, or more")
        self.layers = [LayerMemory(tokens, gradients=gradients) for _ in range(layers)]

    @property
    def length(self) -> int:
        """The tokens in each layer's memory now."""
        return self.layers[0].length

    def copy(self) -> SegmentMemory:
        """Return a memory of its own with the same tokens."""
        copied = SegmentMemory(len(self.layers), tokens=self.layers[0].longest)
        copied.layers = [replace(layer) for layer in self.layers]
        return copied


def read_segments(decoder: Decoder, ids: Tensor, *, segment: int, memory: int, gradients: bool = False) -> Tensor:
    """Read ids [B, T] in segments of so many tokens with a memory of so many -> last hidden states [B, T, D].

    memory 0: each segment is read alone. gradients: False keeps them within a segment (section 3.2 of the paper).
    Raises ValueError for a segment below 1 or a memory below 0.
    """
    if segment < 1:
        raise ValueError(f"segments of {segment} tokens; choose 1 or more")
    carried = SegmentMemory(len(decoder.layers), tokens=memory, gradients=gradients)
    return torch.cat([decoder(part, memory=carried) for part in torch.split(ids, segment, dim=1)], dim=1)


def joined(maps: Sequence[Tensor]) -> Tensor:
    """Lay the maps of a text's segments, [B, H, Q, M + Q] each, into one map of the text: [B, H, T, T].

    A key that a query's segment does not hold in its memory has the weight 0.
    """
    tokens = sum(segment.shape[2] for segment in maps)
    whole = maps[0].new_zeros(*maps[0].shape[:2], tokens, tokens)
    end = 0
    for segment in maps:
        start, end = end, end + segment.shape[2]
        whole[:, :, start:end, end - segment.shape[3] : end] = segment
    return whole


def reach(*, layers: int, segment: int, memory: int, place: int) -> int:
    """Count the tokens before `place` (from 0) that its last hidden state can depend on.

    They are all earlier tokens of its segment, M tokens before the segment in the last layer, and per lower layer the
    whole segments that these M tokens lie in: they were read with a memory too. That is L M tokens before the segment
    where M is as long as a segment or some segments, and nothing where M = 0.
    """
    start = place // segment * segment
    further = (layers - 1) * -(-memory // segment) * segment + memory
    return place - max(start - further, 0)
