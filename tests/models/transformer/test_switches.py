"""The effect of each switch on the whole model, with the formula or an independent module beside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from models.attention import fused, watch
from models.attention.functions import DotProductAttention
from models.attention.seam import BLOCK
from models.transformer import Decoder, Encoder, EncoderDecoder, build
from models.transformer.config import TransformerConfig
from models.transformer.initialisation import STANDARD_DEVIATION
from models.transformer.multi_head import MultiHeadAttention
from tests.closeness import assert_close, relative_error

CONFIG = TransformerConfig(vocabulary=60, layers=2, width=24, heads=4, ffn_width=40, max_positions=150)
IDS = torch.randint(60, (2, 11), generator=torch.Generator().manual_seed(0))


def model_of(**changes):
    torch.manual_seed(0)
    return build(replace(CONFIG, **changes)).double().eval()


@torch.no_grad()
def maps(model, *inputs, **named):
    """The weights of every attention call, [B, H, Q, T] each."""
    calls = []
    with watch(calls.append):
        model(*inputs, **named)
    return [weights_of(call) for call in calls]


def weights_of(call):
    rows = slice(0, call.query.shape[2])
    mask = None if call.mask is None else call.mask.rows(rows.start, rows.stop)
    return call.function(call.query, call.key, call.value, mask, rows=rows)[1]


# --- every combination runs ------------------------------------------------------------------------------------------

SCORES = ("dot", "general", "cosine", "additive", "additive_naive")
POSITIONS = ("none", "sinusoidal", "learned", "t5", "shaw", "xl", "rope", "alibi")
POSSIBLE = [
    (score, positions)
    for score, positions in product(SCORES, POSITIONS)
    if not (positions in ("shaw", "xl") and score != "dot")
    and not (positions == "rope" and score not in ("dot", "cosine"))
]


@pytest.mark.parametrize(("score", "positions"), POSSIBLE)
@torch.no_grad()
def test_rows_sum_to_one_and_blocks_equal_the_whole(score, positions, monkeypatch):
    config = {"score": score, "positions": positions, "kv_heads": 2, "shape": "decoder", "relative_distance": 20}
    model = model_of(**config, relative_buckets=8)
    for weights in maps(model, IDS):
        assert_close(weights.sum(-1), torch.ones(2, 4, 11, dtype=torch.float64), relative=1e-12)
        assert (weights.triu(diagonal=1) == 0).all()
    whole = model(IDS)
    monkeypatch.setattr("models.attention.seam.BLOCK", 4)
    assert_close(model(IDS), whole, relative=1e-12)
    assert BLOCK == 128


CHOICES = {
    "norm": ("layer", "rms", "batch", "masked_batch", "none"),
    "norm_placement": ("pre", "post"),
    "activation": ("relu", "gelu", "gelu_tanh", "swiglu", "geglu_tanh"),
    "head_size": ("split", "full", 5),
    "merge": ("concat", "sum"),
    "kv_heads": (None, 1, 2),
    "residual": (True, False),
    "bias": (True, False),
    "initialisation": ("torch", "normal", "xavier"),
    "shared_layers": (True, False),
    "embedding_width": (None, 10),
    "weighting": ("sigmoid", "linear"),
    "scale": ("none", "1/sqrt(d_k)", "1/d_k"),
    "shared_key_value": (True, False),
}


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in CHOICES.items() for value in values])
def test_every_choice_trains_in_every_shape(shape, name, value):
    """Forward, backward, a gradient for each parameter."""
    torch.manual_seed(0)
    model = build(replace(CONFIG, shape=shape, dropout=0.1, attention_dropout=0.1, **{name: value})).train()
    keep = torch.ones_like(IDS, dtype=torch.bool)
    keep[1, 8:] = False
    if isinstance(model, EncoderDecoder):
        hidden = model.logits(model(IDS, IDS[:, :7], source_keep=keep))
    else:
        hidden = model(IDS, keep=keep)
        hidden = hidden if isinstance(model, Encoder) else model.logits(hidden)
    (hidden * torch.randn_like(hidden)).sum().backward()
    assert hidden.isfinite().all()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []


# --- heads -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_groups_of_one_head_are_multi_head_attention():
    plain = model_of()
    grouped = model_of(kv_heads=4)
    assert_close(grouped(IDS), plain(IDS), relative=0)


@pytest.mark.parametrize("kv_heads", [1, 2])
@torch.no_grad()
def test_grouped_queries_are_heads_whose_keys_and_values_repeat(kv_heads):
    """W_K and W_V of ordinary heads, with the rows of each group's one kv head repeated: torch's own module."""
    torch.manual_seed(1)
    own = MultiHeadAttention.of(replace(CONFIG, kv_heads=kv_heads), stream="encoder").double()
    reference = nn.MultiheadAttention(24, 4, batch_first=True, dtype=torch.float64)
    repeated = [
        torch.cat([part.view(kv_heads, 6, -1).repeat_interleave(4 // kv_heads, dim=0).flatten(0, 1) for part in parts])
        for parts in ([own.key.weight], [own.value.weight], [own.key.bias[:, None]], [own.value.bias[:, None]])
    ]
    reference.in_proj_weight.copy_(torch.cat([own.query.weight, *repeated[:2]]))
    reference.in_proj_bias.copy_(torch.cat([own.query.bias, *(bias[:, 0] for bias in repeated[2:])]))
    reference.out_proj.load_state_dict(own.out.state_dict())
    x = torch.randn(2, 9, 24, dtype=torch.float64)
    expected = reference(x, x, x, need_weights=False)[0]
    assert_close(own(x), expected, relative=1e-12)
    with fused():
        assert_close(own(x), expected, relative=1e-12)


@torch.no_grad()
def test_a_plain_sum_forgets_which_head_spoke_and_concatenation_does_not():
    x = torch.randn(1, 5, 24, dtype=torch.float64)
    for merge, forgets in (("sum", True), ("concat", False)):
        attention = MultiHeadAttention.of(replace(CONFIG, merge=merge, heads=2), stream="encoder").double()
        before = attention(x)
        for linear in (attention.query, attention.key, attention.value):  # the two heads change places
            linear.weight.copy_(linear.weight.roll(12, dims=0))
            linear.bias.copy_(linear.bias.roll(12))
        assert (relative_error(attention(x), before) < 1e-12) == forgets


@torch.no_grad()
def test_the_sum_of_heads_has_the_rank_of_one():
    ranks = {}
    for merge in ("sum", "concat"):
        attention = MultiHeadAttention.of(replace(CONFIG, merge=merge, bias=False), stream="encoder").double()
        ranks[merge] = int(torch.linalg.matrix_rank(attention(torch.randn(1, 100, 24, dtype=torch.float64))[0]))
    assert ranks == {"sum": 6, "concat": 24}


@torch.no_grad()
def test_without_projections_attention_is_softmax_of_x_with_itself():
    attention = MultiHeadAttention.of(replace(CONFIG, projections=False, heads=1), stream="encoder")
    assert list(attention.parameters()) == []
    x = torch.randn(7, 24, dtype=torch.float64)
    scores = x.numpy() @ x.numpy().T / np.sqrt(24)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_close(attention(x[None])[0].numpy(), weights @ x.numpy(), relative=1e-12)


@torch.no_grad()
def test_shared_query_and_key_give_symmetric_scores_but_not_symmetric_weights():
    attention = MultiHeadAttention.of(replace(CONFIG, shared_query_key=True), stream="encoder").double()
    assert attention.key is attention.query
    (weights,) = maps(attention, torch.randn(1, 9, 24, dtype=torch.float64))
    scores = weights.log()  # up to a number for each row, which centring takes away
    centred = scores - scores.mean(dim=-1, keepdim=True) - scores.mean(dim=-2, keepdim=True)
    assert_close(centred, centred.mT, relative=1e-10)
    assert (weights - weights.mT).abs().max() > 1e-3


def test_shared_matrices_are_one_parameter():
    counts = {}
    for name in ("shared_query_key", "shared_key_value", "nothing"):
        config = CONFIG if name == "nothing" else replace(CONFIG, **{name: True})
        counts[name] = sum(p.numel() for p in Encoder(config).parameters())
    assert counts["nothing"] - counts["shared_query_key"] == counts["nothing"] - counts["shared_key_value"]
    assert counts["nothing"] - counts["shared_query_key"] == 2 * 24 * 25
    one = sum(p.numel() for p in Encoder(replace(CONFIG, layers=1)).parameters())
    assert sum(p.numel() for p in Encoder(replace(CONFIG, layers=9, shared_layers=True)).parameters()) == one


@pytest.mark.parametrize(("scale", "factor"), [("none", 1.0), ("1/sqrt(d_k)", 6**-0.5), ("1/d_k", 1 / 6)])
def test_the_scale_is_the_factor_of_the_function(scale, factor):
    attention = MultiHeadAttention.of(replace(CONFIG, scale=scale), stream="encoder")
    assert attention.function(bias=None, offset=0, keys=1) == DotProductAttention(pytest.approx(factor))


# --- masks -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_packed_texts_equal_separate_ones():
    """Three texts in one row, with positions that begin anew in each, for every way to tell positions."""
    lengths = [5, 1, 7]
    parts = [torch.randint(60, (1, n)) for n in lengths]
    texts = torch.repeat_interleave(torch.arange(3), torch.tensor(lengths))[None]
    for positions in POSITIONS:
        encoder = model_of(positions=positions)
        packed = encoder(torch.cat(parts, dim=1), texts=texts)
        separate = torch.cat([encoder(part) for part in parts], dim=1)
        assert_close(packed, separate, relative=1e-12)


@torch.no_grad()
def test_a_window_hides_what_is_far():
    for shape, width in product(("encoder", "decoder"), (1, 3, 100)):
        for weights in maps(model_of(shape=shape, window=width), IDS):
            ahead = torch.arange(11) - torch.arange(11)[:, None]
            seen = (ahead.abs() < width) & ((ahead <= 0) | (shape == "encoder"))
            assert ((weights > 0) == seen).all()


@torch.no_grad()
def test_only_minus_infinity_masks_without_a_leak():
    """Padding of 3 in 11 tokens: its share of the attention, by how it is filled."""
    keep = torch.ones_like(IDS, dtype=torch.bool)
    keep[:, 8:] = False
    leak = {}
    for fill, first in product((-torch.inf, -1e9, -10.0, "zero"), (False, True)):
        model = model_of(mask_fill=fill, mask_before_scale=first)
        leak[fill, first] = max(float(weights[..., 8:].sum(-1).max()) for weights in maps(model, IDS, keep=keep))
    assert leak[-torch.inf, False] == leak[-torch.inf, True] == leak[-1e9, False] == 0
    assert 0 < leak[-10.0, False] < 1e-3 < leak[-10.0, True]  # scaled after, -10 is but -10 / sqrt(6)
    assert leak["zero", False] > 0.1


# --- positions -------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_without_positions_an_encoder_does_not_know_the_order():
    order = torch.randperm(11)
    encoder = model_of(positions="none")
    assert_close(encoder(IDS[:, order]), encoder(IDS)[:, order], relative=1e-12)
    for positions in POSITIONS[1:]:
        encoder = model_of(positions=positions)
        assert (encoder(IDS[:, order]) - encoder(IDS)[:, order]).abs().max() > 1e-2
    decoder = model_of(positions="none", shape="decoder")  # a causal mask tells the order too (Haviv et al. 2022)
    assert (decoder(IDS[:, order]) - decoder(IDS)[:, order]).abs().max() > 1e-2


@torch.no_grad()
def test_relative_positions_see_distances_alone():
    """Two tokens more before the text: with distances alone, a window's maps move along unchanged."""
    ids = torch.full((1, 30), 7)  # equal tokens, so that positions alone tell them apart
    for positions in ("t5", "shaw", "xl", "rope", "alibi"):
        weights = maps(model_of(positions=positions, shape="decoder", window=6), ids)[0]
        assert_close(weights[..., 10:20, 5:20], weights[..., 12:22, 7:22], relative=1e-12)
    for positions in ("sinusoidal", "learned"):
        weights = maps(model_of(positions=positions, shape="decoder", window=6), ids)[0]
        assert (weights[..., 10:20, 5:20] - weights[..., 12:22, 7:22]).abs().max() > 1e-3


