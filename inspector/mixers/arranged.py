"""Maps of a mixer as the reader arranged its tokens: hidden ones left out, and the pieces of a word put together.

A word's weight is the sum over its pieces as keys and their mean as queries, as in attention; rows are never
renormalised, for their sum means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from inspector.maps import Arrangement
from inspector.trace import Array, MixerRecord
from inspector.trace.pooling import MaxPool


def reader(record: MixerRecord, head: int) -> Callable[[slice], Array]:
    """Return a function that reads any token rows of a head's map, all keys: slice -> float32 [rows, T].

    Raises ValueError if there is no such head; what it returns, where the map is not what the layer did.
    """
    alone, keys = record.of_head(head), slice(0, len(record.site.keys))

    def rows(tokens: slice) -> Array:
        chosen: Array = alone.window(queries=tokens, keys=keys)[0]
        return chosen

    return rows


def small_picture(record: MixerRecord, *, side: int) -> Array | None:
    """Make small pictures of all heads' maps, float32 [H, rows, cols], signed, see `MixerRecord.pooled`.

    One picture, of the mean size, where each channel has a map; None where a map is not what the layer did.
    """
    try:
        return record.averaged(side=side)[None] if record.site.by_channel else record.pooled(side=side)
    except ValueError:
        return None


def pooled(record: MixerRecord, shown: Arrangement, *, side: int) -> Array:
    """Small pictures of all heads' maps as they are shown, see `MixerRecord.pooled`: float32 [H, rows, cols]."""
    if shown.is_plain(record.site):
        return record.pooled(side=side)
    queries, keys = len(shown.queries.members), len(shown.keys.members)
    above, below = (MaxPool(record.output.shape[1], queries, keys, side=side) for _ in range(2))
    for groups, block in replace(shown, renormalise=False).blocks(_whole_rows(record)):
        above.add(block, queries=groups, keys=slice(0, keys))
        below.add(-block, queries=groups, keys=slice(0, keys))
    cells: Array = np.where(below.cells > above.cells, -below.cells, above.cells)
    return cells


def averaged(record: MixerRecord, shown: Arrangement, *, side: int) -> Array:
    """One small picture of a mixer by channel as it is shown, see `MixerRecord.averaged`: float32 [rows, cols]."""
    if shown.is_plain(record.site):
        return record.averaged(side=side)
    queries, keys = len(shown.queries.members), len(shown.keys.members)
    pool, arranged = MaxPool(1, queries, keys, side=side), replace(shown, renormalise=False)
    channels = (arranged.blocks(_whole_rows(record.of_head(channel))) for channel in record.sampled)
    for parts in zip(*channels, strict=True):
        sizes: Array = np.stack([np.abs(block) for _, block in parts]).mean(axis=0, dtype=np.float32)
        pool.add(sizes, queries=parts[0][0], keys=slice(0, keys))
    cells: Array = pool.cells[0]
    return cells


def _whole_rows(record: MixerRecord) -> Iterator[tuple[slice, Array]]:
    """All maps in blocks of rows, the keys that no row of a block reads at 0: (rows, float32 [H, rows, T])."""
    for block in record.blocks():
        unread = len(record.site.keys) - block.weights.shape[-1]
        yield block.queries, np.pad(block.weights, ((0, 0), (0, 0), (0, unread)))
