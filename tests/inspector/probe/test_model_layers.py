"""Layer numbers are the model's, in models some of whose layers do not attend, or attend more than once."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import inspector
import models
from inspector import (
    Trace,
    compare,
    explain,
    export,
    flow,
    head_distances,
    heads,
    interventions,
    maps,
    overview,
    record,
)
from inspector.components.grid import sides
from inspector.export import python
from inspector.interventions import importance
from inspector.plots import attention as draw
from models.attention.dropping import ModelHead
from models.output_projection import find
from tests.closeness import assert_close
from tests.inspector.components.messages import unpack
from tests.inspector.probe.families import CAPTURED, LEARNED, NONE, ROPE, Family, reference, save

TEXT = "the cat sat on the log because it was"
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8}
LONGCAT = {"zero_expert_num": 2, "moe_topk": 2, "expert_ffn_hidden_size": 16, "head_dim": 4, "num_hidden_layers": 4}
NEMOTRON = {
    **{"layers_block_type": ["mamba", "attention", "moe", "attention"], "num_hidden_layers": None},
    **{"mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 4, "n_groups": 1, "n_routed_experts": 4},
    **{"n_shared_experts": 1, "moe_shared_expert_intermediate_size": 16},
}
QWEN = {
    **{"num_hidden_layers": 4, "layer_types": ["linear_attention", "full_attention"] * 2},
    **{"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8},
    "shared_expert_intermediate_size": 16,
}
KNOWN = {family.name: family for family in CAPTURED}
HYBRIDS = {  # the layers that attend, by the path of the modules that do
    "jamba": (KNOWN["jamba"], "self_attn", [1]),
    "lfm2": (KNOWN["lfm2"], "self_attn", [1]),
    "nemotron_h": (Family("nemotron_h", NONE, NEMOTRON), "mixer", [1, 3]),
    "qwen3_next": (Family("qwen3_next", ROPE, QWEN), "self_attn", [1, 3]),
}
TWICE = {
    "albert": Family("albert", LEARNED, {"inner_group_num": 2, "num_hidden_layers": 3}),
    "longcat_flash": Family("longcat_flash", ROPE, {**LATENT, **LONGCAT, "num_key_value_heads": 4}),
}


@pytest.fixture(scope="module", params=list(HYBRIDS))
def hybrid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hybrid") / request.param
    save(HYBRIDS[request.param][0], path)
    return path


@pytest.fixture(scope="module", params=list(TWICE))
def twice(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("twice") / request.param
    save(TWICE[request.param], path)
    return path


@pytest.fixture(scope="module")
def doubled(tmp_path_factory: pytest.TempPathFactory) -> tuple[models.LoadedModel, Trace]:
    """An ALBERT of three layers with two attentions each."""
    path = tmp_path_factory.mktemp("albert")
    save(TWICE["albert"], path)
    loaded = models.load(path)
    return loaded, record(loaded, TEXT)


@torch.no_grad()
def attended(folder: Path, trace: Trace, leaf: str) -> list[tuple[str, Tensor]]:
    """Path and weights [H, Q, T] of every module that attends, as transformers' own eager attention runs them."""
    network, seen = reference(folder), []

    def keep(path: str) -> object:
        def hook(module: nn.Module, given: object, out: object) -> None:
            found = [one for one in out if isinstance(one, Tensor)] if isinstance(out, tuple) else []
            seen.extend((path, one[0]) for one in found if one.ndim == 4)

        return hook

    for path, module in network.named_modules():
        if path.split(".")[-1] == leaf:
            module.register_forward_hook(keep(path))  # type: ignore[arg-type]
    network(input_ids=torch.tensor([trace.encoding.ids]), output_attentions=True)
    return seen


def test_maps_are_those_of_the_layer_that_attends(hybrid: Path) -> None:
    _, leaf, layers = HYBRIDS[hybrid.name]
    loaded = models.load(hybrid)
    trace = record(loaded, TEXT)
    assert [(site.layer, site.call) for site in trace.sites] == [(layer, 0) for layer in layers]
    own = attended(hybrid, trace, leaf)
    assert len(own) == len(layers)
    for path, weights in own:
        layer = next(int(part) for part in path.split(".") if part.isdigit())
        assert_close(trace.attention(layer=layer), weights, relative=1e-6)
    assert list(heads.measure(trace)["layer"].unique()) == layers
    assert loaded.layers == len(layers)
    looked = overview.measure(trace, sides=sides(trace.sites))
    checked = looked.checks.result(expected_layers=loaded.layers)
    assert checked.holds
    assert f"{len(layers)} of {len(layers)} attention layers recorded" in str(checked)


