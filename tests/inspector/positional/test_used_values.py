"""RoPE's turns, ALiBi's slopes and T5's biases are those that transformers' own model uses when it reads a text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import positional
from inspector.positional.rotations import _pairs
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, Family, reference, save

FAMILIES = {family.name: family for family in CAPTURED}
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
    Family("esm", "", {"mask_token_id": 4, "position_embedding_type": "rotary"}),
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
    assert_close(found.cos, cos[:, :pairs], relative=1e-6)
    assert_close(found.sin, sin[:, :pairs], relative=1e-6)
    inverse = rotary.inv_freq.double().numpy()
    assert_close(found.frequencies, inverse, relative=1e-5)
    assert found.factor == pytest.approx(rotary.attention_scaling, rel=1e-6)
    assert (found.factor > 1.001) == (_kind(family) == "yarn")  # YaRN stretches: no pure rotation
    expected = [np.cos(k * inverse).mean() * rotary.attention_scaling**2 for k in range(12)]
    assert_close(found.decay(), expected, relative=1e-5)
    assert found.spread(distance=3) < 1e-5


def _kind(family: Family) -> str:
    return str(family.sizes.get("rope_parameters", {}).get("rope_type", "default"))


@pytest.mark.parametrize("name", ["gptj", "codegen", "roformer"])
def test_turns_of_a_table_are_those_of_the_paper(name: str, tmp_path: Path) -> None:
    save(Family(name, "", {} if name == "roformer" else {"rotary_dim": 4}), tmp_path)
    (found,) = positional.rotations(models.load(tmp_path), positions=100)  # their tables have 64 rows
    pairs = 4 if name == "roformer" else 2
    angles = np.arange(64)[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    assert_close(found.cos, np.cos(angles), relative=1e-5)
    assert_close(found.sin, np.sin(angles), relative=1e-5)


BIASED = [
    Family("falcon", "", {"alibi": True, "head_dim": None}),
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
        assert_close(values, expected, relative=1e-5)
        if bias.kind == "alibi":
            assert_close(bias.values, bias.slopes[:, None] * np.minimum(bias.distances, 0), relative=1e-6)
        else:
            assert bias.table is not None
            assert bias.buckets is not None
            np.testing.assert_array_equal(bias.values, bias.table[bias.buckets].T)


@pytest.mark.parametrize("name", ["deberta", "deberta-v2", "xlnet", "inkling_text"])
@torch.no_grad()
def test_vectors_of_distances_are_those_that_transformers_own_modules_multiply_with(name: str, tmp_path: Path) -> None:
    """A query meets the vector of each key's distance: transformers' own product, against numpy's with what is told."""
    told = {"deberta": {"pos_att_type": ["c2p"]}, "deberta-v2": {"pos_att_type": ["c2p"], "position_buckets": 8}}
    sizes = {"relative_attention": True, **told[name]} if name in told else dict(FAMILIES[name].sizes)
    save(Family(name, "", sizes), tmp_path)
    own, tokens = reference(tmp_path), 12
    ids = torch.arange(3, 3 + tokens)[None]
    (found, *others) = positional.vectors(models.load(tmp_path), reach=tokens - 1)
    assert not others
    assert (found.meets, found.layers) == ("queries", 2 if name == "inkling_text" else 1)
    torch.manual_seed(0)
    if name == "xlnet":
        layer, seen = own.transformer.layer[0].rel_attn, []
        layer.register_forward_pre_hook(
            lambda module, given, named: seen.append((*given, *named.values())), with_kwargs=True
        )
        own(ids)
        rows = next(one for one in seen[0] if isinstance(one, torch.Tensor) and one.shape[0] == 2 * tokens)
        query = torch.randn(tokens, 1, 1, rows.shape[-1])
        met = layer.rel_shift_bnij(torch.einsum("ibnd,jbnd->bnij", query, rows[:, :, None]), klen=tokens)[0, 0]
        query = query[:, 0, 0]
    elif name == "inkling_text":
        module = next(module for module in own.modules() if hasattr(module, "rel_extent") and hasattr(module, "q_proj"))
        query, places = torch.randn(tokens, module.rel_logits_proj.proj.shape[0]), torch.arange(tokens)
        met = module.rel_logits_proj(query[None, :, None], places, places)[0, 0]
    else:
        encoder = own.base_model.encoder
        module, relative = encoder.layer[0].attention.self, encoder.get_rel_pos(torch.zeros(1, tokens, 1))
        asked, key = torch.randn(4, tokens, 8), torch.zeros(4, tokens, 8)
        if name == "deberta":
            met = module.disentangled_att_bias(asked[None], key[None], relative, encoder.get_rel_embedding(), 2)[0, 0]
            query = asked[0] @ module.pos_proj.weight[:8]
        else:
            met = module.disentangled_attention_bias(asked, key, relative, encoder.get_rel_embedding(), 2)[0] * 4
            query = asked[0] @ module.pos_key_proj.weight[:8]
            met = met - (asked[0] @ module.pos_key_proj.bias[:8])[:, None]
    row, column = np.tril_indices(tokens) if name == "inkling_text" else np.indices((tokens, tokens)).reshape(2, -1)
    vectors = found.values[column - row + tokens - 1].astype(np.float64)
    made, expected = (query.double().numpy()[row] * vectors).sum(axis=1), met.double().numpy()[row, column]
    assert_close(made, expected, relative=1e-5)


