"""Routers as they ran, in every family with experts: held to what transformers' own experts were given."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import inspector
import models
from inspector.probe.expert_calls import OF_ATTENTION, GivenChoices
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, UNLISTED_TEXT, reference, save
from tests.inspector.probe.models_table import read_rows

TEXT, TARGET = "the cat sat on the log because it was tired", "the log sat on it"
# Sizes with which the tiny model of a family has experts, where that of docs/models.md has none.
WITH_EXPERTS = {
    "nemotron_h": {"layers_block_type": ["attention", "moe"], "moe_latent_size": 16},
    "gemma4_text": {"enable_moe_block": True, "moe_intermediate_size": 16, "top_k_experts": 2},
}
FAMILIES = {
    family.name: replace(family, sizes={**family.sizes, **WITH_EXPERTS.get(family.name, {})})
    for family in (*CAPTURED, *UNLISTED_TEXT)
}
LISTED = [name for name, row in read_rows().items() if len(row.cells) > 4 and "experts in" in row.cells[4]]
BEYOND = [
    "openai_privacy_filter",
    "muse_spark_text",
    "mistral4",
    "mistral_large4_text",
    "qwen3_vl_moe_text",
    "glm4v_moe_text",
]
NORM_BEHIND = ("axk1",)  # its norm stands behind the sum of experts and shared expert


def recorded(name: str, folder: Path) -> tuple[LoadedModel, inspector.Trace]:
    save(FAMILIES[name], folder)
    loaded = models.load(folder)
    target = TARGET if loaded.shape == "encoder-decoder" else None
    return loaded, inspector.record(loaded, TEXT, target=target)


def of_transformers(network: nn.Module, trace: inspector.Trace) -> list[tuple[str, np.ndarray]]:
    """The weight of each expert for each token, as transformers' own modules were given them: path, [Q, N]."""
    seen: list[tuple[str, np.ndarray]] = []

    def hook(path: str) -> Any:
        def given(module: nn.Module, args: Any, output: Any) -> None:
            if type(module).__name__ == "Llama4Router":
                seen.append((path, output[0].numpy()))
            elif type(module).__name__ == "JetMoeTopKGating":
                _, rows, gates, sizes, _ = output
                dense = torch.zeros(int(rows.max()) + 1, len(sizes))
                for row, gate, expert in zip(rows, gates, np.repeat(range(len(sizes)), sizes), strict=True):
                    dense[row, expert] += gate
                seen.append((path, dense.numpy()))
            elif len(args) == 3:
                _, index, weights = args
                if index.dim() == 3:  # Switch
                    seen.append((path, (index[:, 0] * weights).numpy()))
                    return
                count = getattr(module, "total_experts", None) or module.num_experts
                dense = torch.zeros(len(index), int(count))
                for slot in range(index.shape[1]):
                    for row in range(len(index)):
                        dense[row, index[row, slot]] += weights[row, slot]
                seen.append((path, dense.numpy()))

        return given

    for path, module in network.named_modules():
        name = type(module).__name__
        block, _, attribute = path.rpartition(".")
        gating = name == "JetMoeTopKGating" and "self_attention" not in path
        if gating or name == "Llama4Router" or (attribute == "experts" and name != "Llama4TextExperts"):
            module.register_forward_hook(hook(block))
    inputs: dict[str, Any] = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        inputs["decoder_input_ids"] = torch.tensor([trace.target.ids])
    with torch.no_grad():
        network(**inputs)
    return seen


@pytest.mark.families
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", dict.fromkeys([*LISTED, *WITH_EXPERTS, *BEYOND]))
def test_every_choice_is_what_the_experts_were_given_and_their_sum_what_the_layer_gave(
    name: str, tmp_path: Path
) -> None:
    loaded, trace = recorded(name, tmp_path)
    routing = inspector.record_routing(loaded, trace)
    expected = of_transformers(reference(tmp_path), trace)
    assert expected
    assert [layer.name.split("layers.")[-1] for layer in routing.layers] == [
        path.split("layers.")[-1] for path, _ in expected
    ]
    for router, (_, weights) in zip(routing.layers, expected, strict=True):
        assert router.off <= 1e-5
        assert router.layer == int(re.findall(r"(?:layers|block)\.(\d+)", router.name)[0])
        assert_close(router.matrix(), weights, relative=1e-6)
        assert (router.shared is None) == (name in (*NORM_BEHIND, "gemma4_text"))
        assert router.matrix().shape == (len(trace.read_by(router.stream)), router.experts)
    assert {reason for *_, reason in routing.refused} == ({OF_ATTENTION} if name == "jetmoe" else set())