@torch.no_grad()
def test_only_a_table_limits_the_length_of_a_text():
    ids = torch.zeros(1, 160, dtype=torch.long)
    for positions in POSITIONS:
        encoder = model_of(positions=positions)
        if positions in ("sinusoidal", "learned"):
            with pytest.raises(ValueError, match="the text has 160 tokens, the model has 150 positions"):
                encoder(ids)
        else:
            assert encoder(ids).shape == (1, 160, 24)


@torch.no_grad()
def test_the_embedding_is_multiplied_by_the_root_of_the_width():
    embedding = model_of(embedding_scale=True, positions="none").embedding
    assert_close(embedding(IDS), embedding.token.weight[IDS] * 24**0.5, relative=0)
    assert float(embedding(torch.arange(60)[None]).std()) == pytest.approx(1, abs=0.1)


# --- the rest --------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_without_residual_tokens_become_alike():
    """Rank collapse (Dong et al. 2021): mean correlation of the tokens after 12 layers."""
    collapsed, kept = (
        float(torch.corrcoef(model_of(layers=12, norm_placement="pre", residual=residual)(IDS)[0]).mean())
        for residual in (False, True)
    )
    assert collapsed > 0.99
    assert kept < 0.8


def test_initialisations_have_their_spread():
    spread = {}
    for name in ("torch", "normal", "xavier"):
        torch.manual_seed(0)
        encoder = Encoder(replace(CONFIG, width=256, ffn_width=512, initialisation=name))
        spread[name] = float(encoder.layers[0].ffn.up.weight.detach().std())
        assert (float(encoder.layers[0].ffn.up.bias.detach().abs().max()) == 0) == (name != "torch")
    expected = {"torch": (3 * 256) ** -0.5, "normal": STANDARD_DEVIATION, "xavier": (2 / (256 + 512)) ** 0.5}
    assert spread == {name: pytest.approx(value, rel=0.02) for name, value in expected.items()}


