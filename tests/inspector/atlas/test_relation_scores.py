"""Scores of heads beside a fixed offset, from counts that are written by hand."""

import numpy as np
import pandas as pd
import pytest

from inspector.atlas.relation_scores import best, scores, wilson
from inspector.atlas.relations import OFFSETS, RelationCounts
from tests.closeness import assert_close

HEADS = pd.DataFrame(
    [("encoder", 0, 0, 0), ("encoder", 0, 0, 1), ("encoder", 1, 0, 0)], columns=["stream", "layer", "call", "head"]
)


@pytest.fixture
def counts() -> RelationCounts:
    """Two relations and three heads: det is there 40 and 30 times, nsubj 40 times and once."""
    none = RelationCounts.none(heads=3)
    totals, hits, offset_hits = (
        np.zeros((2, *part.shape[1:]), np.int64) for part in (none.totals, none.hits, none.offset_hits)
    )
    totals[0] = [40, 30]
    totals[1] = [40, 1]
    hits[0, 0] = [[10, 20, 20], [30, 6, 15]]  # the head that is best in the scored half is not chosen
    offset_hits[0, 0, :, OFFSETS.index(-2)] = [8, 30]
    offset_hits[0, 0, :, OFFSETS.index(1)] = [12, 9]
    offset_hits[0, 0, :, OFFSETS.index(2)] = [12, 10]
    return RelationCounts(("det", "nsubj"), totals, hits, offset_hits)


@pytest.mark.parametrize(
    ("correct", "total", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_those_of_newcombe_1998_table_1(correct, total, low, high) -> None:
    found = wilson(np.array([correct]), np.array([total]))
    assert_close(np.concatenate(found), [low, high], relative=5e-5, scale=1)  # four digits


def test_intervals_stay_within_shares() -> None:
    totals = np.arange(1, 500)
    none, every = wilson(np.zeros_like(totals), totals), wilson(totals, totals)
    assert ((none[0] >= 0) & (every[1] <= 1)).all()
    assert_close(none[0], 0, relative=1e-6)
    assert_close(none[1], 1 - every[0], relative=1e-6)


def test_a_head_and_an_offset_are_chosen_on_one_half_and_scored_on_the_other(counts) -> None:
    table = scores(counts, HEADS)
    assert set(table["relation"]) == {"det"}  # nsubj is there once in the half that scores
    assert list(table["direction"]) == ["governor"] * 3 + ["dependent"] * 3
    assert list(table["head"]) == [0, 1, 0] * 2
    chosen = best(table).iloc[0]
    assert (chosen["layer"], chosen["head"]) == (0, 1)  # the first of two equals
    assert (chosen["chosen_share"], chosen["chosen_total"]) == (0.5, 40)
    assert (chosen["correct"], chosen["total"], chosen["share"]) == (6, 30, 0.2)
    assert chosen["low"] < 0.2 < chosen["high"]
    assert (chosen["baseline_offset"], chosen["baseline_correct"]) == (1, 9)  # the nearer of two equals
    assert chosen["baseline_share"] == 0.3
    assert chosen["baseline_low"] < 0.3 < chosen["baseline_high"]


def test_heads_that_read_no_text_with_a_tree_have_no_scores(counts) -> None:
    pair = HEADS.assign(stream=["encoder", "decoder", "cross"])
    table = scores(counts, pair)
    assert set(table["stream"]) == {"encoder"}
    assert len(table) == 2
    whole = scores(counts, HEADS)
    pd.testing.assert_frame_equal(
        table, whole[(whole["layer"] == 0) & (whole["head"] == 0)].reset_index(drop=True), check_exact=True
    )
    assert len(scores(counts, HEADS.assign(stream="decoder"))) == len(whole)


def test_relations_that_are_too_rare_have_no_rows(counts) -> None:
    assert len(scores(counts, HEADS, minimum=31)) == 0
    assert len(scores(counts, HEADS, minimum=1)) == 2 * 2 * 3
    assert list(scores(counts, HEADS, minimum=31).columns) == list(scores(counts, HEADS).columns)
    assert len(best(scores(counts, HEADS, minimum=31))) == 0


def test_a_table_of_other_heads_and_a_minimum_of_none_are_refused(counts) -> None:
    with pytest.raises(ValueError, match="3 heads, and the table has 2"):
        scores(counts, HEADS[:2])
    with pytest.raises(ValueError, match="minimum is 0"):
        scores(counts, HEADS, minimum=0)
