"""Which keys belong to which queries by what the text says: after the same token, or in the same word.

Shapes: Q query positions, T key positions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Classes = NDArray[np.int32]
NONE = -1  # of no class


@dataclass(frozen=True)
class Related:
    """A query belongs to every key of its class but the one `offset` after it.

    of_queries, of_keys: int32 [Q] and [T], the class of each; NONE belongs to nothing.
    """

    of_queries: Classes
    of_keys: Classes
    offset: int

    def queries(self, *, causal: bool) -> int:
        """How many queries have such a key; causal: one that was read before it."""
        classes: list[int] = self.of_keys.tolist()
        places = range(len(classes))
        first = dict(zip(reversed(classes), reversed(places), strict=True))
        last = dict(zip(classes, places, strict=True))

        def belongs(query: int, own: int) -> bool:
            left_out = query + self.offset
            if causal:
                return first[own] <= query and first[own] != left_out
            return first[own] != left_out or last[own] != left_out

        own_class = enumerate(self.of_queries.tolist())
        return sum(belongs(query, own) for query, own in own_class if own != NONE and own in first)

    def pairs(self, queries: slice, keys: slice) -> NDArray[np.bool_]:
        """Which of some keys belong to which of some queries: [queries, keys]."""
        own = self.of_queries[queries, None]
        same: NDArray[np.bool_] = (own == self.of_keys[None, keys]) & (own != NONE)
        rows = np.arange(queries.start, queries.stop)
        left_out = rows + self.offset - keys.start
        there = (left_out >= 0) & (left_out < same.shape[1])
        same[rows[there] - queries.start, left_out[there]] = False
        return same


def after_the_same(
    tokens: Sequence[str], words: Sequence[int | None], *, known: Sequence[bool] | None = None
) -> Related:
    """Keys whose token before is the query's own, at another place: where an induction head looks (Olsson et al. 2022).

    words: for each token its word, None for special tokens, which belong to nothing. known: whether the tokenizer knows
    each token, all of them where it is left out; two unknown ones look alike and may stand for different words, so they
    repeat nothing.
    """
    known = (True,) * len(tokens) if known is None else known
    every = zip(tokens, words, known, strict=True)
    own = _classes(token if word is not None and is_known else None for token, word, is_known in every)
    return Related(own, np.concatenate([[NONE], own[:-1]]).astype(np.int32), offset=1)


def in_the_same_word(words: Sequence[int | None]) -> Related:
    """The other pieces of the query's own word."""
    own = _classes(words)
    return Related(own, own, offset=0)


def _classes(names: Iterable[Hashable]) -> Classes:
    """A number for each name, the same for the same; NONE for None."""
    numbers: dict[Hashable, int] = {None: NONE}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
