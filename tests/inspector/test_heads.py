from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from inspector import heads, record
from inspector.trace import Trace
from models.loaded import LoadedModel
from tests.closeness import assert_close
from tests.models.own_models import own

MEASURES = ["entropy", "relative_entropy", "distance", "self", "previous", "next", "first", "cls", "sep", "confidence"]


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, "The cat sat on the mat because it was tired.", text_pair="Was the cat tired?")


@pytest.fixture(scope="module")
def measures(trace: Trace) -> pd.DataFrame:
    return heads.measure(trace)


def blocks(maps: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """maps [H, Q, T] in blocks of rows, as a Trace gives them."""
    for start in range(0, maps.shape[1], size):
        rows = slice(start, min(start + size, maps.shape[1]))
        yield rows, maps[:, rows].astype(np.float32)


def measure(map_: np.ndarray, tokens: list[str]) -> dict[str, float]:
    return {name: float(value[0]) for name, value in heads.measure_maps(blocks(map_[None], 3), keys=tokens).items()}


def by_plain_loops(weights: np.ndarray, tokens: tuple[str, ...]) -> dict[str, float]:
    """The definitions, one weight at a time, in float64."""
    n = len(tokens)
    totals = dict.fromkeys(MEASURES, 0.0)
    received = [0.0] * n
    for i in range(n):
        largest = 0.0
        for j in range(n):
            weight = float(weights[i, j])
            received[j] += weight / n
            totals["entropy"] -= weight * math.log(weight) if weight > 0 else 0.0
            totals["distance"] += weight * abs(i - j)
            for name, offset in (("self", 0), ("previous", -1), ("next", 1)):
                totals[name] += weight if j == i + offset else 0.0
            totals["first"] += weight if j == 0 else 0.0
            totals["cls"] += weight if tokens[j] == "[CLS]" else 0.0
            totals["sep"] += weight if tokens[j] == "[SEP]" else 0.0
            largest = max(largest, weight) if j < n - 1 else largest  # the last token is the end token
        totals["confidence"] += largest
    have = {"previous": n - 1, "next": n - 1}  # the queries that have such a key
    means = {name: total / have.get(name, n) for name, total in totals.items()}
    means["relative_entropy"] = means["entropy"] / math.log(n)
    means["information"] = -sum(share * math.log(share) for share in received if share > 0) - means["entropy"]
    return means


def test_every_head_of_the_real_model_against_plain_loops(trace: Trace, measures: pd.DataFrame):
    assert trace.tokens.count("[SEP]") == 2
    assert trace.tokens[-1] == "[SEP]"
    for row in measures.to_dict("records"):
        expected = by_plain_loops(trace.attention(layer=row["layer"], head=row["head"]), trace.tokens)
        for name, value in expected.items():
            assert_close(row[name], value, relative=1e-6, scale=max(1, abs(value)))


def test_blocks_of_a_long_text_against_whole_maps(minilm: LoadedModel):
    trace = record(minilm, "The cat sat on the mat because it was tired. " * 30)
    n = len(trace.tokens)
    assert n > 300  # three blocks of rows
    measures = heads.measure(trace).set_index(["layer", "head"])
    maps = trace.attention(layer=2).astype(np.float64)
    positions = np.arange(n)
    expected = {
        "entropy": -np.where(maps > 0, maps * np.log(np.where(maps > 0, maps, 1)), 0).sum(-1).mean(-1),
        "distance": (maps * abs(positions[:, None] - positions)).sum((1, 2)) / n,
        "self": np.trace(maps, axis1=1, axis2=2) / n,
        "previous": np.trace(maps, offset=-1, axis1=1, axis2=2) / (n - 1),
        "next": np.trace(maps, offset=1, axis1=1, axis2=2) / (n - 1),
        "first": maps[:, :, 0].mean(-1),
        "confidence": maps[:, :, :-1].max(-1).mean(-1),
    }
    for name, values in expected.items():
        assert_close(measures.loc[2, name], values, relative=1e-6)


def test_layout(trace: Trace, measures: pd.DataFrame):
    named = [*MEASURES[:-1], "punctuation", "confidence", "information", "induction", "duplicate", "word"]
    assert list(measures.columns) == ["stream", "layer", "head", *named]
    assert set(measures.stream) == {"encoder"}
    assert list(zip(measures["layer"], measures["head"], strict=True)) == [
        (la, h) for la in range(6) for h in range(12)
    ]
    shares = measures[["relative_entropy", "self", "previous", "next", "first", "cls", "sep", "confidence"]]
    assert ((shares >= 0) & (shares <= 1)).all(axis=None)
    assert measures.information.between(0, math.log(len(trace.tokens))).all()


@pytest.mark.parametrize("n", [2, 7, 50])
def test_uniform_attention(n: int):
    found = measure(np.full((n, n), 1 / n), ["[CLS]"] + ["a"] * (n - 1))
    assert_close(found["entropy"], math.log(n), relative=2e-6)
    assert_close(found["relative_entropy"], 1, relative=2e-6)
    assert_close(found["distance"], (n**2 - 1) / (3 * n), relative=1e-5)  # mean |i - j| of two uniform draws
    assert found["self"] == found["first"] == found["cls"] == found["confidence"] == pytest.approx(1 / n)
    assert found["previous"] == found["next"] == pytest.approx(1 / n)
    assert_close(found["information"], 0, relative=1e-6, scale=found["entropy"])


def test_identity():
    found = measure(np.eye(8), ["a"] * 8)
    assert found["entropy"] == found["relative_entropy"] == found["distance"] == 0
    assert found["previous"] == found["next"] == 0
    assert found["self"] == found["confidence"] == 1
    assert found["first"] == 1 / 8
    assert found["information"] == pytest.approx(math.log(8))
    assert math.isnan(found["cls"])
    assert math.isnan(found["sep"])


@pytest.mark.parametrize(("offset", "name", "other"), [(-1, "previous", "next"), (1, "next", "previous")])
def test_a_head_that_looks_one_token_aside(offset: int, name: str, other: str):
    n = 5
    found = measure(np.roll(np.eye(n), offset, axis=1), ["a"] * n)  # the row at the edge wraps around
    assert found[name] == 1
    assert found[other] == found["self"] == 0


def test_neighbours_are_means_over_the_queries_that_see_one():
    weights = np.array([[1.0, 0, 0], [0.9, 0.1, 0], [0, 0.5, 0.5]])
    causal = {
        name: float(value[0])
        for name, value in heads.measure_maps(blocks(weights[None], 2), keys=["a"] * 3, causal=True).items()
    }
    assert causal["previous"] == pytest.approx((0.9 + 0.5) / 2)
    assert math.isnan(causal["next"])  # masked for every query
    assert measure(weights, ["a"] * 3)["next"] == 0
    alone = measure(np.ones((1, 1)), ["a"])
    assert math.isnan(alone["previous"])
    assert math.isnan(alone["next"])


@pytest.mark.parametrize(("start", "end"), [("[CLS]", "[SEP]"), ("<s>", "</s>")])
def test_special_tokens_by_their_text(start: str, end: str):
    rows = np.tile([0.1, 0.2, 0.3, 0.15, 0.25], (5, 1))
    found = measure(rows, [start, "a", end, "b", end])
    assert found["cls"] == found["first"] == pytest.approx(0.1)
    assert found["sep"] == pytest.approx(0.3 + 0.25)
    assert found["confidence"] == pytest.approx(0.3)


def test_confidence_leaves_out_the_end_token_as_a_key_and_nothing_else():
    rows = np.array([[0.1, 0.2, 0.7], [0.6, 0.1, 0.3], [0.0, 0.05, 0.95]])
    assert measure(rows, ["a", "b", "[SEP]"])["confidence"] == pytest.approx((0.2 + 0.6 + 0.05) / 3)
    assert measure(rows, ["a", "[SEP]", "b"])["confidence"] == pytest.approx((0.7 + 0.6 + 0.95) / 3)


def test_a_text_of_one_token():
    found = measure(np.ones((1, 1)), ["a"])
    assert (found["entropy"], found["relative_entropy"], found["self"], found["confidence"]) == (0, 0, 1, 1)
    assert math.isnan(measure(np.ones((1, 1)), ["[SEP]"])["confidence"])


def a_head(**values: float) -> pd.DataFrame:
    others = dict.fromkeys([*MEASURES[2:], "induction", "word"], 0.1)
    plain = {"entropy": 1.5, "relative_entropy": 0.5, **others, "information": 0.5}
    return pd.DataFrame([{"stream": "encoder", "layer": 0, "head": 0, **plain, **values}])


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ({}, "other"),
        ({"sep": 0.61}, "[SEP]"),
        ({"sep": 0.6}, "other"),
        ({"cls": 0.61, "first": 0.61}, "[CLS]"),
        ({"cls": math.nan, "sep": math.nan, "first": 0.61}, "first"),
        ({"previous": 0.51}, "previous"),
        ({"next": 0.51}, "next"),
        ({"self": 0.51}, "self"),
        ({"self": 0.5}, "other"),
        ({"entropy": 3.9, "relative_entropy": 0.7}, "broad"),
        ({"entropy": 3.7, "relative_entropy": 0.7}, "other"),
        ({"induction": 0.51, "word": math.nan}, "induction"),
        ({"induction": math.nan, "word": 0.51}, "same word"),
        ({"entropy": 2.0, "relative_entropy": 0.81}, "broad"),
    ],
)
def test_labels_at_their_thresholds(values: dict[str, float], label: str):
    assert list(heads.label(a_head(**values))) == [label]


