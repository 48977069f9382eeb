"""Gradients into W_Q, W_K and W_V against autograd of torch's own encoder, and those of a saturated softmax."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from torch import nn

from inspector.interventions import gradients
from models import LoadedModel
from models.transformer import Encoder
from models.transformer.blocks import EncoderBlock
from tests.inspector.views.page import EXAMPLE
from tests.models.own_models import own


def torch_block(block: EncoderBlock, *, times: float) -> nn.TransformerEncoderLayer:
    """Build torch's layer with the block's weights; its scores are `times` as large, for W_Q and b_Q are."""
    attention, width = block.attention, block.attention.out.weight.shape[0]
    layer = nn.TransformerEncoderLayer(width, 4, 256, dropout=0.0, batch_first=True, dtype=torch.float64)
    parts = [(attention.query, times), (attention.key, 1.0), (attention.value, 1.0)]
    state = {
        "self_attn.in_proj_weight": torch.cat([part.weight * by for part, by in parts]),
        "self_attn.in_proj_bias": torch.cat([part.bias * by for part, by in parts]),
        **{f"self_attn.out_proj.{name}": tensor for name, tensor in attention.out.state_dict().items()},
        **{f"linear1.{name}": tensor for name, tensor in block.ffn.up.state_dict().items()},
        **{f"linear2.{name}": tensor for name, tensor in block.ffn.down.state_dict().items()},
    }
    for name, norm in (("norm1", block.attention_norm), ("norm2", block.ffn_norm)):
        state |= {f"{name}.weight": norm.gamma, f"{name}.bias": norm.beta}
    layer.load_state_dict(state)
    return layer.eval()


@pytest.mark.parametrize("factor", [0.25, 1.0, 1 / 16])
def test_every_gradient_is_that_of_torch_s_multi_head_attention(factor: float) -> None:
    loaded = own("encoder")  # 2 layers of 4 heads with d_k = 16, post-norm
    before = {name: tensor.clone() for name, tensor in loaded.network.state_dict().items()}
    encoding = loaded.encode(EXAMPLE)
    found = gradients.measure(gradients.prepare(loaded, EXAMPLE), factor=factor)
    network = loaded.network
    assert isinstance(network, Encoder)
    times = factor / 16**-0.5
    layers = [torch_block(block.double(), times=times) for block in network.layers]
    x = network.embedding.double()(torch.tensor([encoding.ids]))
    for layer in layers:
        x = layer(x)
    direction = torch.randn(64, generator=torch.Generator().manual_seed(0), dtype=torch.float64) / 8
    value = (x[0] @ direction).mean()
    weights = [layer.self_attn.in_proj_weight for layer in layers]
    expected = torch.autograd.grad(value, weights)
    assert found["value"].to_numpy() == pytest.approx(float(value.detach()), rel=1e-9)
    assert len(found) == 2 * 3 * (4 + 1)
    for row in found.itertuples():
        whole = expected[row.layer].chunk(3)["qkv".index(row.matrix)]
        whole = times * whole if row.matrix == "q" else whole
        part = whole if row.head is pd.NA else whole[16 * row.head : 16 * row.head + 16]
        sizes = part.abs()
        assert (row.norm, row.mean, row.median) == pytest.approx(
            (float(part.norm()), float(sizes.mean()), float(sizes.median())), rel=1e-9
        )
    network.float()
    now = network.state_dict()
    assert all(torch.equal(now[name], tensor) for name, tensor in before.items())
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_a_saturated_softmax_starves_w_q_and_not_w_v() -> None:
    """Claim 24, on two untrained causal layers, d_k = 16: factors 1/4 and 10,000, medians over a matrix's entries."""
    loaded = own("decoder", initialisation="torch")
    prepared = gradients.prepare(loaded, EXAMPLE)
    assert prepared.about.scalar == "next token"
    table = gradients.sweep(prepared, (prepared.about.scale, 1e4))
    whole = table[table["head"].isna()]
    usual, steep = (
        whole[whole["factor"] == factor].set_index(["layer", "matrix"]) for factor in (prepared.about.scale, 1e4)
    )
    assert (steep["largest"].dropna() > 0.99).all()
    for layer in (0, 1):
        assert steep.loc[(layer, "q"), "median"] < 1e-3 * usual.loc[(layer, "q"), "median"]
        assert steep.loc[(layer, "v"), "median"] > 0.1 * usual.loc[(layer, "v"), "median"]


def test_each_kind_of_model_has_its_scalar(minilm: LoadedModel) -> None:
    pair = gradients.prepare(own("encoder-decoder"), EXAMPLE, target="A cat.")
    table = gradients.measure(pair, factor=pair.about.scale)
    assert set(table["stream"]) == {"encoder", "decoder", "cross"}
    assert pair.about.scalar == "next token"
    shared = gradients.prepare(own("decoder", kv_heads=2, shared_query_key=False), EXAMPLE)
    counts = (
        gradients.measure(shared, factor=1.0).query("layer == 0 and head.notna()").groupby("matrix")["head"].count()
    )
    assert counts.to_dict() == {"q": 4, "k": 2, "v": 2}
    tied = gradients.measure(gradients.prepare(own("decoder", shared_query_key=True), EXAMPLE), factor=1.0)
    assert set(tied["matrix"]) == {"q", "v"}
    whole = gradients.measure(gradients.prepare(minilm, "A cat sat."), factor=32**-0.5)
    assert (whole["norm"] > 0).all()
    assert len(whole) == 6 * 3 * 13


def test_what_has_no_gradients_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no W_Q, W_K or W_V"):
        gradients.prepare(own("encoder", projections=False), EXAMPLE)
    with pytest.raises(ValueError, match="by a sigmoid function and not by a softmax"):
        gradients.prepare(own("encoder", weighting="sigmoid"), EXAMPLE)
    monkeypatch.setattr(gradients, "MOST_TOKENS", 8)
    with pytest.raises(ValueError, match="has 13 tokens; gradients are taken of up to 8: shorten it"):
        gradients.prepare(own("encoder"), EXAMPLE)


def test_factors_are_the_models_own_those_with_a_name_and_powers_of_four() -> None:
    about = gradients.GradientScalar("direction", 0, scale=0.125, width=64)
    powers = [0.125 * 4.0**power for power in (-2, -1, 1, 2, 3, 4)]
    assert set(about.factors) == {0.125, 1.0, 1 / 64, *powers}
    assert about.factors[0] == 0.125