def test_a_norm_before_an_attention_has_its_layer(hybrid: Path) -> None:
    """The norm's layer is read off its path, the attention's off what runs."""
    trace = record(models.load(hybrid), TEXT)
    attending = {site.layer for site in trace.sites}
    assert {norm.layer for norm in trace.norms if norm.part == "attention"} == attending


def test_a_layer_without_attention_is_a_sentence(hybrid: Path) -> None:
    trace = record(models.load(hybrid), TEXT)
    which = "layer 1 attends" if len(trace.sites) == 1 else "layers 1 and 3 attend"
    with pytest.raises(ValueError, match=f"layer 0 has no attention: in decoder, {which}"):
        trace.attention(layer=0)
    with pytest.raises(ValueError, match="layer 0 has no attention"):
        interventions.drop(models.load(hybrid), trace, heads=[("decoder", 0, 0)])


def test_dropped_heads_are_those_of_that_layer(hybrid: Path) -> None:
    loaded = models.load(hybrid)
    trace = record(loaded, TEXT)
    last = trace.sites[-1].layer
    dropped = interventions.drop(loaded, trace, heads=[("decoder", last, head) for head in range(4)])
    assert {head.layer for head in dropped.heads} == {last}
    assert np.abs(dropped.after.output - trace.output).max() > 1e-3
    for site in trace.sites:  # what is dropped in the last layer changes no map before it
        before, after = (one.attention(layer=site.layer) for one in (trace, dropped.after))
        np.testing.assert_array_equal(before, after)


def test_both_attentions_of_a_layer_are_recorded(twice: Path) -> None:
    loaded = models.load(twice)
    trace = record(loaded, TEXT)
    count = loaded.layers // 2
    assert [(site.layer, site.call) for site in trace.sites] == [(at, call) for at in range(count) for call in (0, 1)]
    leaf = "attention" if twice.name == "albert" else ""
    own = attended(twice, trace, leaf) if leaf else []
    if not own:  # two attentions in a list: self_attn.0 and self_attn.1
        own = [*attended(twice, trace, "0"), *attended(twice, trace, "1")]
        own = sorted(own, key=lambda one: [int(part) for part in one[0].split(".") if part.isdigit()])
    assert len(own) == len(trace.sites)
    for site, (_, weights) in zip(trace.sites, own, strict=True):
        mine = trace.attention(layer=site.layer, call=site.call)
        assert_close(mine, weights, relative=1e-6)
    assert trace.sites[1].name == "layer 0 (2nd attention)"
    looked = overview.measure(trace, sides=sides(trace.sites))
    assert looked.checks.result(expected_layers=loaded.layers).holds
    assert looked.pictures[trace.sites[0].stream].shape[:2] == (2 * count, 4)


def test_tables_tell_the_attentions_of_a_layer_apart(doubled: tuple[models.LoadedModel, Trace]) -> None:
    _, trace = doubled
    table = heads.measure(trace)
    assert list(table.columns[:4]) == ["stream", "layer", "call", "head"]
    assert len(table.drop_duplicates(["stream", "layer", "call", "head"])) == len(table) == 24
    for site in trace.sites:
        rows = table[(table["layer"] == site.layer) & (table["call"] == site.call)]
        own = heads.measure_maps(trace.blocks(layer=site.layer, call=site.call), keys=site.keys)
        assert_close(rows["entropy"], own["entropy"], relative=1e-6)
    layer, head = heads.most_telling(table)
    assert trace.record_of_head(layer, head, None).site.call == 0
    assert "call" not in heads.measure(record(models.load("own-encoder"), "The cat sat."))