def test_labels_of_the_real_model(measures: pd.DataFrame):
    labels = heads.label(measures)
    assert (labels.name, list(labels.index)) == ("label", list(measures.index))
    # Every token but the first gives head 0-2's previous token nearly all; the label is a threshold on that.
    assert labels[2] == "previous"
    known = {"[SEP]", "[CLS]", "first", "previous", "next", "self", "broad", "induction", "same word", "other"}
    assert set(labels) <= known


def test_most_telling_looks_at_words_and_tells_them_apart():
    n = 6
    tokens = ["[CLS]", "a", "b", "c", "d", "[SEP]"]
    swap = np.eye(n)[[0, 3, 4, 1, 2, 5]]  # each word looks at one of its own, two places away
    stripe = np.tile(np.eye(n)[3], (n, 1))  # every word looks at the same one
    sink = np.tile(np.eye(n)[0], (n, 1))
    maps = [np.eye(n), np.roll(np.eye(n), -1, axis=1), stripe, swap, sink, np.full((n, n), 1 / n), swap]
    table = pd.DataFrame(heads.measure_maps(blocks(np.stack(maps), 4), keys=tokens))
    table.insert(0, "stream", "encoder")
    table.insert(1, "layer", 2)
    table.insert(2, "head", range(len(maps)))
    assert heads.most_telling(table) == (2, 3)  # of the two equal ones the first