def shared_by_transformers(network: nn.Module, trace: inspector.Trace, *, ends: tuple[str, ...]) -> list[torch.Tensor]:
    """Collect what modules whose path ends so gave, in call order: [Q, D] or [Q, 1]."""
    outputs: list[torch.Tensor] = []
    for path, module in network.named_modules():
        if path.endswith(ends):
            module.register_forward_hook(lambda module, args, output: outputs.append(output.flatten(0, -2).clone()))
    with torch.no_grad():
        network(input_ids=torch.tensor([trace.encoding.ids]))
    return outputs


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "sizes", "ends"),
    [
        ("qwen2_moe", {}, (".shared_expert", ".shared_expert_gate")),  # times the sigmoid of its gate
        ("deepseek_v3", {}, (".shared_experts",)),
        ("granitemoeshared", {"shared_intermediate_size": 16}, (".shared_mlp",)),  # beside the block
        ("nemotron_h", {}, (".shared_experts",)),  # the experts' sum goes through a projection
        ("llama4_text", {}, (".shared_expert",)),
        ("mixtral", {}, ()),
    ],
)
def test_what_all_tokens_share_is_what_the_shared_expert_gave(
    name: str, sizes: dict[str, Any], ends: tuple[str, ...], tmp_path: Path
) -> None:
    family = FAMILIES[name]
    save(replace(family, sizes={**family.sizes, **sizes}), tmp_path)
    loaded = models.load(tmp_path)
    trace = inspector.record(loaded, TEXT)
    routing = inspector.record_routing(loaded, trace)
    gave = shared_by_transformers(reference(tmp_path), trace, ends=ends) if ends else []
    if len(ends) == 2:
        gave = [expert * torch.sigmoid(gate) for expert, gate in zip(gave[::2], gave[1::2], strict=True)]
    for number, router in enumerate(routing.layers):
        assert router.shared is not None
        expected = gave[number].norm(dim=-1).numpy() if gave else np.zeros(len(trace.tokens))
        assert_close(router.shared, expected, relative=1e-5)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["laguna", "minimax_m3_vl_text", "mixtral"])
def test_what_the_sum_of_experts_is_multiplied_by_is_the_configurations(name: str, tmp_path: Path) -> None:
    loaded, trace = recorded(name, tmp_path)
    config = loaded.config
    expected = {"laguna": "moe_routed_scaling_factor", "minimax_m3_vl_text": "routed_scaling_factor"}.get(name)
    for router in inspector.record_routing(loaded, trace).layers:
        assert router.scale is not None
        assert_close(router.scale, getattr(config, expected) if expected else 1.0, relative=1e-5)


@pytest.mark.heavy
def test_choices_and_outputs_are_mixtrals_formula_in_float64(tmp_path: Path) -> None:
    """Jiang et al. 2024: softmax over the two largest logits; an expert is W2 (silu(W1 x) * W3 x)."""
    loaded, trace = recorded("mixtral", tmp_path)
    network = reference(tmp_path)
    entered: list[torch.Tensor] = []
    blocks = [module for path, module in network.named_modules() if path.endswith((".mlp", "block_sparse_moe"))]
    for block in blocks:
        block.register_forward_pre_hook(lambda module, args: entered.append(args[0][0].double()))
    with torch.no_grad():
        network(input_ids=torch.tensor([trace.encoding.ids]))
    for router, block, states in zip(inspector.record_routing(loaded, trace).layers, blocks, entered, strict=True):
        experts, gate = block.experts, block.gate.weight.detach().double()
        logits = (states @ gate.T).numpy()
        matrix, routed = router.matrix(), np.zeros(states.shape)
        for row, scores in enumerate(logits):
            best = np.argsort(scores)[-2:]
            weights = np.exp(scores[best]) / np.exp(scores[best]).sum()
            assert set(router.chosen[row]) == set(best)
            assert_close(matrix[row, best], weights, relative=1e-5)
            for expert, weight in zip(best, weights, strict=True):
                up, down = (part[expert].detach().double() for part in (experts.gate_up_proj, experts.down_proj))
                first, second = (up @ states[row]).chunk(2)
                output = (down @ (first * torch.sigmoid(first) * second)).numpy()
                (slot,) = np.flatnonzero(router.chosen[row] == expert)
                assert_close(router.outputs[row, slot], np.linalg.norm(output), relative=1e-5)
                routed[row] += weight * output
        assert_close(router.routed, np.linalg.norm(routed, axis=1), relative=1e-5)


