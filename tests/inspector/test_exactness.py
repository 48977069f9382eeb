"""Norms, their places and the residual stream, held to hooks of the tests' own; and faults that the badge must see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import inspector
import models
from inspector import Trace, exactness, lens, normalization, record
from inspector.exactness import check
from models.loaded import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, reference, save

TEXT = "the cat sat on the log because it was"
MAMBA = {
    **{"mamba_d_state": 4, "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 2, "mamba_chunk_size": 8},
    "mamba_expand": 2,
}
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8}
BOTTLENECK = {"embedding_size": 16, "true_hidden_size": 32, "intra_bottleneck_size": 32}
JAMBA = {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 4, "mamba_dt_rank": 4}
GEMMA_3N = {
    **{"num_kv_shared_layers": 0, "layer_types": ["sliding_attention", "full_attention"], "laurel_rank": 4},
    **{"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 300, "activation_sparsity_pattern": [0.0, 0.0]},
}
LONGCAT = {
    **LATENT,
    **{"num_layers": 2, "n_routed_experts": 4, "zero_expert_num": 2, "moe_topk": 2, "expert_ffn_hidden_size": 16},
    **{"ffn_hidden_size": 48, "head_dim": 4, "num_key_value_heads": 4},
}
HYBRID = ["linear_attention", "full_attention"]
DELTA = {
    **{"layer_types": HYBRID, "linear_num_value_heads": 4, "linear_num_key_heads": 2},
    **{"linear_key_head_dim": 8, "linear_value_head_dim": 8},
}
NEMOTRON = {
    **{"num_hidden_layers": 3, "layers_block_type": ["mamba", "attention", "mlp"], "mamba_num_heads": 4},
    **{"mamba_head_dim": 16, "n_groups": 2, "ssm_state_size": 4, "chunk_size": 8},
}


@dataclass(frozen=True)
class Case:
    """A tiny family, and what is expected of its first layer's norms: (leaf of the path, part, placement)."""

    name: str
    sizes: dict[str, Any]
    first_layer: tuple[tuple[str, str, str], ...]
    stream: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.sizes.get('normalization_type', '')}".strip()


PRE = (("input_layernorm", "attention", "pre"), ("post_attention_layernorm", "ffn", "pre"))
MIXED = (("input_layernorm", "mixer", "pre"), ("pre_ff_layernorm", "ffn", "pre"))
GATED = (MIXED[0], ("norm", "mixer", "inside"), MIXED[1])
CASES = (
    Case(
        "falcon_h1",
        {"mamba_rms_norm": True, "mamba_d_ssm": 64, **MAMBA},
        (("input_layernorm", "attention", "pre"), *GATED[1:]),
    ),
    Case("bamba", {**MAMBA, "attn_layer_indices": [1]}, GATED),
    Case(
        "granitemoehybrid",
        {**MAMBA, "layer_types": ["mamba", "attention"], "shared_intermediate_size": 16},
        (*GATED[:2], ("post_attention_layernorm", "ffn", "pre")),
    ),
    Case("jamba", JAMBA, MIXED),
    Case(
        "lfm2",
        {"layer_types": ["conv", "full_attention"]},
        (("operator_norm", "mixer", "pre"), ("ffn_norm", "ffn", "pre")),
    ),
    Case("nemotron_h", NEMOTRON, (("norm", "mixer", "pre"), ("norm", "mixer", "inside"))),
    Case("qwen3_next", DELTA, (("input_layernorm", "mixer", "pre"), PRE[1])),
    Case("nanochat", {}, PRE),
    Case("olmo", {}, PRE),
    Case("hyperclovax", {}, (PRE[0], ("post_norm1", "attention", "output"), PRE[1], ("post_norm2", "ffn", "output"))),
    Case(
        "olmo2",
        {},
        (("post_attention_layernorm", "attention", "output"), ("post_feedforward_layernorm", "ffn", "output")),
    ),
    Case(
        "longcat_flash",
        LONGCAT,
        (("0", "attention", "pre"), ("0", "ffn", "pre"), ("1", "attention", "pre"), ("1", "ffn", "pre")),
    ),
    Case(
        "mobilebert",
        {**BOTTLENECK, "normalization_type": "layer_norm"},
        (
            ("LayerNorm", "other", "output"),
            ("LayerNorm", "attention", "pre"),
            ("LayerNorm", "attention", "post"),
            *(("LayerNorm", "ffn", "post"),) * 5,
        ),
    ),
    Case("mobilebert", BOTTLENECK, ()),
    Case(
        "gemma3n_text",
        GEMMA_3N,
        (
            ("router_norm", "other", "inside"),
            ("input_layernorm", "attention", "pre"),
            ("post_laurel_norm", "other", "output"),
            ("post_attention_layernorm", "attention", "output"),
            ("pre_feedforward_layernorm", "ffn", "pre"),
            ("post_feedforward_layernorm", "ffn", "output"),
            ("router_norm", "other", "inside"),
            ("post_per_layer_input_norm", "other", "inside"),
        ),
        stream=False,
    ),
    Case("xlm", {"mask_token_id": 4, "pad_index": 0}, (("0", "attention", "post"), ("0", "ffn", "post"))),
    Case("albert", {}, (("LayerNorm", "attention", "post"), ("full_layer_layer_norm", "ffn", "post"))),
)


