"""A cell rebuilt from its query and key: against transformers' eager attention, and against formulas by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import Trace, record
from inspector.explain import Explanation, why
from models import LoadedModel
from models.huggingface.eager_attention import EagerAttention
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, WINDOW, reference, save
from tests.models.own_models import own

TEXT, TARGET = "the cat sat on the log because it was tired", "the log sat on it"
CELLS = 200
FAMILIES = {family.name: family for family in CAPTURED}
SHAPES = (
    *("bert", "gpt2", "llama", "t5", "umt5", "mistral", "modernbert", "gemma2", "gpt_oss", "gpt_bigcode", "granite"),
    *("bart", "deepseek_v3", "bloom", "deberta-v2"),
)
"""Families, each with its speciality: nothing, nothing, RoPE and GQA, a bias, windows, a soft-cap, a sink, MQA, a scale
of its own, cross-attention, values narrower than keys, and scores that the model makes by itself."""


def loaded_and_reference(name: str, folder: Path) -> tuple[LoadedModel, Any]:
    save(FAMILIES[name], folder)
    return models.load(folder), reference(folder)


def read(loaded: LoadedModel) -> Trace:
    return record(loaded, TEXT, target=TARGET if loaded.shape == "encoder-decoder" else None)


@torch.no_grad()
def eager_maps(network: Any, trace: Trace) -> dict[tuple[str, int], np.ndarray]:
    """The maps that transformers hands out, [H, Q, T] of each stream and layer."""
    inputs: dict[str, Any] = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        inputs["decoder_input_ids"] = torch.tensor([trace.target.ids])
    out = network(**inputs, output_attentions=True)
    streams = {site.stream for site in trace.sites}
    names = {stream: f"{stream}_attentions" if len(streams) > 1 else "attentions" for stream in streams}
    return {(stream, layer): maps[0].numpy() for stream in streams for layer, maps in enumerate(out[names[stream]])}


def random_cells(trace: Trace) -> list[dict[str, Any]]:
    """Places of 200 cells of any stream, layer and head."""
    draw = np.random.default_rng(0)
    places = []
    for _ in range(CELLS):
        site = trace.sites[draw.integers(len(trace.sites))]
        query, key = int(draw.integers(len(site.queries))), int(draw.integers(len(site.keys)))
        head = int(draw.integers(site.heads))
        places.append({"stream": site.stream, "layer": site.layer, "head": head, "query": query, "key": key})
    return places


@pytest.mark.parametrize("name", SHAPES)
def test_two_hundred_cells_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    loaded, network = loaded_and_reference(name, tmp_path)
    trace = read(loaded)
    maps = eager_maps(network, trace)
    for place in random_cells(trace):
        cell = why(trace, **place)
        row = maps[place["stream"], place["layer"]][place["head"], place["query"]]
        assert_close(cell.weight, row[place["key"]], relative=1e-5, scale=row)
        assert cell.holds
        assert cell.hidden is None or cell.weight == 0
        own = row[place["key"]]
        assert (row > own + 1e-5).sum() < cell.rank <= (row >= own - 1e-5).sum()
        assert [step.name for step in cell.steps[-2:]] == ["normaliser", "weight"]
        if loaded.backend == "probe":
            np.testing.assert_array_equal(cell.products, cell.q * cell.k)
            assert_close(cell.steps[0].value, math.fsum(cell.products), relative=1e-9, scale=cell.products)


SWITCHES: tuple[dict[str, Any], ...] = (
    {},
    {"positions": "rope", "kv_heads": 2},
    {"positions": "alibi"},
    {"positions": "t5"},
    {"positions": "shaw", "relative_distance": 3},
    {"positions": "xl"},
    {"score": "cosine"},
    {"score": "general"},
    {"score": "additive"},
    {"score": "additive_naive"},
    {"weighting": "sigmoid", "kv_heads": 2, "positions": "alibi"},
    {"weighting": "linear"},
    {"scale": "none"},
    {"mask_fill": -5.0},
    {"mask_fill": "zero"},
    {"mask_fill": -5.0, "mask_before_scale": True, "positions": "alibi"},
)


@pytest.mark.heavy
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_every_switch_of_the_own_transformer(shape: str, switches: dict[str, Any]) -> None:
    trace = read(own(shape, **switches))
    for place in random_cells(trace):
        cell = why(trace, **place)
        at = {name: place[name] for name in ("stream", "layer", "head")}
        row, scores = trace.attention(**at)[place["query"]], trace.scores(**at)
        assert_close(cell.weight, row[place["key"]], relative=1e-5, scale=row)
        assert_close(cell.score, scores[place["query"], place["key"]], relative=1e-5, scale=scores)
        assert_close(cell.steps[0].value, math.fsum(cell.products), relative=1e-9, scale=cell.products)


def steps(cell: Explanation) -> dict[str, tuple[float | None, float]]:
    return {step.name: (step.operand, step.value) for step in cell.steps}


def test_the_steps_by_hand() -> None:
    """ALiBi with a head whose slope is 2^-4 (the second of 4): the last query looks 3 back."""
    trace = read(own("decoder", positions="alibi", heads=4))
    at = trace.attentions[1]
    last = len(at.site.queries) - 1
    cell = why(trace, layer=1, head=1, query=last, key=last - 3)
    q, k = at.query[1].double().numpy(), at.key[1].double().numpy()
    dots = k @ q[last]
    scale = q.shape[-1] ** -0.5
    scores = dots * scale - 2.0**-4 * np.arange(last, -1, -1)
    way = steps(cell)
    assert list(way) == ["dot product", "scale", "bias", "mask", "normaliser", "weight"]
    assert way["dot product"] == (None, pytest.approx(dots[last - 3], rel=1e-12))
    assert way["scale"] == (scale, pytest.approx(dots[last - 3] * scale, rel=1e-12))
    assert way["bias"] == (-3 * 2.0**-4, pytest.approx(scores[last - 3], rel=1e-12))
    assert way["mask"][1] == cell.score == pytest.approx(scores[last - 3], rel=1e-12)
    assert_close(cell.normaliser, np.log(np.exp(scores).sum()), relative=1e-12)
    assert_close(cell.weight, np.exp(scores[last - 3]) / np.exp(scores).sum(), relative=1e-12)
    assert cell.rank == 1 + (scores > scores[last - 3]).sum()
    assert cell.seen == last + 1
    assert "ALiBi" in cell.bias


def test_soft_cap_and_sink_are_steps_of_their_own(tmp_path: Path) -> None:
    gemma = read(loaded_and_reference("gemma2", tmp_path / "gemma2")[0])
    way = steps(why(gemma, layer=1, head=0, query=5, key=2))
    assert list(way)[:3] == ["dot product", "scale", "soft-cap"]
    cap, capped = way["soft-cap"]
    assert capped == pytest.approx(50 * math.tanh(way["scale"][1] / 50), rel=1e-12)
    assert cap == 50
    loaded, network = loaded_and_reference("gpt_oss", tmp_path / "gpt_oss")
    trace = read(loaded)
    cells = [why(trace, layer=1, head=3, query=5, key=key) for key in range(6)]
    assert cells[0].sink == network.model.layers[1].self_attn.sinks[3].item()
    left = 1 - sum(cell.weight for cell in cells)
    assert_close(left, math.exp(cells[0].sink - cells[0].normaliser), relative=1e-12)
    of_sink = trace.sink(layer=1, head=3, queries=slice(5, 6))
    assert of_sink is not None
    assert_close(of_sink, [left], relative=1e-6)
    assert gemma.sink(layer=1, head=0) is None


def test_a_hidden_key_says_why(tmp_path: Path) -> None:
    trace = read(loaded_and_reference("mistral", tmp_path)[0])
    seen = why(trace, layer=0, head=0, query=6, key=6 - WINDOW + 1)
    assert (seen.hidden, seen.seen) == (None, WINDOW)
    later = why(trace, layer=0, head=0, query=6, key=7)
    assert (later.hidden, later.weight, later.score) == ("still to come", 0.0, -math.inf)
    far = why(trace, layer=0, head=0, query=6, key=6 - WINDOW)
    assert far.hidden == f"outside the window: {WINDOW} tokens away, and this layer sees less than {WINDOW}"


def test_carriers_are_the_fewest_dimensions(minilm: LoadedModel) -> None:
    cell = why(record(minilm, "The cat sat."), layer=3, head=7, query=2, key=1)
    made = replace(cell, products=np.array([0.5, -3.0, 6.0, 4.0, 1.0]))
    assert made.carriers().tolist() == [2, 3]  # 6 and 4 reach 6.8 of 8.5
    assert made.carriers(0.5).tolist() == [2]
    assert replace(made, products=-made.products).carriers().tolist() == [2, 3]
    assert replace(made, products=np.array([1.0, -1.0])).carriers().tolist() == []
    own_products = cell.products[cell.carriers()]
    assert abs(own_products.sum()) >= 0.8 * abs(cell.products.sum()) > abs(own_products[:-1].sum())


def test_a_function_with_more_to_it_is_never_a_silently_wrong_number(minilm: LoadedModel) -> None:
    """A scale that the recorded function applies and the record does not name."""
    trace = record(minilm, "The cat sat.")
    first = trace.attentions[0]
    hidden = replace(first, function=_Doubled(first.function.source, first.function.module, first.function.arguments))
    changed = replace(trace, attentions=(hidden, *trace.attentions[1:]), key="doubled")
    assert not all(why(changed, layer=0, head=0, query=1, key=key).holds for key in range(5))
    named = replace(first.function, arguments={**first.function.arguments, "temperature": 2.0})
    changed = replace(trace, attentions=(replace(first, function=named), *trace.attentions[1:]), key="named")
    assert why(changed, layer=0, head=0, query=1, key=1).more == ("temperature",)


class _Doubled(EagerAttention):
    def __call__(self, query: torch.Tensor, *others: Any, **more: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return super().__call__(2 * query, *others, **more)


def test_a_saved_trace_is_explained_the_same(minilm: LoadedModel, tmp_path: Path) -> None:
    trace = record(minilm, TEXT)
    inspector.save(trace, tmp_path / "t.npz")
    place = {"layer": 2, "head": 5, "query": 3, "key": 1}
    assert why(inspector.open(tmp_path / "t.npz"), **place).steps == why(trace, **place).steps


def test_what_is_out_of_range_is_a_sentence(minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat.")
    place = {"layer": 0, "head": 0, "query": 0, "key": 0}
    for name, sentence in (
        ("layer", "layer 99 is out of range"),
        ("head", "head 99 is out of range"),
        ("query", "query 99 is out of range: the encoder has 0 to 5"),
        ("key", "key 99 is out of range: the encoder has 0 to 5"),
    ):
        with pytest.raises(ValueError, match=sentence):
            why(trace, **{**place, name: 99})
