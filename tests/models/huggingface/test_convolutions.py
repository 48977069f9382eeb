"""Convolutions over tokens in layers of attention, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import models
from models.huggingface.convolutions import Convolution, convolutions
from tests.inspector.probe.families import CAPTURED, save

FAMILIES = {family.name: family for family in CAPTURED}
SHORT = ("self_attn.k_sconv.conv1d", "self_attn.v_sconv.conv1d", "attn_sconv.conv1d", "mlp_sconv.conv1d")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("convbert", {"attention.self.key_conv_attn_layer.depthwise": 9}),
        ("inkling_text", dict.fromkeys(SHORT, 4)),
        ("zaya", {"self_attn.qkv_proj.conv_qk_depthwise": 2, "self_attn.qkv_proj.conv_qk_grouped": 2}),
        ("squeezebert", {}),  # convolutions of one token: matrix products
    ],
)
def test_the_convolutions_of_each_layer_have_names(name: str, parts: dict[str, int], tmp_path: Path) -> None:
    save(FAMILIES[name], tmp_path)
    every = convolutions(models.load(tmp_path).network)
    assert every == tuple(Convolution(layer, part, tokens) for layer in (0, 1) for part, tokens in parts.items())


def test_what_reads_sound_is_no_layer_of_the_text(tmp_path: Path) -> None:
    save(FAMILIES["phi4_multimodal"], tmp_path)
    assert not convolutions(models.load(tmp_path).network)