@dataclass(frozen=True)
class Told:
    """Outputs of a family: recorded, and by hooks on transformers' own class; calls: (path, output) of every norm."""

    case: Case
    loaded: LoadedModel
    trace: Trace
    calls: list[tuple[str, np.ndarray]]
    hidden: list[np.ndarray]


@pytest.fixture(scope="module", params=CASES, ids=str)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    case: Case = request.param
    folder = tmp_path_factory.mktemp(case.name)
    save(Family(case.name, "", case.sizes), folder)
    loaded = models.load(folder)
    trace = record(loaded, TEXT)
    return Told(case, loaded, trace, *_run(reference(folder), trace))


@torch.no_grad()
def _run(network: Any, trace: Trace) -> tuple[list[tuple[str, np.ndarray]], list[np.ndarray]]:
    calls: list[tuple[str, np.ndarray]] = []

    def hook(name: str) -> Any:
        def see(module: nn.Module, inputs: Any, output: Any) -> None:
            calls.append((name, output.clone().numpy().squeeze()))

        return see

    for name, module in network.named_modules():
        if "norm" in type(module).__name__.lower() and not list(module.children()):
            module.register_forward_hook(hook(name))
    ids = torch.tensor([trace.encoding.ids])
    out = network.base_model(ids, output_hidden_states=True)
    return calls, [state[0].numpy() for state in out.hidden_states if state.ndim == 3]


def test_every_norm_that_is_shown_gives_what_its_module_gave(told: Told) -> None:
    shown = [norm.name for norm in told.trace.norms]
    ran = [(name, out) for name, out in told.calls if name in set(shown)]
    assert [name for name, _ in ran] == shown
    for norm, (_, out) in zip(told.trace.norms, ran, strict=True):
        assert_close(norm.output, out, relative=2e-6)
    left_out = [one.name for one in told.trace.refused if one.what == "norm"]
    assert len(shown) + len(left_out) == len(told.calls)
    assert {*shown, *left_out} == {name for name, _ in told.calls}


def test_norms_stand_at_the_sublayer_and_on_the_side_of_the_sum_that_they_have(told: Told) -> None:
    first = [norm for norm in told.trace.norms if norm.layer == 0]
    assert tuple((norm.name.rpartition(".")[2], norm.part, norm.placement) for norm in first) == told.case.first_layer
    layers = {norm.layer for norm in told.trace.norms} - {None}
    assert layers <= set(range(told.loaded.network.config.num_hidden_layers))


def test_a_second_recording_says_the_same_of_places(told: Told) -> None:
    """A norm's use is watched in the first recording alone."""
    again = record(told.loaded, f"{TEXT} tired")
    places = [
        [(norm.name, norm.layer, norm.part, norm.placement) for norm in trace.norms] for trace in (told.trace, again)
    ]
    assert places[0] == places[1]


def test_the_residual_stream_is_transformers_or_refused(told: Told) -> None:
    if not told.case.stream:
        with pytest.raises(ValueError, match="is not known: its layers hand on several streams at once"):
            lens.residual_stream(told.trace)
        return
    states = lens.residual_stream(told.trace)
    last = len(told.hidden) - 2
    assert [state.layer for state in states if state.layer >= 0] == list(range(last + 1))
    final = next((norm for norm in told.trace.norms if norm.placement == "final"), None)
    for state in states:
        shown = state.state if state.layer < last or final is None else replace(final, input=state.state).output
        assert_close(shown, told.hidden[state.layer + 1], relative=2e-6)


def test_the_badge_says_what_was_checked(told: Told) -> None:
    made = check(told.trace, expected_layers=told.loaded.layers)
    assert made.norms is not None
    assert made.norms.holds
    assert made.norms.ran == len(told.calls)
    said = str(made)
    assert f"{len(told.trace.norms)} of {len(told.calls)} norms of the stack shown" in said
    if told.case.stream:
        assert made.states is not None
        assert made.states.exact
        assert "of what the layers took and left" in said
    else:
        assert "the residual stream is not shown: its layers hand on several streams at once" in said


def test_a_table_of_no_norms_is_empty_and_its_norms_are_said(told: Told) -> None:
    statistics, parameters = normalization.statistics(told.trace), normalization.parameters(told.trace)
    assert len(statistics) == len(told.trace.norms) * len(told.trace.tokens)
    assert statistics["layer"].dtype == parameters["layer"].dtype == "Int64"
    if not told.trace.norms:
        assert set(exactness.refusals(told.trace).values()) == {
            "it only multiplies and adds: it divides by no statistic, so it is called a norm and is none"
        }
    without = {norm.name for norm in told.trace.norms if "beta" not in norm.learned}
    assert set(parameters["name"][parameters["beta"].isna()]) == without


