"""The inside of layers as it was recorded: FFNs, additions and matrices, against hooks on the modules themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import block
from inspector.trace.blocks import Blocks
from tests.closeness import assert_close
from tests.inspector.probe.families import DECODERS, ENCODER_DECODERS, ENCODERS, save
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."
FAMILIES = {family.name: family for family in (*ENCODERS, *DECODERS, *ENCODER_DECODERS)}
# What its layers' FFN is made of: activation, the module before it, a gate's other half, the last module.
FFNS = {
    "bert": ("gelu", "intermediate.dense", "", "output.dense"),
    "gpt2": ("gelu_tanh", "mlp.c_fc", "", "mlp.c_proj"),
    "llama": ("silu", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"),
    "t5": ("relu", "DenseReluDense.wi", "", "DenseReluDense.wo"),
    "gpt_neox": ("gelu", "mlp.dense_h_to_4h", "", "mlp.dense_4h_to_h"),
    "falcon": ("gelu", "mlp.dense_h_to_4h", "", "mlp.dense_4h_to_h"),
    "xlm": ("gelu", "lin1", "", "lin2"),  # its layers are no modules
    "xlnet": ("gelu", "ff.layer_1", "", "ff.layer_2"),  # its attention multiplies by einsum
    "relu": ("relu", "ffn.up", "", "ffn.down"),
    "swiglu": ("silu", "ffn.gate", "ffn.up", "ffn.down"),
}


def loaded_model(name: str, folder: Path) -> models.LoadedModel:
    if name in FAMILIES:
        save(FAMILIES[name], folder)
        return models.load(folder)
    pre = name == "swiglu"
    return own("decoder" if pre else "encoder", activation=name, norm_placement="pre" if pre else "post", layers=2)


def near(found: torch.Tensor, want: torch.Tensor) -> bool:
    want = want.reshape(found.shape)
    return bool((found - want).abs().max() <= 1e-5 * want.abs().max())


@pytest.mark.parametrize("name", FFNS)
def test_every_ffn_is_recorded_as_its_modules_ran(name: str, tmp_path: Path) -> None:
    activation, before, other, after = FFNS[name]
    loaded = loaded_model(name, tmp_path)
    plain = inspector.record(loaded, TEXT)
    gave: list[tuple[str, torch.Tensor]] = []

    def hook(path: str):  # type: ignore[no-untyped-def]
        return lambda module, given, out: gave.append((path, out.detach().clone()))

    handles = [
        module.register_forward_hook(hook(path))
        for path, module in loaded.network.named_modules()
        if path.endswith((before, other or before, after)) and "attention.output" not in path
    ]
    blocks = inspector.record_blocks(loaded, plain)
    for handle in handles:
        handle.remove()
    per = 3 if other else 2
    assert len(blocks.ffns) * per == len(gave)
    assert len(blocks.ffns) == (4 if name == "t5" else 2)
    assert blocks.refused == ()
    for number, ffn in enumerate(blocks.ffns):
        seen = dict(gave[per * number : per * (number + 1)])
        first = next(out for path, out in seen.items() if path.endswith(before))
        last = next(out for path, out in seen.items() if path.endswith(after))
        assert ffn.activation == activation
        assert (ffn.gate is not None) == bool(other)
        assert near(ffn.pre_activations(loaded.network), first)
        assert near(ffn.output(loaded.network), last)
    assert balances(inspector.record(loaded, TEXT), blocks) < 1e-5
    walk = block.walk(plain, blocks, loaded.network, stream=blocks.layers[0].stream, layer=1, position=2)
    kinds, offs = {step.kind for step in walk.steps}, [step.off for step in walk.steps if step.off is not None]
    assert walk.unseen == (name in ("falcon", "xlm", "xlnet"))  # these do their attention by themselves
    assert kinds.isdisjoint({"q", "k", "v", "mix"}) if walk.unseen else kinds >= {"q", "k", "v", "mix"}
    assert len(offs) == (1 if walk.unseen else 2)  # of W_O and the FFN's last matrix, from what came before
    assert_close([walk.off, *offs], 0, relative=1e-5, scale=1)  # shares of the largest number
    again = inspector.record(loaded, TEXT)
    assert torch.equal(again.hidden, plain.hidden)
    assert all(
        torch.equal(a.query, b.query) and torch.equal(a.value, b.value)
        for a, b in zip(again.attentions, plain.attentions, strict=True)
    )


def balances(trace: inspector.Trace, blocks: Blocks) -> float:
    """The largest difference between what leaves a layer and what entered plus what its parts added, of the largest."""
    worst = 0.0
    for layer in blocks.layers:
        state = layer.enters.astype(np.float64)
        for one in layer.additions:
            assert one.added is not None
            state = state + one.added
            place = (layer.stream, layer.layer, one.part, "post")
            norm = next((n for n in trace.norms if (n.stream, n.layer, n.part, n.placement) == place), None)
            state = state if norm is None else norm.output
        worst = max(worst, float(np.abs(state - layer.leaves).max() / np.abs(layer.leaves).max()))
    return worst


def test_parallel_blocks_shared_layers_and_experts_are_told(tmp_path: Path) -> None:
    for name, beside in (("gpt_neox", True), ("albert", False)):
        loaded = loaded_model(name, tmp_path / name)
        blocks = inspector.record_blocks(loaded, inspector.record(loaded, TEXT))
        assert [one.beside for layer in blocks.layers for one in layer.additions] == [False, beside] * 2
        first, second = ({matrix.name for _, matrix in layer.matrices} for layer in blocks.layers)
        assert (first == second) is (name == "albert")
    loaded = loaded_model("mixtral", tmp_path / "mixtral")
    blocks = inspector.record_blocks(loaded, inspector.record(loaded, TEXT))
    assert not blocks.ffns
    assert "mixture of experts" in blocks.refused[0][2]
    shared = loaded_model("qwen2_moe", tmp_path / "qwen2_moe")  # what its shared expert gives is not all that is added
    trace = inspector.record(shared, TEXT)
    stages = block.stages(trace, inspector.record_blocks(shared, trace), stream="decoder")
    assert [(one.part, one.derived) for one in stages] == [("attention", False), ("ffn", True)] * 2
    hybrid = loaded_model("jamba", tmp_path / "jamba")
    trace = inspector.record(hybrid, TEXT)
    with pytest.raises(ValueError, match=r"layer 0 of .* has no attention but another way to mix tokens"):
        block.stages(trace, inspector.record_blocks(hybrid, trace), stream="decoder")
    other = inspector.record(loaded, "Another text.")
    with pytest.raises(ValueError, match="record the text again"):
        inspector.record_blocks(loaded_model("llama", tmp_path / "llama"), other)


def test_the_roles_of_matrices_are_found() -> None:
    loaded = own("encoder", shared_key_value=True, layers=1)
    (layer,) = inspector.record_blocks(loaded, inspector.record(loaded, TEXT)).layers
    assert [role for role, _ in layer.matrices] == ["q", "k", "v", "out", "up", "down"]
    assert layer.matrix("k") == layer.matrix("v") != layer.matrix("q")
    out = layer.matrix("out")
    assert out is not None
    assert out.weight(loaded.network).shape == (loaded.config.width, loaded.config.width)
