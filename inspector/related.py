"""Which keys belong to which queries by what the text says: after the same token, or in the same word.

Shapes: H heads, rows and columns of a block of attention weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Related:
    """In each class (queries, keys), both rising, every query belongs to every key but the one `offset` after it."""

    classes: tuple[tuple[Positions, Positions], ...]
    offset: int

    def queries(self, *, causal: bool) -> int:
        """How many queries have such a key; causal: one that was read before it."""
        count = 0
        for queries, keys in self.classes:
            apart = keys != queries[:, None] + self.offset
            count += int((apart & (keys <= queries[:, None]) if causal else apart).any(axis=1).sum())
        return count

    def mass(self, weights: NDArray[np.float32], *, queries: slice, keys: slice) -> NDArray[np.float64]:
        """The weight on such keys, summed over the queries of a block [H, queries, keys]: [H]."""
        total = np.zeros(len(weights))
        heads = np.arange(len(weights))
        for every_query, every_key in self.classes:
            rows = _within(every_query, queries)
            if not rows.size:
                continue
            columns = _within(every_key, keys)
            total += weights[np.ix_(heads, rows, columns)].sum(axis=(1, 2), dtype=np.float64)
            left_out = rows + queries.start + self.offset - keys.start
            there = np.isin(left_out, columns)
            total -= weights[:, rows[there], left_out[there]].sum(axis=1, dtype=np.float64)
        return np.maximum(total, 0.0)  # only rounding takes it below 0


def after_the_same(tokens: Sequence[str], words: Sequence[int | None]) -> Related:
    """Keys whose token before is the query's own, at another place: where an induction head looks (Olsson et al. 2022).

    words: for each token its word, None for special tokens, which belong to nothing.
    """
    places = _places((token if word is not None else None) for token, word in zip(tokens, words, strict=True))
    classes = ((queries, queries + 1) for queries in places if queries.size > 1)
    return Related(tuple((queries, keys[keys < len(tokens)]) for queries, keys in classes), offset=1)


def in_the_same_word(words: Sequence[int | None]) -> Related:
    """The other pieces of the query's own word."""
    return Related(tuple((pieces, pieces) for pieces in _places(words) if pieces.size > 1), offset=0)


def _places(names: Iterable[Hashable]) -> list[Positions]:
    """Where each name stands; None is no name."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        if name is not None:
            found[name].append(place)
    return [np.array(places, np.intp) for places in found.values()]


def _within(places: Positions, part: slice) -> Positions:
    """Those in the part, counted from its start."""
    first, last = np.searchsorted(places, (part.start, part.stop))
    inside: Positions = places[first:last] - part.start
    return inside