def test_all_of_it_is_saved_and_opened(told: Told, tmp_path: Path) -> None:
    inspector.save(told.trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    assert again.refused == told.trace.refused
    for norm, before in zip(again.norms, told.trace.norms, strict=True):
        np.testing.assert_array_equal(norm.output, before.output)
        assert (norm.learned, norm.part, norm.placement) == (before.learned, before.part, before.placement)
    if told.case.stream:
        for state, kept in zip(lens.residual_stream(again), lens.residual_stream(told.trace), strict=True):
            np.testing.assert_array_equal(state.state, kept.state)
    made = check(again, expected_layers=told.loaded.layers)
    assert made.holds


# --- faults that are planted ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    traces = {}
    for case in (CASES[0], CASES[12]):
        folder = tmp_path_factory.mktemp("planted")
        save(Family(case.name, "", case.sizes), folder)
        traces[case.name] = record(models.load(folder), TEXT)
    return traces


def badge(trace: Trace) -> Any:
    return check(trace, expected_layers=len(trace.sites))


def with_norm(trace: Trace, number: int, **changed: Any) -> Trace:
    norms = list(trace.norms)
    norms[number] = replace(norms[number], **changed)
    return replace(trace, norms=tuple(norms))


def test_a_gate_left_out_is_seen(recorded: dict[str, Trace]) -> None:
    trace = recorded["falcon_h1"]
    assert badge(trace).holds
    gated = next(number for number, norm in enumerate(trace.norms) if norm.gate is not None)
    assert trace.norms[gated].groups == 2
    for changed in ({"gate": None}, {"groups": 1}, {"gating": "silu before"}, {"epsilon": 0.1}, {"kind": "layer"}):
        made = badge(with_norm(trace, gated, **changed))
        assert not made.holds, changed
        assert made.norms is not None
        assert made.norms.difference > made.norms.tolerance


def test_a_norm_that_is_off_by_little_is_seen(recorded: dict[str, Trace]) -> None:
    trace = recorded["falcon_h1"]
    for number, norm in enumerate(trace.norms):
        for field in ("gamma", "input"):
            wrong = np.array(getattr(norm, field))
            wrong[..., 3] += 0.01
            assert not badge(with_norm(trace, number, **{field: wrong})).holds


def test_a_bottlenecks_norm_taken_for_the_streams_is_seen(recorded: dict[str, Trace]) -> None:
    trace = recorded["mobilebert"]
    assert badge(trace).holds
    for norm, side in ((1, "output"), (2, "input"), (3, "output")):  # of width 32, as the stream
        states = (replace(trace.states[0], norm=norm, side=side), *trace.states[1:])
        made = badge(replace(trace, states=states))
        assert not made.holds
        assert made.states.difference > made.states.tolerance


def test_shifted_layers_are_seen(recorded: dict[str, Trace]) -> None:
    for trace in recorded.values():
        up = tuple(norm if norm.layer is None else replace(norm, layer=norm.layer + 1) for norm in trace.norms)
        made = badge(replace(trace, norms=up))
        assert not made.holds
        assert "a norm stands in another layer than it is said to" in str(made)
        states = tuple(replace(state, layer=state.layer + 1) for state in trace.states)
        assert not badge(replace(trace, states=states)).holds
        backwards = zip(trace.states, trace.states[::-1], strict=True)
        turned = [replace(one, state=None, norm=other.norm, side=other.side) for one, other in backwards]
        assert not badge(replace(trace, states=tuple(turned))).holds


def test_a_text_read_both_ways_and_shown_as_a_decoders_is_seen(minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat.")
    both = tuple(replace(one, site=replace(one.site, stream="decoder")) for one in trace.attentions)
    made = badge(replace(trace, attentions=both))
    assert not made.holds
    assert made.future > 0.01


def test_what_a_models_own_fill_lets_through_is_no_error_of_the_recording() -> None:
    made = badge(record(models.load("own-decoder?mask_fill=-10.0"), "The cat sat."))
    assert made.holds
    assert made.future > 1e-6
    assert "which the model's own fill of masked scores lets through" in str(made)


def test_a_module_that_does_something_else_is_refused(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module breaks its formula on this text alone: no trial could have told."""
    norm = minilm.network.encoder.layer[3].output.LayerNorm
    plain = type(norm).forward
    changed = lambda self, x: plain(self, x) * (1.001 if self is norm and x.shape[1] > 3 else 1.0)  # noqa: E731
    monkeypatch.setattr(type(norm), "forward", changed)
    trace = record(minilm, "The cat sat.")
    assert exactness.refusals(trace) == {
        "encoder.layer.3.output.LayerNorm": "what it gives is no LayerNorm, RMSNorm or BatchNorm of what it takes, so "
        "its numbers are not shown"
    }
    assert len(trace.norms) == 12
    assert badge(trace).norms == replace(badge(trace).norms, shown=12, ran=13)
