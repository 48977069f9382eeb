"""Projections of an attention call: which columns of which matrix make a head's vectors, and that they rebuild them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import probe
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save

TEXT = "the cat sat on the mat because it was tired"
FAMILIES = {family.name: family for family in CAPTURED}
# Width 32 and 4 heads of 8, 2 kv heads where they share: matrix and columns of head 3's query, key and value.
COLUMNS = {
    "gpt2": (("attn.c_attn", 24), ("attn.c_attn", 32 + 24), ("attn.c_attn", 64 + 24)),  # fused, one after the other
    "gpt_neox": (("query_key_value", 72), ("query_key_value", 80), ("query_key_value", 88)),  # fused, head by head
    "phi3": (("qkv_proj", 24), ("qkv_proj", 32 + 8), ("qkv_proj", 48 + 8)),  # fused, with grouped queries
    "llama": (("q_proj", 24), ("k_proj", 8), ("v_proj", 8)),
    "qwen3": (("q_proj", 24), ("k_proj", 8), ("v_proj", 8)),  # queries and keys are normed
    "bert": (("query", 24), ("key", 24), ("value", 24)),
}


def loaded_family(name: str, folder: Path) -> models.LoadedModel:
    save(FAMILIES[name], folder)
    return models.load(folder)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_head_is_made_by_its_columns(name: str, tmp_path: Path) -> None:
    loaded = loaded_family(name, tmp_path)
    trace = inspector.record(loaded, TEXT)
    projections = probe.record_projections(loaded, trace, layer=1)
    for role, (matrix, first) in zip(("query", "key", "value"), COLUMNS[name], strict=True):
        of_head = projections.of(role, head=3, position=4)  # type: ignore[arg-type]
        (made,) = of_head.slices
        assert matrix in made.name
        assert made.columns == tuple(range(first, first + 8))
        built = of_head.input @ of_head.weight + sum(bias for _, bias in of_head.biases)
        assert_close(built, of_head.output, relative=1e-5)


def test_a_scale_that_is_held_makes_another_input_linear(tmp_path: Path) -> None:
    """A query of twice the input is twice the query, though its norm would take the length off again."""
    loaded = loaded_family("qwen3", tmp_path)
    trace = inspector.record(loaded, TEXT)
    of_head = probe.record_projections(loaded, trace, layer=0).of("query", head=0, position=2)
    norm = next(norm for norm in trace.norms if norm.layer == 0 and norm.placement == "pre")
    assert_close(of_head.input, norm.output[2].astype(np.float64), relative=1e-6)
    weight = loaded.network.get_parameter(of_head.slices[0].name)[:8].double().T.numpy()  # [D, E]
    made = of_head.input @ weight
    gamma = loaded.network.get_submodule("model.layers.0.self_attn.q_norm").weight.double().numpy()
    scale = gamma / np.sqrt(np.square(made).mean() + 1e-6)
    first, second = np.arange(4), np.arange(4, 8)
    angle = 2 / loaded.config.rope_parameters["rope_theta"] ** (np.arange(4) / 4)
    held = weight * scale
    turned = np.concatenate(
        [
            held[:, first] * np.cos(angle) - held[:, second] * np.sin(angle),
            held[:, second] * np.cos(angle) + held[:, first] * np.sin(angle),
        ],
        axis=1,
    )
    assert_close(of_head.weight, turned, relative=1e-5)


def test_what_is_not_followed_is_said(tmp_path: Path) -> None:
    mixed = loaded_family("inkling_text", tmp_path / "mixed")
    trace = inspector.record(mixed, TEXT)
    with pytest.raises(ValueError, match="the vector of a token is made of other tokens' too"):
        probe.record_projections(mixed, trace, layer=0).of("key", head=1, position=4)
    alone = loaded_family("bloom", tmp_path / "alone")
    with pytest.raises(ValueError, match="does its attention by itself"):
        probe.record_projections(alone, inspector.record(alone, TEXT), layer=0)
    other = loaded_family("llama", tmp_path / "other")
    trace = inspector.record(other, TEXT)
    with torch.no_grad():
        other.network.get_parameter("model.layers.0.self_attn.q_proj.weight").mul_(2)
    with pytest.raises(ValueError, match="gives another query than this trace has"):
        probe.record_projections(other, trace, layer=0)
