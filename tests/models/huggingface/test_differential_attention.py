"""DiffLlama: what its heads are, and that its module here writes what transformers' writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import models
from inspector import record
from models.loaded import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, reference, save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(Family("diffllama", "RoPE"), tmp_path)
    return tmp_path


@pytest.fixture
def loaded(folder: Path) -> LoadedModel:
    return models.load(folder)


def test_its_output_is_the_difference_of_its_heads_maps(loaded: LoadedModel) -> None:
    """Make the output projection's input by the paper's equation 1, from the recorded maps and values alone."""
    seen: list[torch.Tensor] = []
    for layer in loaded.network.model.layers:
        layer.self_attn.attention.o_proj.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    trace = record(loaded, "the cat sat on the log because it was tired")
    for site, mixed in zip(trace.sites, seen, strict=True):
        of = loaded.network.model.layers[site.layer].self_attn.attention
        half, weights = site.heads // 2, torch.tensor(trace.attention(layer=site.layer)).double()
        value = trace.attentions[site.layer].value.double().repeat_interleave(site.heads // site.kv_heads, dim=0)
        full = sum(sign * (q * k).sum().double().exp() for sign, q, k in signed(of)) + of.lambda_init
        out = weights[:half] @ value[:half] - full * weights[half:] @ value[half:]
        out = (1 - of.lambda_init) * out / (out.square().mean(dim=-1, keepdim=True) + of.groupnorm.eps).sqrt()
        assert_close(out.transpose(0, 1).flatten(start_dim=1), mixed[0].double(), relative=1e-5)


def signed(of: torch.nn.Module) -> tuple[tuple[int, torch.Tensor, torch.Tensor], ...]:
    return (1, of.lambda_q1, of.lambda_k1), (-1, of.lambda_q2, of.lambda_k2)


def test_it_writes_what_transformers_writes(folder: Path, loaded: LoadedModel) -> None:
    ids = torch.tensor([[2, 20, 30, 40, 50]])
    expected = reference(folder).generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=9, do_sample=False)
    assert loaded.write is not None
    assert loaded.write(ids, 9)[0].tolist() == expected[0].tolist()


def test_an_offloaded_one_is_recorded_as_the_plain_one(folder: Path, loaded: LoadedModel) -> None:
    spread = models.load(folder, device="auto", max_memory={"cpu": 1000})
    one, other = (record(model, "the cat sat on the log") for model in (spread, loaded))
    np.testing.assert_array_equal(one.output, other.output)
    np.testing.assert_array_equal(one.attention(layer=1), other.attention(layer=1))
