"""Every example once an epoch, in batches that keep to their size and hold little padding."""

from __future__ import annotations

from random import Random

import pytest
import torch

from models.training.batches import Phase, TrainingExample, batches_from, batches_of, buckets, collate

RANDOM = Random(0)
EXAMPLES = [
    TrainingExample(tuple(range(RANDOM.randint(1, 40))), tuple(range(RANDOM.randint(1, 40)))) for _ in range(501)
]


def test_every_example_once_and_no_batch_too_large() -> None:
    batches = buckets(EXAMPLES, batch_tokens=200, seed=3)
    assert sorted(index for batch in batches for index in batch) == list(range(len(EXAMPLES)))
    assert max(len(batch) * max(len(EXAMPLES[index]) for index in batch) for batch in batches) <= 200


def test_epochs_differ_but_have_as_many_batches() -> None:
    orders = [buckets(EXAMPLES, batch_tokens=200, seed=seed) for seed in range(6)]
    assert len({len(order) for order in orders}) == 1
    assert len({tuple(map(tuple, order)) for order in orders}) == 6
    assert orders[2] == buckets(EXAMPLES, batch_tokens=200, seed=2)


def test_buckets_hold_less_padding_than_chance() -> None:
    def cells(batches: list[list[int]]) -> int:
        return sum(len(batch) * max(len(EXAMPLES[index]) for index in batch) for batch in batches)

    real = sum(len(example) for example in EXAMPLES)
    chance = [list(range(start, min(start + 8, len(EXAMPLES)))) for start in range(0, len(EXAMPLES), 8)]
    assert cells(buckets(EXAMPLES, batch_tokens=200, seed=0)) < 1.1 * real < cells(chance)


def test_skipping_what_is_done_gives_the_same_rest() -> None:
    settings = {"batch_tokens": 200, "padding": 0, "seed": 5, "epochs": 3}
    every = list(batches_from(EXAMPLES, done=0, **settings))
    for done in (1, len(every) // 3, len(every) // 2, len(every) - 1):
        rest = list(batches_from(EXAMPLES, done=done, **settings))
        assert len(rest) == len(every) - done
        assert all(torch.equal(a.source, b.source) for a, b in zip(rest, every[done:], strict=True))


def test_collate_pads_both_sides() -> None:
    batch = collate([TrainingExample((5, 6, 7), (8,)), TrainingExample((9,), (10, 11))], padding=0)
    assert batch.source.tolist() == [[5, 6, 7], [9, 0, 0]]
    assert batch.keep.tolist() == [[True] * 3, [True, False, False]]
    assert batch.target.tolist() == [[8, 0], [10, 11]]
    assert batch.target_keep.tolist() == [[True, False], [True, True]]
    assert collate([TrainingExample((5,))], padding=0).target.shape == (1, 0)


def test_an_example_longer_than_a_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="a text of 40 tokens in batches of 39"):
        buckets([TrainingExample(tuple(range(40)))], batch_tokens=39, seed=0)


def test_phases_follow_each_other_and_go_on_where_they_stopped() -> None:
    phases = (Phase(EXAMPLES[:7], 60, epochs=2), Phase(EXAMPLES[7:50], 100, epochs=3))
    counts = [phase.count(seed=4) for phase in phases]
    every = list(batches_of(phases, padding=0, seed=4, done=0))
    assert len(every) == sum(counts)
    first = {example.source for example in EXAMPLES[:7]}
    for number, batch in enumerate(every):
        rows = {tuple(row[keep].tolist()) for row, keep in zip(batch.source, batch.keep, strict=True)}
        assert (rows <= first) == (number < counts[0])
    for done in (1, counts[0] - 1, counts[0], counts[0] + 1, len(every) - 1):
        rest = list(batches_of(phases, padding=0, seed=4, done=done))
        assert len(rest) == len(every) - done
        assert all(torch.equal(a.source, b.source) for a, b in zip(rest, every[done:], strict=True))
