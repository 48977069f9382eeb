"""RoPE's turns, ALiBi's slopes and T5's biases are those that transformers' own model uses when it reads a text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import positional
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.inspector.probe.families import Family, reference, save

BASE = {"rope_theta": 10000.0}
SCALED: dict[str, dict[str, Any]] = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 16},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
}
TURNED = [
    *(Family(name, "") for name in ("llama", "qwen3", "gpt_neox")),
    *(
        Family(
            "llama",
            "",
            {"rope_parameters": {"rope_type": kind} | BASE | given, "max_position_embeddings": 8, "head_dim": 16},
        )
        for kind, given in SCALED.items()
    ),
]


@pytest.mark.parametrize("family", TURNED, ids=lambda one: "-".join([one.name, *map(str, one.sizes and [_kind(one)])]))
def test_turns_are_those_that_a_hook_sees_in_transformers_own_model(family: Family, tmp_path: Path) -> None:
    save(family, tmp_path)
    own, seen = reference(tmp_path), []
    rotary = next(module for module in own.modules() if hasattr(module, "inv_freq"))
    rotary.register_forward_hook(lambda module, given, out: seen.append(out))
    ids = torch.arange(3, 15)[None]
    with torch.no_grad():
        own(ids)
    cos, sin = (one[0].numpy() for one in seen[0])
    (found,) = positional.rotations(models.load(tmp_path), positions=12)
    pairs = cos.shape[1] // 2
    assert found.variant == (_kind(family) if family.sizes else "default")
    np.testing.assert_allclose(found.cos, cos[:, :pairs], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.sin, sin[:, :pairs], rtol=0, atol=1e-6)
    inverse = rotary.inv_freq.double().numpy()
    np.testing.assert_allclose(found.frequencies, inverse, rtol=1e-5)
    assert found.factor == pytest.approx(rotary.attention_scaling, rel=1e-6)
    assert (found.factor > 1.001) == (_kind(family) == "yarn")  # YaRN stretches: no pure rotation
    expected = [np.cos(k * inverse).mean() * rotary.attention_scaling**2 for k in range(12)]
    np.testing.assert_allclose(found.decay(), expected, rtol=0, atol=1e-5)
    assert found.spread(distance=3) < 1e-5


def _kind(family: Family) -> str:
    return str(family.sizes.get("rope_parameters", {}).get("rope_type", "default"))


BIASED = [
    Family("bloom", ""),
    Family("mpt", ""),
    Family("t5", "", {"decoder_start_token_id": 0}),
]


@pytest.mark.parametrize("family", BIASED, ids=lambda one: one.name)
def test_biases_are_all_that_transformers_own_model_has_where_no_query_asks(family: Family, tmp_path: Path) -> None:
    """A weight is e to its bias, over the sum, where the matrices of queries are 0: so it is ln A_ij - ln A_ii."""
    save(family, tmp_path)
    own, tokens = reference(tmp_path), 12
    for name, parameter in own.named_parameters():
        if re.search(r"query_key_value|Wqkv|SelfAttention\.q\.", name):
            parameter.data.zero_()
    ids = torch.arange(3, 3 + tokens)[None]
    with torch.no_grad():
        out = own(ids, output_attentions=True, **({"decoder_input_ids": ids} if family.name == "t5" else {}))
    found = positional.biases(models.load(tmp_path), reach=tokens - 1)
    assert {one.stream for one in found} == ({"encoder", "decoder"} if family.name == "t5" else {"decoder"})
    row, column = np.tril_indices(tokens)
    for bias in found:
        maps = out[f"{bias.stream}_attentions" if family.name == "t5" else "attentions"][0][0].double().numpy()
        expected = np.log(maps[:, row, column]) - np.log(maps[:, row, row])
        values = bias.values[:, column - row + tokens - 1] - bias.values[:, [tokens - 1]]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        if bias.kind == "alibi":
            np.testing.assert_allclose(bias.values, bias.slopes[:, None] * np.minimum(bias.distances, 0), rtol=1e-6)
        else:
            assert bias.table is not None
            assert bias.buckets is not None
            np.testing.assert_array_equal(bias.values, bias.table[bias.buckets].T)


@pytest.mark.parametrize("positions", ["rope", "alibi", "t5", "none"])
def test_the_own_transformer_tells_its_values(positions: str, minilm: models.LoadedModel) -> None:
    torch.manual_seed(0)
    sizes = {"vocabulary": 30522, "layers": 1, "width": 24, "heads": 2, "ffn_width": 32, "max_positions": 40}
    network = Encoder(TransformerConfig(**sizes, positions=positions)).eval().requires_grad_(False)
    loaded = own_model(minilm.card, network, minilm.tokenizer, max_tokens=40)
    turned, biases = positional.rotations(loaded, positions=9), positional.biases(loaded, reach=200)
    if positions == "rope":
        expected = 10000.0 ** -(np.arange(0, 12, 2) / 12)
        np.testing.assert_allclose(turned[0].frequencies, expected, rtol=1e-5)
        np.testing.assert_allclose(turned[0].wavelengths, 2 * np.pi / expected, rtol=1e-5)
    assert len(turned) == (positions == "rope")
    assert [one.kind for one in biases] == ([positions] if positions in ("alibi", "t5") else [])
    if positions == "t5":  # 32 buckets: 16 a side, 8 of them for one distance each, the last from about 91 tokens on
        assert biases[0].buckets is not None
        assert biases[0].farthest == int(-biases[0].distances[biases[0].buckets == 15].max())


def test_what_cannot_be_asked_is_said(minilm: models.LoadedModel) -> None:
    with pytest.raises(ValueError, match="positions is 1"):
        positional.rotations(minilm, positions=1)
    with pytest.raises(ValueError, match="reach is 0"):
        positional.biases(minilm, reach=0)
    assert positional.rotations(minilm, positions=4) == positional.biases(minilm, reach=4) == ()