def test_most_telling_on_real_texts(minilm: LoadedModel, measures: pd.DataFrame):
    layer, head = heads.most_telling(measures)
    chosen = measures[(measures.layer == layer) & (measures["head"] == head)].iloc[0]
    assert heads.label(measures)[chosen.name] == "other"
    assert chosen[["cls", "sep", "self", "previous", "next"]].sum() < 0.9
    shortest = heads.most_telling(heads.measure(record(minilm, "Hi")))
    assert all(type(number) is int for number in (*shortest, layer, head))


def test_a_first_query_is_alone_where_others_see_more() -> None:
    loaded = own("decoder")
    alone = {}
    for text in ("a", "a dog", "a dog ran"):
        trace = record(loaded, text)
        alone[len(trace.tokens)] = heads.first_query_is_alone(trace, trace.sites[0])
    assert alone == {2: True, 3: True, 4: True}
    trace = record(own("encoder"), "a dog")
    assert not heads.first_query_is_alone(trace, trace.sites[0])


@pytest.mark.parametrize(
    "at",
    [
        *({name: 0.6} for name in ("sep", "cls", "first")),
        *({name: 0.5} for name in ("previous", "next", "self", "induction", "word")),
        *({"entropy": 3.8}, {"relative_entropy": 0.8}),
    ],
    ids=str,
)
def test_a_head_at_a_threshold_has_no_label_yet(at: dict[str, float]) -> None:
    (name, threshold), below = *at.items(), {"entropy": 3.7, "relative_entropy": 0.7}
    assert list(heads.label(a_head(**below | at))) == ["other"]
    assert list(heads.label(a_head(**below | {name: math.nextafter(threshold, math.inf)}))) != ["other"]
