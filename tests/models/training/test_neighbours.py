"""The count of both neighbours, against counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import torch

from models.training.neighbours import UNSEEN, NeighbourCounts

START, END, SIZE = 2, 3, 9
RANDOM = Random(1)
ROWS = [[START, *RANDOM.choices(range(5, SIZE - 1), k=RANDOM.randint(1, 6)), END] for _ in range(60)]


def by_hand(left: int, right: int) -> int:
    between = Counter(
        row[place]
        for row in ROWS
        for place in range(1, len(row) - 1)
        if (row[place - 1], row[place + 1]) == (left, right)
    )
    if between:
        return min(between, key=lambda token: (-between[token], token))
    pairs = Counter(pair for row in ROWS for pair in pairwise(row))
    one = Counter(token for row in ROWS for token in row)

    def score(token: int) -> float:
        unseen = UNSEEN * one[token] / one.total()
        return (pairs[left, token] + unseen) * (pairs[token, right] + unseen) / max(one[token], 1)

    return max(range(SIZE), key=score)


def test_guesses_are_those_counted_by_hand() -> None:
    counts = NeighbourCounts(ROWS, vocabulary=SIZE, start=START)
    every = [(left, right) for left in (START, *range(5, SIZE)) for right in (END, *range(5, SIZE))]
    ids = torch.tensor([[left, 4, right] for left, right in every])
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[:, 1] = True
    assert counts(ids, chosen).tolist() == [by_hand(left, right) for left, right in every]
    # 8 stands in no row: nothing was ever seen beside it.
    assert any(8 in pair for pair in every)


def test_no_row_runs_into_the_next() -> None:
    counts = NeighbourCounts([[START, 5, END], [START, 6, END]], vocabulary=SIZE, start=START)
    assert counts.pairs[END].sum() == 0
    assert counts.pairs[:, START].sum() == 0
    assert counts.around.tolist() == [START * SIZE + END]
