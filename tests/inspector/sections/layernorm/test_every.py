"""The token that stands out, one token's way and what a norm has learned, against plain numpy on the inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import normalization
from inspector.normalization import Size
from inspector.sections.layernorm import every, stream
from inspector.sections.layernorm.learned import beyond, learned, of_norm, spread
from inspector.text import named, number
from inspector.trace import NormRecord, Trace
from inspector.wording.english import layernorm as words
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


def norms(trace: Trace) -> dict[int, NormRecord]:
    return dict(enumerate(trace.norms))


@pytest.mark.parametrize("size", ["std", "rms"])
def test_the_widest_token_is_that_of_the_inputs(trace: Trace, size: Size) -> None:
    inputs = np.stack([norm.input for norm in trace.norms]).astype(np.float64)  # [norm, token, D]
    sizes = inputs.std(axis=-1) if size == "std" else np.sqrt((inputs**2).mean(axis=-1))
    norm, token = np.unravel_index(sizes.argmax(), sizes.shape)
    found = every.outstanding(normalization.statistics(trace), size=size)
    assert (found.norm, found.position, found.token) == (norm, token, trace.tokens[token])
    assert found.before == pytest.approx(sizes[norm, token])
    assert found.middle == pytest.approx(np.median(np.delete(sizes[norm], token)))
    said = every.widest(found, norms(trace), size=size)
    ratio = sizes[norm, token] / np.median(np.delete(sizes[norm], token))
    if ratio < 2:
        assert farthest(sizes) < 2  # or another token would be told
    told = [float(number.replace(",", "")) for number in re.findall(r"(?<![\w`])\d[\d.,]*(?=[ ,.)])", said)]
    assert any(number == pytest.approx(sizes[norm, token], rel=0.01) for number in told)
    beside, times = re.findall(
        r"\d[\d.]*(?= ?\.|;| times)", every.others(found, norms(trace), size=size).split("median", 1)[1]
    )
    assert float(beside) == pytest.approx(np.median(np.delete(sizes[norm], token)), rel=0.01)
    assert float(times) == pytest.approx(ratio, rel=0.01)
    assert ("Before no norm does a token stand far out" in said) == (ratio < 2)


def farthest(sizes: np.ndarray) -> float:
    """The most times that any token's size is the others' median before any norm; sizes [norm, token]."""
    return max(float(before[at] / np.median(np.delete(before, at))) for before in sizes for at in range(sizes.shape[1]))


@pytest.mark.parametrize("model", ["mini-bert", "minilm", "mini-gpt"])
@pytest.mark.parametrize(
    "text", ["我爱水课，他也爱水课。", "The cat sat on the mat because it was tired.", "yes yes no", "a b c d e f"]
)
def test_a_token_that_is_denied_stands_out_before_no_norm(
    shipped: Callable[[str], LoadedModel], model: str, text: str
) -> None:
    """The inputs are those that the modules themselves take."""
    loaded, inputs = shipped(model), list[np.ndarray]()
    modules = [module for module in loaded.network.modules() if type(module).__name__.endswith("Norm")]
    hooks = [
        module.register_forward_pre_hook(lambda _, given: inputs.append(given[0][0].double().numpy()))
        for module in modules
    ]
    trace = inspector.record(loaded, text)
    for hook in hooks:
        hook.remove()
    assert len(inputs) == len(trace.norms)
    size = stream.size(norms(trace))
    sizes = np.stack(inputs).std(axis=-1) if size == "std" else np.sqrt(np.square(inputs).mean(axis=-1))
    found = every.outstanding(normalization.statistics(trace), size=size)
    said = every.widest(found, norms(trace), size=size)
    assert ("Before no norm" in said) == (farthest(sizes) < 2)


def test_a_token_that_stands_out_before_a_norm_of_small_vectors_is_told(shipped: Callable[[str], LoadedModel]) -> None:
    trace = inspector.record(shipped("mini-bert"), "我爱水课，他也爱水课。")
    found = every.outstanding(normalization.statistics(trace), size="std")
    assert found.times == pytest.approx(2.65, abs=0.005)
    assert "stands out: the norm before layer 1's attention takes" in every.widest(found, norms(trace), size="std")
    assert "it has 2.65 times that" in every.others(found, norms(trace), size="std")


def test_kinds_and_places_are_counted(trace: Trace) -> None:
    assert every.kinds(norms(trace)) == ({"layer": 13}, {"post": 12}, ["embedding"])
    assert stream.size(norms(trace)) == "std"
    mixed = norms(trace) | {0: replace(trace.norms[0], kind="rms")}
    formulas, placements, outside = every.kinds(mixed)
    said = words.kinds(formulas=formulas, placements=placements, outside=outside)
    assert said.startswith("The 13 norms are 1 RMSNorm and 12 LayerNorms; each of the 12")
    assert stream.size(mixed) == "std"
    assert stream.size({at: replace(norm, kind="rms") for at, norm in mixed.items()}) == "rms"


def test_a_tokens_way_is_that_of_its_inputs(trace: Trace) -> None:
    before = np.array([norm.input[1].astype(np.float64).std() for norm in trace.norms])
    after = np.array([norm.output[1].astype(np.float64).std() for norm in trace.norms])
    table = normalization.statistics(trace)
    rows = table[table["position"] == 1]
    said = every.way(rows, norms(trace), size="std", token=named(trace.tokens, 1))
    low, high = (
        f"{number(before[at])} (at the norm {words.name(trace.norms[at])})" for at in (before.argmin(), before.argmax())
    )
    assert f"is between {low} and {high}, after them" in said
    assert said.endswith(f"between {number(after.min())} and {number(after.max())}.")


def test_what_a_norm_has_learned(minilm: LoadedModel, trace: Trace) -> None:
    for values in (trace.norms[4].gamma, trace.norms[4].beta):
        values = values.astype(np.float64)
        away = abs(values - values.mean()) / values.std()
        found = spread(values)
        assert (found.mean, found.farthest) == (pytest.approx(values.mean()), away.argmax())
        assert (found.value, found.deviations) == (pytest.approx(values[away.argmax()]), pytest.approx(away.max()))
        assert found.outliers == (away > 3).sum()
    flat = replace(trace, norms=(replace(trace.norms[0], gamma=np.ones(384), learned=("gamma",)),))
    spreads = {name: spread(values) for name, values in of_norm(normalization.parameters(flat)).items()}
    assert learned(spreads, width=384) == "All 384 numbers of gamma are 1.00, as before training."
    assert beyond(spreads, width=384) == ""


@pytest.mark.parametrize(
    ("place", "name", "title"),
    [
        ((0, "attention", "pre"), "before layer 0's attention", "layer 0, before attention"),
        ((3, "ffn", "post"), "after layer 3's FFN", "layer 3, after FFN"),
        ((1, "cross", "output"), "on the output of layer 1's cross-attention", None),
        ((2, "mixer", "inside"), "inside layer 2's token mixer", None),
        ((None, "embedding", "embedding"), "of the embedding", "embedding"),
        ((None, "final", "final"), "at the end", "final norm"),
    ],
)
def test_a_norm_is_named_by_its_place(
    minilm: LoadedModel, place: tuple[int | None, str, str], name: str, title: str | None
) -> None:
    norm = placed(minilm, *place)
    assert words.name(norm) == name
    assert title in (None, words.title(norm))


def placed(loaded: LoadedModel, layer: int | None, part: str, placement: str) -> NormRecord:
    return replace(inspector.record(loaded, "a").norms[0], layer=layer, part=part, placement=placement)


def test_a_row_of_the_map_has_a_short_name(minilm: LoadedModel) -> None:
    assert words.brief(placed(minilm, 0, "ffn", "post")) == "0 FFN"
    assert words.brief(placed(minilm, 11, "attention", "pre")) == "11 attention"
    assert words.brief(placed(minilm, None, "embedding", "embedding")) == "embedding"


def test_one_token_has_no_others(minilm: LoadedModel) -> None:
    rows = pd.DataFrame({"norm": [0], "position": [0], "token": ["a"], "rms_before": [2.0], "rms_after": [1.0]})
    found = every.outstanding(rows, size="rms")
    assert found.times == 0
    alone = {0: placed(minilm, None, "final", "final")}
    told = "The norm at the end takes the root mean square of `a` from 2.00 to 1.00."
    assert every.widest(found, alone, size="rms") == told
    assert every.others(found, alone, size="rms") == ""


def test_three_deviations_away_is_no_outlier_yet() -> None:
    """Nine zeros and a 10: mean 1, deviation 3, and the 10 stands 3 deviations away, exactly."""
    at_three, beyond = spread(np.array([0.0] * 9 + [10])), spread(np.array([0.0] * 19 + [11]))
    assert (at_three.mean, at_three.deviations, at_three.outliers) == (1, 3, 0)
    assert (beyond.deviations, beyond.outliers) == (pytest.approx(19**0.5), 1)