def test_a_head_of_the_second_attention_is_dropped_alone(doubled: tuple[models.LoadedModel, Trace]) -> None:
    loaded, trace = doubled
    dropped = interventions.drop(loaded, trace, heads=[ModelHead("encoder", 2, head, 1) for head in range(4)])
    for call in (0, 1):
        a, b = (one.attention(layer=2, call=call) for one in (trace, dropped.after))
        np.testing.assert_array_equal(a, b)
    assert np.abs(dropped.after.output - trace.output).max() > 1e-3
    other = interventions.drop(loaded, trace, heads=[ModelHead("encoder", 2, head) for head in range(4)])
    assert np.abs(other.after.attention(layer=2, call=1) - trace.attention(layer=2, call=1)).max() > 1e-6
    changed = compare.changed_heads(trace, dropped.after)
    assert len(changed.drop_duplicates(["layer", "call", "head"])) == 24
    (one,) = importance.measure(loaded, trace, heads=[ModelHead("encoder", 2, 3, 1)])
    assert (one.layer, one.head, one.call) == (2, 3, 1)
    assert one.moved > 0


def test_what_is_computed_from_maps_knows_the_call(doubled: tuple[models.LoadedModel, Trace]) -> None:
    loaded, trace = doubled
    place = {"layer": 1, "stream": "encoder", "call": 1}
    first, second = trace.attention(layer=1), trace.attention(layer=1, call=1)
    assert np.abs(first - second).max() > 1e-3
    np.testing.assert_array_equal(trace.attention(head=2, **place), second[2])
    every = slice(0, len(trace.tokens))
    np.testing.assert_array_equal(trace.window(head=2, queries=every, keys=every, **place), second[2])
    shown = maps.arrange(trace)
    assert_close(maps.weights(trace, shown, head=2, **place), second[2], relative=1e-7)
    cell = explain.why(trace, head=2, query=3, key=1, **place)
    assert cell.recorded == second[2, 3, 1]
    assert cell.holds
    assert draw.title(1, 2, call=1) == "Layer 1 (2nd attention), head 2"
    projections = find(loaded)
    assert len(projections) == 6
    norms = flow.norm_weighted(trace, projections, head=2, **place)
    weight = projections["encoder", 1, 1].weight[2].double().numpy()
    values = trace.record_of(1, "encoder", call=1).value[2].double().numpy()
    assert_close(norms, second[2] * np.linalg.norm(values @ weight, axis=1), relative=1e-6)
    assert flow.rollout(trace, token=1).shape == (7, len(trace.tokens))
    apart = head_distances.measure(trace, stream="encoder")
    assert apart.places[4:8] == [(0, head, 1) for head in range(4)]
    match = head_distances.matches(apart).iloc[0]
    assert (match.a_layer, match.a_head, match.a_call) in apart.places
    with pytest.raises(ValueError, match="call 2 is out of range: layer 1 of encoder has calls 0 to 1"):
        trace.attention(layer=1, call=2)


def test_a_page_holds_every_attention_of_a_layer(doubled: tuple[models.LoadedModel, Trace]) -> None:
    _, trace = doubled
    page = export.html(trace, layer=1, head=0, call=1)
    (held,) = re.findall(r'class="every">([^<]*)<', page)
    header, _ = unpack(base64.b64decode(held), "<f4")
    assert len(header["heads"]) == 24
    lines = python.lines(trace, maps.arrange(trace), layer=1, head=0, stream="encoder", call=1)
    assert 'stream="encoder", call=1' in lines


def test_files_keep_layer_and_call(doubled: tuple[models.LoadedModel, Trace], hybrid: Path, tmp_path: Path) -> None:
    for trace in (doubled[1], record(models.load(hybrid), TEXT)):
        inspector.save(trace, tmp_path / "trace.npz")
        opened = inspector.open(tmp_path / "trace.npz")
        assert opened.sites == trace.sites
        last = trace.sites[-1]
        a, b = (one.attention(layer=last.layer, call=last.call) for one in (trace, opened))
        np.testing.assert_array_equal(a, b)


def test_two_attentions_in_one_place_are_refused(doubled: tuple[models.LoadedModel, Trace], tmp_path: Path) -> None:
    _, trace = doubled
    twice = [replace(one, site=replace(one.site, call=0)) for one in trace.attentions]
    inspector.save(replace(trace, attentions=tuple(twice)), tmp_path / "trace.npz")
    with pytest.raises(ValueError, match="it holds 6 attentions in 3 places"):
        inspector.open(tmp_path / "trace.npz")