def shuffled(patch: pytest.MonkeyPatch) -> None:
    read = GivenChoices.read

    def rolled(*given: Any) -> GivenChoices:
        call = read(*given)
        return replace(call, weights=call.weights.roll(1, dims=0))

    patch.setattr(GivenChoices, "read", rolled)


def one_left_out(patch: pytest.MonkeyPatch) -> None:
    alone = GivenChoices.alone
    patch.setattr(
        GivenChoices,
        "alone",
        lambda call, expert, rows, weights: alone(call, expert, rows, weights) * (expert != int(call.chosen[0, 0])),
    )


def shared_forgotten(patch: pytest.MonkeyPatch) -> None:
    block = GivenChoices.block
    patch.setattr(GivenChoices, "block", lambda call, total: block(call, total) * bool(total.any()))


def another_expert(patch: pytest.MonkeyPatch) -> None:
    alone = GivenChoices.alone
    patch.setattr(
        GivenChoices,
        "alone",
        lambda call, expert, rows, weights: alone(call, (expert + 1) % call.count, rows, weights),
    )


@pytest.mark.heavy
@pytest.mark.parametrize("fault", [shuffled, one_left_out, shared_forgotten, another_expert])
def test_a_layer_whose_experts_do_not_sum_up_is_refused_with_its_number(
    fault: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, trace = recorded("qwen2_moe", tmp_path)
    assert not inspector.record_routing(loaded, trace).refused
    fault(monkeypatch)
    routing = inspector.record_routing(loaded, trace)
    assert not routing.layers
    assert [(stream, layer) for stream, layer, _ in routing.refused] == [("decoder", 0), ("decoder", 1)]
    expected = "does not add up" if fault is shared_forgotten else r"off by \d\.\de-0\d of what it gives"
    with pytest.raises(ValueError, match=f"layer 1 of the decoder are not shown: .*{expected}"):
        routing.layer("decoder", 1)


@pytest.mark.heavy
def test_a_text_of_another_run_is_refused_and_a_model_without_experts_has_none(tmp_path: Path) -> None:
    loaded, _ = recorded("mixtral", tmp_path / "mixtral")
    other, trace = recorded("llama", tmp_path / "llama")
    assert inspector.record_routing(other, trace).layers == ()
    with pytest.raises(ValueError, match="record the text again"):
        inspector.record_routing(loaded, trace)
    with pytest.raises(ValueError, match="layer 0 of the decoder chooses no experts; layers that do: none"):
        inspector.record_routing(other, trace).layer("decoder", 0)


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["qwen2_moe", "jetmoe", "llama4_text", "switch_transformers"])
def test_half_precision_is_no_false_alarm(name: str, dtype: str, tmp_path: Path) -> None:
    save(FAMILIES[name], tmp_path)
    loaded = models.load(tmp_path, dtype=dtype)
    target = TARGET if loaded.shape == "encoder-decoder" else None
    routing = inspector.record_routing(loaded, inspector.record(loaded, TEXT, target=target))
    assert len(routing.layers) == 2
    assert {reason for *_, reason in routing.refused} <= {OF_ATTENTION}


@pytest.mark.heavy
def test_threads_that_share_a_model_each_record_their_text_and_leave_it_as_it_was(tmp_path: Path) -> None:
    loaded, _ = recorded("qwen2_moe", tmp_path)
    texts = ["the cat sat", "the dog sat on the log because it was tired", "it was tired", "on the mat the cat"]
    traces = [inspector.record(loaded, text) for text in texts]
    alone = [inspector.record_routing(loaded, trace) for trace in traces]
    together: dict[int, inspector.trace.routing.Routing] = {}

    def run(number: int) -> None:
        together[number] = inspector.record_routing(loaded, traces[number])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, expected in enumerate(alone):
        for router, other in zip(expected.layers, together[number].layers, strict=True):
            assert np.array_equal(router.matrix(), other.matrix())
        assert torch.equal(inspector.record(loaded, texts[number]).hidden, traces[number].hidden)
