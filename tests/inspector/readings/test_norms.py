"""Readings of norms against plain numpy on the recorded inputs, and the sentences made of them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import inspector
from inspector import normalization
from inspector.readings import norms as read
from inspector.trace import Trace
from inspector.wording.english import norms as words
from models import LoadedModel

TEXTS = (
    "The cat sat on the mat because it was tired.",
    "Hi.",
    "a b c d e f g h",
    "?!",
    "one two three four five " * 12,
)


@pytest.fixture(scope="module", params=TEXTS, ids=lambda text: text[:8])
def trace(minilm: LoadedModel, request: pytest.FixtureRequest) -> Trace:
    return inspector.record(minilm, request.param)


def places(trace: Trace) -> dict[int, read.PlaceInStream]:
    return dict(enumerate(map(read.place, trace.norms)))


@pytest.mark.parametrize("size", ["std", "rms"])
def test_the_widest_token_is_that_of_the_inputs(trace: Trace, size: read.Size) -> None:
    inputs = np.stack([norm.input for norm in trace.norms]).astype(np.float64)  # [norm, token, D]
    sizes = inputs.std(axis=-1) if size == "std" else np.sqrt((inputs**2).mean(axis=-1))
    norm, token = np.unravel_index(sizes.argmax(), sizes.shape)
    found = read.widest(normalization.statistics(trace), places(trace), size=size)
    assert (found.position, found.token) == (token, trace.tokens[token])
    assert found.place == read.place(trace.norms[norm])
    assert found.before == pytest.approx(sizes[norm, token])
    assert found.middle == pytest.approx(np.median(np.delete(sizes[norm], token)))
    said = words.widest(found)
    ratio = sizes[norm, token] / np.median(np.delete(sizes[norm], token))
    told = [float(number.replace(",", "")) for number in re.findall(r"(?<![\w`])\d[\d.,]*(?=[ ,.)])", said)]
    assert any(number == pytest.approx(sizes[norm, token], rel=0.01) for number in told)
    assert ("times the median" in said) == (ratio >= 2)
    assert ("No token stands far out" in said) == (ratio < 2)


def test_kinds_and_places_are_counted(trace: Trace) -> None:
    found = read.kinds(trace.norms)
    assert (found.formulas, found.placements, found.outside) == ({"layer": 13}, {"post": 12}, ("embedding",))
    assert read.size(trace.norms) == "std"
    mixed = (replace(trace.norms[0], kind="rms"), *trace.norms[1:])
    assert words.kinds(read.kinds(mixed)).startswith("The 13 norms are 1 RMSNorm and 12 LayerNorms; each of the 12")
    assert read.size(mixed) == "std"
    assert read.size([replace(norm, kind="rms") for norm in trace.norms]) == "rms"


def test_a_tokens_way_is_that_of_its_inputs(trace: Trace) -> None:
    before = np.array([norm.input[1].astype(np.float64).std() for norm in trace.norms])
    after = np.array([norm.output[1].astype(np.float64).std() for norm in trace.norms])
    found = read.way(normalization.statistics(trace), places(trace), position=1, size="std")
    assert found.token == trace.tokens[1]
    assert found.smallest == (pytest.approx(before.min()), read.place(trace.norms[int(before.argmin())]))
    assert found.largest == (pytest.approx(before.max()), read.place(trace.norms[int(before.argmax())]))
    assert found.after == (pytest.approx(after.min()), pytest.approx(after.max()))


def test_what_a_norm_has_learned(minilm: LoadedModel, trace: Trace) -> None:
    gamma, beta = read.learned(normalization.parameters(trace), norm=4)
    for found, values in ((gamma, trace.norms[4].gamma), (beta, trace.norms[4].beta)):
        values = values.astype(np.float64)
        away = abs(values - values.mean()) / values.std()
        assert (found.mean, found.farthest) == (pytest.approx(values.mean()), away.argmax())
        assert (found.value, found.deviations) == (pytest.approx(values[away.argmax()]), pytest.approx(away.max()))
        assert found.outliers == (away > 3).sum()
    flat = replace(trace, norms=(replace(trace.norms[0], gamma=np.ones(384), learned=("gamma",)),))
    (only,) = read.learned(normalization.parameters(flat), norm=0)
    assert words.learned([only]) == "All 384 numbers of gamma are 1.00, as before training."
    assert words.learned([]) == "It has learned nothing: it has neither gamma nor beta."


@pytest.mark.parametrize(
    ("place", "name", "title"),
    [
        (read.PlaceInStream(0, "attention", "pre"), "before layer 0's attention", "layer 0, before attention"),
        (read.PlaceInStream(3, "ffn", "post"), "after layer 3's FFN", "layer 3, after FFN"),
        (read.PlaceInStream(1, "cross", "output"), "on the output of layer 1's cross-attention", None),
        (read.PlaceInStream(2, "mixer", "inside"), "inside layer 2's token mixer", None),
        (read.PlaceInStream(None, "embedding", "embedding"), "of the embedding", "embedding"),
        (read.PlaceInStream(None, "final", "final"), "at the end", "final norm"),
    ],
)
def test_a_norm_is_named_by_its_place(place: read.PlaceInStream, name: str, title: str | None) -> None:
    assert words.name(place) == name
    assert title in (None, words.title(place))


def test_a_row_of_the_map_has_a_short_name() -> None:
    assert words.brief(read.PlaceInStream(0, "ffn", "post")) == "0 FFN"
    assert words.brief(read.PlaceInStream(11, "attention", "pre")) == "11 attention"
    assert words.brief(read.PlaceInStream(None, "embedding", "embedding")) == "embedding"


def test_one_token_has_no_others() -> None:
    alone = read.Widest(read.PlaceInStream(None, "final", "final"), "rms", 0, "a", 2.0, 1.0, None)
    assert (
        words.widest(alone)
        == "The largest vector reaches the norm at the end: its root mean square is 2.00 there and 1.00 after it."
    )
