"""Numbers that the open head shows of a cell on hover, held to the trace that it was drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import maps, record, row_statistics
from inspector.components.head import HeadMessage
from tests.browser.drawing import SAID, point, show, tooltip
from tests.closeness import assert_close


def message(trace, shown, weights, **where):
    labels = {"queries": shown.queries.labels, "keys": shown.keys.labels}
    return HeadMessage(weights, rows=row_statistics.of_head(trace, shown, **where), **labels).to_bytes()


def test_weight_score_and_entropy_are_the_traces(tab, minilm):
    trace = record(minilm, "The cat sat on the mat because it was tired.")
    where = {"layer": 3, "head": 7, "stream": "encoder"}
    weights, scores = trace.attention(**where), trace.scores(**where)
    show(tab, "head", message(trace, maps.arrange(trace), weights, **where))
    n = len(trace.tokens)
    for query, key in np.random.default_rng(5).integers(0, n, (12, 2)):
        point(tab, query, key, n=n)
        found = SAID.search(tooltip(tab))
        assert (int(found["query"]), int(found["key"])) == (query, key)
        assert np.float32(found["weight"]) == weights[query, key]
        assert int(found["rank"]) == 1 + np.sum(weights[query] > weights[query, key])
        told = float(found["score"].replace("−", "-"))
        assert_close(told, float(scores[query, key]), relative=6e-5, scale=max(1, abs(told)))  # five digits
        row = weights[query].astype(np.float64)
        assert float(found["entropy"]) == pytest.approx(-(row * np.log(row)).sum(), rel=6e-4)


def test_a_part_says_so_and_tells_the_whole_rows_entropy(tab, minilm):
    trace = record(minilm, "The cat sat on the mat because it was tired.")
    where = {"layer": 0, "head": 1, "stream": "encoder"}
    shown = maps.arrange(trace, hide_special=True)
    show(tab, "head", message(trace, shown, shown.apply(trace.attention(**where)), **where))
    n = len(shown.keys.labels)
    point(tab, 2, 4, n=n)
    found = SAID.search(tooltip(tab))
    assert "in sight" in found[0]
    assert int(found["of"]) == n
    row = trace.attention(**where)[3].astype(np.float64)
    assert float(found["entropy"]) == pytest.approx(-(row * np.log(row)).sum(), rel=6e-4)


def test_a_weight_of_zero_tells_no_score_and_a_difference_none(tab):
    values = np.array([[1, 0], [0.25, 0.75]], np.float32)
    labels = {"queries": ("a", "b"), "keys": ("a", "b")}
    show(
        tab,
        "head",
        HeadMessage(values, rows=row_statistics.RowStatistics(2, (0.0, 0.56), (1.0, 2.0)), **labels).to_bytes(),
    )
    point(tab, 0, 1, n=2)
    assert "weight 0, rank 2 of 2 in its row masked, or its score is too low for a weight" in tooltip(tab)
    show(tab, "head", HeadMessage(values, rows=row_statistics.RowStatistics(2, (0.0, 0.56), None), **labels).to_bytes())
    point(tab, 1, 1, n=2)
    assert "score" not in tooltip(tab)
    assert "entropy of the row 0.560 nats" in tooltip(tab)
    show(tab, "head", HeadMessage(values, **labels).to_bytes())
    point(tab, 1, 0, n=2)
    assert tooltip(tab) == "query 1 ‘b’ → key 0 ‘a’ weight 0.250, rank 2 of 2 in its row exactly 0.25"


def test_a_window_counts_from_where_it_begins(tab):
    values = np.array([[1, 0], [0.25, 0.75]], np.float32)
    labels = {"queries": ("a", "b"), "keys": ("c", "d")}
    show(tab, "head", HeadMessage(values, first=(100, 300), **labels).to_bytes())
    point(tab, 1, 0, n=2)
    assert tooltip(tab).startswith("query 101 ‘b’ → key 300 ‘c’ weight 0.250")
