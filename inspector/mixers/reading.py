"""A mixer's head as its map has it: the weight farthest from 0, the signs of weights, the sums of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.trace import MixerRecord, MixerSite


@dataclass(frozen=True)
class HeadOfMixer:
    """The map of a head of a mixer, in numbers.

    query, key, weight: of the weight farthest from 0 among queries that have a choice: in a decoder the first reads
    itself alone. size: the weight farthest from 0 of the whole map, without its sign. negative: the share of the
    weights that are below 0, in a decoder among those of keys up to the query. sums: the least and the largest sum of a
    row. difference: of M v from what the layer's core left, the largest, as a share of the head's largest output.
    """

    site: MixerSite
    head: int
    query: int
    key: int
    weight: float
    size: float
    negative: float
    sums: tuple[float, float]
    difference: float


def read(record: MixerRecord, head: int) -> HeadOfMixer:
    """Read the map of a head, block by block.

    Raises ValueError if there is no such head, or if its map is not what the layer did.
    """
    tokens, decoder = len(record.site.queries), record.site.stream == "decoder"
    query, key, weight, size, negative, seen = int(tokens > 1 and decoder), 0, 0.0, 0.0, 0, 0
    least, largest, difference = np.inf, -np.inf, 0.0
    for block in record.of_head(head).blocks():
        weights = block.weights[0]
        sizes = np.abs(weights)
        size = max(size, float(sizes.max()))
        if decoder and tokens > 1 and not block.queries.start:
            sizes[0] = 0  # a query that reads itself alone, which is no choice
        at = np.unravel_index(sizes.argmax(), weights.shape)
        if abs(weights[at]) > abs(weight):
            weight, query, key = float(weights[at]), int(at[0]) + block.queries.start, int(at[1]) + block.keys.start
        visible = np.ones(weights.shape, np.bool_)
        if decoder:
            visible = np.tri(len(weights), weights.shape[1], block.queries.start - block.keys.start, dtype=np.bool_)
        negative += int((weights[visible] < 0).sum())
        seen += int(visible.sum())
        difference = max(difference, float(block.difference.max()))
        sums = weights.sum(axis=-1, dtype=np.float64)
        least, largest = min(least, float(sums.min())), max(largest, float(sums.max()))
    return HeadOfMixer(record.site, head, query, key, weight, size, negative / seen, (least, largest), difference)