@pytest.mark.parametrize("positions", ["rope", "alibi", "t5", "shaw", "xl", "none"])
def test_the_own_transformer_tells_its_values(positions: str, minilm: models.LoadedModel) -> None:
    torch.manual_seed(0)
    sizes = {"vocabulary": 30522, "layers": 1, "width": 24, "heads": 2, "ffn_width": 32, "max_positions": 40}
    network = Encoder(TransformerConfig(**sizes, positions=positions)).eval().requires_grad_(False)
    loaded = own_model(minilm.card, network, minilm.tokenizer, max_tokens=40)
    turned, biases = positional.rotations(loaded, positions=9), positional.biases(loaded, reach=200)
    if positions == "rope":
        expected = 10000.0 ** -(np.arange(0, 12, 2) / 12)
        assert_close(turned[0].frequencies, expected, relative=1e-5)
        assert_close(turned[0].wavelengths, 2 * np.pi / expected, relative=1e-5)
    assert len(turned) == (positions == "rope")
    vectors = positional.vectors(loaded, reach=200)
    assert [one.meets for one in vectors] == ({"shaw": ["queries", "values"], "xl": ["queries"]}.get(positions, []))
    for one in vectors:
        if one.kind == "xl":  # a query's own way to the distances, without its key and its vector u
            function = network.layers[0].attention.function(bias=None, offset=0, keys=201).score
            alone = replace(function, content=torch.zeros(2, 12), place=torch.zeros(2, 12))
            query = torch.randn(1, 2, 201, 12)
            met = alone(query, torch.zeros_like(query), slice(0, 201))[0]
            far = torch.from_numpy(one.values[200 - 7]).view(2, 12)  # 7 back
            assert_close(met[:, 50, 43], (query[0, :, 50] * far).sum(dim=-1), relative=1e-5)
            assert one.farthest is None
            continue
        module = next(module for module in network.modules() if hasattr(module, "key_distances"))
        table = module.key_distances if one.meets == "queries" else module.value_distances
        farthest = len(table) // 2
        assert one.farthest == farthest
        np.testing.assert_array_equal(one.values[200 - 3], table[farthest - 3].numpy())
        np.testing.assert_array_equal(one.values[-1], table[-1].numpy())
    assert [one.kind for one in biases] == ([positions] if positions in ("alibi", "t5") else [])
    if positions == "t5":  # 32 buckets: 16 a side, 8 of them for one distance each, the last from about 91 tokens on
        assert biases[0].buckets is not None
        assert biases[0].farthest == int(-biases[0].distances[biases[0].buckets == 15].max())


def test_what_cannot_be_asked_is_said(minilm: models.LoadedModel) -> None:
    with pytest.raises(ValueError, match="positions is 1"):
        positional.rotations(minilm, positions=1)
    with pytest.raises(ValueError, match="reach is 0"):
        positional.biases(minilm, reach=0)
    with pytest.raises(ValueError, match="reach is 0"):
        positional.vectors(minilm, reach=0)
    assert positional.rotations(minilm, positions=4) == positional.biases(minilm, reach=4) == ()
    assert positional.vectors(minilm, reach=4) == ()


def test_each_pair_is_kept_once_however_a_module_lays_it_out() -> None:
    angle = np.outer(np.arange(6), 10000.0 ** (-np.arange(4) / 4)).astype(np.float32)
    cos, sin = np.cos(angle), np.sin(angle)
    for lay in (lambda one: one, lambda one: np.tile(one, 2), lambda one: one.repeat(2, axis=1)):
        found = _pairs(lay(cos), lay(sin))
        np.testing.assert_array_equal(found[0], cos)
        np.testing.assert_array_equal(found[1], sin)


@torch.no_grad()
def test_distances_beyond_debertas_table_have_its_last_vectors(tmp_path: Path) -> None:
    sizes = {"relative_attention": True, "pos_att_type": ["c2p"], "max_relative_positions": 6}
    save(Family("deberta", "", sizes), tmp_path)
    tokens, (found,) = 12, positional.vectors(models.load(tmp_path), reach=11)
    table = reference(tmp_path).base_model.encoder.get_rel_embedding()  # [12, D], query less key from -6 to 5
    behind = np.arange(1 - tokens, tokens)[::-1]  # query less key, where distances are key less query
    np.testing.assert_array_equal(found.values, table[np.clip(behind, -6, 5) + 6].numpy())
