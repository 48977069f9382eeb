"""The section Memory over segments, read: how far segments are from one pass, and what a head takes of memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.segments import Segmented


@dataclass(frozen=True)
class Memory:
    """A text of `tokens` tokens in `count` segments.

    changed, longest: the largest difference from one pass, as a share of its largest number, with this memory and with
    one as long as the text. back: how many tokens before it the last token can depend on. pairs, all_pairs: of query
    and key that are compared in segments, and in one causal pass.
    """

    tokens: int
    count: int
    segment: int
    memory: int
    layers: int
    positions: str
    begins_anew: bool
    changed: float
    longest: float
    back: int
    pairs: int
    all_pairs: int


def memory(found: Segmented) -> Memory:
    """Read a text in segments."""
    tokens = len(found.changed)
    return Memory(
        tokens=tokens,
        count=len(found.starts),
        segment=found.segment,
        memory=found.memory,
        layers=len(found.maps),
        positions=found.positions,
        begins_anew=found.begins_anew,
        changed=float(found.changed.max()),
        longest=float(found.at_most.max()),
        back=int(found.reach[-1]),
        pairs=int((~np.isnan(found.maps[0][0])).sum()),
        all_pairs=tokens * (tokens + 1) // 2,
    )


def remembering(found: Segmented, at: int) -> tuple[int, int]:
    """Find the layer and head that give most of their weight to the memory in segment `at`.

    The key of the memory that gets most of a head counts for nothing: a head that rests on one token shows little.
    """
    rows, start, first = place(found, at)
    if start == first:
        return 0, 0
    keys = np.stack([np.nansum(maps[:, rows, first:start], axis=1) for maps in found.maps])  # [L, H, M]
    weights = keys.sum(axis=-1) - keys.max(axis=-1)
    layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head)


def place(found: Segmented, at: int) -> tuple[slice, int, int]:
    """Locate segment `at`: its rows, its first token, and the first token of its memory."""
    start = at * found.segment
    stop = min(start + found.segment, len(found.changed))
    return slice(start, stop), start, max(start - found.memory, 0)


def of_memory(found: Segmented, at: int, *, layer: int, head: int) -> float:
    """Measure the mean share of weight that a head gives to the memory in segment `at`."""
    rows, start, first = place(found, at)
    return float(np.nansum(found.maps[layer][head][rows, first:start]) / (rows.stop - rows.start))
