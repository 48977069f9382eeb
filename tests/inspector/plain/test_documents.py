"""Documents of a recording hold the numbers of the library, and of formulas that stand here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import plain
from inspector.plain import HeadPlace
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.plain.held import held, rows

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, TEXT)


def read(document: dict[str, Any]) -> dict[str, Any]:
    return held(plain.printed(document))


def test_a_recording_says_what_was_read(trace: Trace) -> None:
    document = read(plain.recording(trace))
    assert document["recording"] == {
        **{"model": "minilm", "text": TEXT, "text_pair": None, "target_text": None},
        **{"tokens": 9, "unknown": 0, "cut": None},
    }
    assert document["tokens"] == ["[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]"]
    assert document["special"] == [True, *[False] * 7, True]
    assert [row["heads"] for row in rows(document["sites"])] == [12] * 6
    assert (document["norms"], document["mixers"]["rows"], document["file"]) == (13, [], None)


def test_a_target_and_a_cut_are_said(shipped) -> None:
    document = read(plain.recording(inspector.record(shipped("translator"), "I love cats.", target="我爱猫。")))
    assert document["target_tokens"][1] == "▁我爱"
    assert document["recording"]["target_text"] == "我爱猫。"
    assert {row["stream"] for row in rows(document["sites"])} == {"encoder", "decoder", "cross"}
    long = inspector.record(shipped("minilm"), "cat " * 600)
    assert read(plain.recording(long))["recording"]["cut"].startswith("Only the first 512 of 602 tokens are read")


def test_every_head_has_its_measures(trace: Trace) -> None:
    document = read(plain.heads(trace))
    table = pd.DataFrame(rows(document["heads"]))
    expected = inspector.heads.measure(trace)
    pd.testing.assert_frame_equal(table[list(expected)].astype(expected.dtypes), expected, check_exact=True)
    weights = trace.attention(2, 5).astype(np.float64)
    entropy = table.query("layer == 2 and head == 5")["entropy"].item()
    assert_close(entropy, -(weights * np.log(weights)).sum(axis=1).mean(), relative=1e-6)


def test_heads_are_sorted_and_cut(trace: Trace) -> None:
    document = read(plain.heads(trace, by="previous", most=3))
    largest = [row["previous"] for row in rows(document["heads"])]
    assert largest == inspector.heads.measure(trace)["previous"].nlargest(3).tolist()
    assert document["heads"]["left_out"] == 69
    with pytest.raises(ValueError, match="there is no measure 'layer'; there are entropy"):
        plain.heads(trace, by="layer")


def test_a_map_is_the_recorded_one_to_the_bit(trace: Trace) -> None:
    document = read(plain.head_map(HeadPlace(trace, 3, 7)))
    np.testing.assert_array_equal(np.array(document["values"], dtype=np.float32), trace.attention(3, 7))
    assert document["queries"] == document["keys"] == list(trace.tokens)
    window = read(plain.head_map(HeadPlace(trace, 3, 7), queries=slice(2, 4), keys=slice(5, 99), cells=8))
    np.testing.assert_array_equal(np.array(window["values"], dtype=np.float32), trace.attention(3, 7)[2:4, 5:])
    assert (window["shape"], window["first_query"], window["first_key"]) == ([9, 9], 2, 5)
    assert window["queries"] == ["cat", "sat"]


def test_masked_scores_are_infinite_and_predictions_named(shipped) -> None:
    trace = inspector.record(shipped("mini-gpt"), TEXT)
    document = read(plain.head_map(HeadPlace(trace, 1, 0), "scores"))
    values = np.array([[float(cell) for cell in row] for row in document["values"]], dtype=np.float32)
    np.testing.assert_array_equal(values, trace.scores(1, 0))
    assert document["values"][0][1] == "-Infinity"
    assert document["predicts"][-1] is None


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"queries": slice(9, 12)}, "the window holds no cell: the map has 9 queries and 9 keys"),
        ({"cells": 80}, "the map has 9 queries and 9 keys, and at most 80 cells are given at once"),
    ],
)
def test_a_window_that_does_not_fit_is_refused(window: dict[str, Any], words: str, trace: Trace) -> None:
    with pytest.raises(ValueError, match=words):
        plain.head_map(HeadPlace(trace, 3, 7), **window)


def test_a_cell_is_rebuilt_and_equals_the_map(trace: Trace) -> None:
    document = read(plain.cell(HeadPlace(trace, 3, 7), query=2, key=3))
    assert document["recorded"] == pytest.approx(float(trace.attention(3, 7)[2, 3]), rel=1e-6)
    assert document["weight"] == pytest.approx(document["recorded"], rel=1e-5)
    assert document["difference"] == document["weight"] - document["recorded"]
    assert document["score"] == pytest.approx(float(trace.scores(3, 7)[2, 3]), rel=1e-5)
    assert (document["query"], document["key"]) == ({"position": 2, "token": "cat"}, {"position": 3, "token": "sat"})
    assert [row["step"] for row in rows(document["steps"])][-1] == "weight"


def test_norms_are_means_over_the_tokens(trace: Trace) -> None:
    table = rows(read(plain.norms(trace))["norms"])
    assert [row["norm"] for row in table] == list(range(13))
    for row, norm in zip(table, trace.norms, strict=True):
        states = norm.input.astype(np.float64)
        assert_close(row["std_before"], states.std(axis=1).mean(), relative=1e-9)
        assert (row["layer"], row["part"]) == (norm.layer, norm.part)


def test_two_heads_are_compared_between_shared_tokens(trace: Trace, minilm: LoadedModel) -> None:
    other = inspector.record(minilm, "The dog sat on the mat today.")
    document = read(plain.comparison(HeadPlace(trace, 3, 7), HeadPlace(other, 2, 1)))
    a, b = [0, 1, 3, 4, 5, 6, 7, 8], [0, 1, 3, 4, 5, 6, 8, 9]
    p, q = (
        weights / weights.sum(axis=1, keepdims=True)
        for weights in (
            trace.attention(3, 7)[np.ix_(a, a)].astype(np.float64),
            other.attention(2, 1)[np.ix_(b, b)].astype(np.float64),
        )
    )
    middle = (p + q) / 2
    divergence = ((p * np.log(p / middle)).sum(axis=1) + (q * np.log(q / middle)).sum(axis=1)).mean() / 2
    assert_close(document["jensen_shannon"], divergence, relative=1e-5)
    assert document["shared"] == {"queries": 8, "keys": 8}
    apart = trace.attention(3, 7)[np.ix_(a, a)] - other.attention(2, 1)[np.ix_(b, b)]
    assert abs(document["largest"]["difference"]) == pytest.approx(float(np.abs(apart).max()), rel=1e-6)
    largest = {name: np.float32(document["largest"][name]) for name in ("difference", "a", "b")}
    assert largest["a"] - largest["b"] == largest["difference"]


def test_texts_without_a_common_token_are_refused(smollm2: LoadedModel) -> None:
    a, b = (inspector.record(smollm2, text) for text in ("cat", "dog"))
    with pytest.raises(ValueError, match="no token in common"):
        plain.comparison(HeadPlace(a, 0, 0), HeadPlace(b, 0, 0))


def test_changed_heads_and_costs(trace: Trace, minilm: LoadedModel) -> None:
    other = inspector.record(minilm, "The dog sat on the mat.")
    changed = read(plain.changed_heads(trace, other, most=2))
    assert rows(changed["heads"])[0]["jensen_shannon"] >= rows(changed["heads"])[1]["jensen_shannon"]
    document = read(plain.costs("minilm", minilm.config, tokens=64))
    assert document["all"]["parameters"] == sum(tensor.numel() for tensor in minilm.network.parameters())
    assert document["all"]["flops"] == sum(row["flops"] for row in rows(document["components"]))
