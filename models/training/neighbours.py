"""A guess of hidden tokens without a network: the token that training saw most often between these two neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

UNSEEN = 0.1  # how often two tokens side by side count that training never saw so, times the second one's share


class NeighbourCounts:
    """Counts of tokens between two neighbours, over rows of tokens that all begin with the token `start`.

    Between neighbours that were never seen around one token, the guess is the token c with the largest
    n(left, c) n(c, right) / n(c), n the counts of two tokens side by side and of one.
    """

    def __init__(self, rows: Iterable[Sequence[int]], *, vocabulary: int, start: int) -> None:
        tokens = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
        counts = np.bincount(tokens, minlength=vocabulary).astype(np.float64)
        inside = tokens[1:] != start  # a row's first token follows nothing
        self.pairs = np.zeros((vocabulary, vocabulary), dtype=np.float32)
        pairs, times = np.unique(tokens[:-1][inside] * vocabulary + tokens[1:][inside], return_counts=True)
        self.pairs.reshape(-1)[pairs] = times
        self.share = counts / counts.sum()
        self.counts, self.vocabulary = counts, vocabulary
        self.around, self.between = self._commonest(tokens, inside)

    def _commonest(self, tokens: NDArray[np.int64], inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
        """Return all neighbours left * V + right, sorted, and the commonest token between, the lowest of equals."""
        both = inside[:-1] & inside[1:]
        left, middle, right = tokens[:-2][both], tokens[1:-1][both], tokens[2:][both]
        size = self.vocabulary
        triples, times = np.unique((left * size + right) * size + middle, return_counts=True)
        around, middle = triples // size, triples % size
        order = np.lexsort((middle, -times, around))
        first = np.concatenate([[True], around[order][1:] != around[order][:-1]])
        return around[order][first], middle[order][first]

    def __call__(self, ids: Tensor, chosen: Tensor) -> Tensor:
        """Guess the chosen tokens from those beside them: ids and chosen [B, T], no row's first or last -> [N]."""
        row, place = (index.numpy() for index in chosen.nonzero(as_tuple=True))
        read = ids.numpy()
        left, right = read[row, place - 1], read[row, place + 1]
        wanted = left * self.vocabulary + right
        at = np.minimum(np.searchsorted(self.around, wanted), len(self.around) - 1)
        seen = self.around[at] == wanted
        guesses = self.between[at]
        for index in np.flatnonzero(~seen):
            unseen = UNSEEN * self.share
            before, after = self.pairs[left[index]] + unseen, self.pairs[:, right[index]] + unseen
            guesses[index] = np.argmax(before * after / np.maximum(self.counts, 1))
        return torch.from_numpy(guesses)
