"""Output gates of transformers' attention: what a gate lets through is what the model's own gate numbers say."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import inspector
import models
from inspector import Trace
from models.attention.output_gate import shares, watch_gates
from models.loaded import LoadedModel
from models.mixers import watch_mixers
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save

FAMILIES = {family.name: family for family in CAPTURED}
TEXT = "the dog sat on the log because it was tired"


def loaded_family(name: str, folder: Path) -> LoadedModel:
    save(FAMILIES[name], folder)
    return models.load(folder)


def logits(module: Any, seen: list[Tensor]) -> Any:
    """Note what a layer makes its gate of: half of q_proj's numbers by head (Qwen3-Next), or gate_proj's (AFMoE)."""
    if hasattr(module, "gate_proj"):
        return module.gate_proj.register_forward_hook(lambda _, __, out: seen.append(out))
    width = module.head_dim
    return module.q_proj.register_forward_hook(
        lambda _, __, out: seen.append(out.unflatten(-1, (-1, 2 * width))[..., width:].flatten(-2))
    )


def expected(trace: Trace, gate: Tensor, *, layer: int) -> np.ndarray:
    """The share of each answer's length, [H, Q], by maps and values in float64; gate: [1, Q, H * E] of its logits."""
    record, weights = trace.record_of(layer, None), trace.attention(layer=layer).astype(np.float64)
    value = record.value.double().numpy().repeat(len(weights) // len(record.value), axis=0)
    mixed = weights @ value  # [H, Q, E]
    through = torch.sigmoid(gate[0].double()).numpy().reshape(mixed.shape[1], *mixed.shape[::2]).transpose(1, 0, 2)
    return np.linalg.norm(mixed * through, axis=-1) / np.linalg.norm(mixed, axis=-1)


@pytest.mark.parametrize("name", ["qwen3_next", "qwen3_5_text", "afmoe"])
def test_a_gate_lets_through_what_its_own_numbers_say(name: str, tmp_path: Path) -> None:
    loaded = loaded_family(name, tmp_path)
    attending = [module for module in loaded.network.modules() if hasattr(module, "_headlight_gated")]
    seen: list[Tensor] = []
    hooks = [logits(module, seen) for module in attending]
    trace = inspector.record(loaded, TEXT)
    for hook in hooks:
        hook.remove()
    assert len(seen) == len(trace.sites) > 0
    for site, gate in zip(trace.sites, seen, strict=True):
        each = [trace.output_gate(layer=site.layer, head=head) for head in range(site.heads)]
        assert_close(
            np.stack([of_head for of_head in each if of_head is not None]),
            expected(trace, gate, layer=site.layer),
            relative=1e-5,
        )
    batch = inspector.record_batch(loaded, ["it was the mat", TEXT], padding="left")
    of_batch, alone = (recorded.output_gate(layer=trace.sites[0].layer, head=1) for recorded in (batch[1], trace))
    assert of_batch is not None
    assert alone is not None
    assert_close(of_batch, alone, relative=1e-5)
    inspector.save(trace, tmp_path / "trace.npz")
    again = inspector.open(tmp_path / "trace.npz").output_gate(layer=trace.sites[0].layer, head=1)
    np.testing.assert_array_equal(again, alone)


def test_layers_without_a_gate_have_none(tmp_path: Path) -> None:
    trace = inspector.record(loaded_family("llama", tmp_path), TEXT)
    assert all(trace.output_gate(layer=site.layer, head=0) is None for site in trace.sites)


def test_what_grows_or_turns_an_answer_is_no_gate() -> None:
    mixed = torch.tensor([[[[1.0, -2.0], [3.0, 4.0]]]])  # [B, Q, H, E]
    assert_close(shares(mixed, mixed * 0.5), torch.full((1, 2, 1), 0.5), relative=1e-6)
    assert_close(shares(mixed, mixed * torch.tensor([1.0, 0.0])), torch.tensor([[[0.2**0.5], [0.6]]]), relative=1e-6)
    assert shares(mixed, mixed * 1.1) is None
    assert shares(mixed, -mixed) is None


def test_a_copy_of_a_network_has_gates_of_its_own(tmp_path: Path) -> None:
    loaded = loaded_family("afmoe", tmp_path)
    ids = torch.tensor([[5, 6, 7, 8]])
    watched: list[Tensor] = []
    copied = deepcopy(loaded.network)
    with torch.no_grad(), watch_mixers(lambda call: None), watch_gates(watched.append):
        loaded.network(input_ids=ids)
        copied(input_ids=ids)
    assert len(watched) == 4
    for first, second in zip(watched[:2], watched[2:], strict=True):
        np.testing.assert_array_equal(first, second)