def test_learned_positions_start_as_small_as_the_tokens():
    encoder = Encoder(replace(CONFIG, width=256, positions="learned", initialisation="normal"))
    for table in (encoder.embedding.positions.table, encoder.embedding.token.weight):
        assert float(table.detach().std()) == pytest.approx(STANDARD_DEVIATION, rel=0.05)


def test_dropout_is_on_in_training_and_off_in_eval():
    torch.manual_seed(0)
    model = Decoder(replace(CONFIG, shape="decoder", dropout=0.3, attention_dropout=0.3, score="general"))
    assert not torch.equal(model(IDS), model(IDS))
    model.eval()
    assert torch.equal(model(IDS), model(IDS))
    plain = Decoder(replace(model.config, dropout=0.0, attention_dropout=0.0)).eval()
    plain.load_state_dict(model.state_dict())
    assert torch.equal(plain(IDS), model(IDS))


def test_a_batch_of_one_token_has_no_batch_norm():
    encoder = Encoder(replace(CONFIG, norm="batch"))
    with pytest.raises(ValueError, match="BatchNorm over 1 token"):
        encoder(IDS[:1, :1])


@torch.no_grad()
def test_masked_batch_norm_gives_a_padded_text_what_it_has_alone():
    keep = torch.ones_like(IDS, dtype=torch.bool)
    keep[1, 5:] = False
    hidden = {}
    for norm in ("masked_batch", "batch"):
        encoder = model_of(norm=norm).train()
        other = IDS.masked_fill(~keep, 3)
        hidden[norm] = float((encoder(IDS, keep=keep) - encoder(other, keep=keep))[keep].abs().max())
    assert hidden["masked_batch"] < 1e-12
    assert hidden["batch"] > 1e-3
