"""Gradients of loaded models against autograd of torch.nn and transformers, the residual's ways against Jacobians."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import BertModel

import inspector
import models
from inspector.distance import reach, residual
from models import LoadedModel
from models.transformer.blocks import DecoderBlock, EncoderBlock
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, reference, save
from tests.inspector.views.page import EXAMPLE
from tests.models.own_models import own

Shipped = Callable[[str], LoadedModel]
PLACEMENTS = {"post": {}, "pre": {"norm_placement": "pre", "final_norm": True}}

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # torch, of its own pre-norm encoder


@torch.no_grad()
def uneven(loaded: LoadedModel) -> LoadedModel:
    """Give every norm gammas that differ: with equal ones the sum of a LayerNorm's output is constant."""
    generator = torch.Generator().manual_seed(1)
    for name, parameter in loaded.network.named_parameters():
        if name.endswith("gamma"):
            parameter.copy_(1 + 0.3 * torch.randn(parameter.shape, generator=generator))
    return loaded


@torch.no_grad()
def torch_layer(block: EncoderBlock, *, norm_first: bool) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
    """Build torch's layer with the block's weights, in float64."""
    width, hidden = block.attention.out.weight.shape[0], block.ffn.up.weight.shape[0]
    built = nn.TransformerDecoderLayer if isinstance(block, DecoderBlock) else nn.TransformerEncoderLayer
    layer = built(width, 4, hidden, dropout=0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
    attentions = [(block.attention, layer.self_attn)]
    norms = [block.attention_norm, block.ffn_norm]
    if isinstance(block, DecoderBlock):
        attentions.append((block.cross_attention, layer.multihead_attn))
        norms.insert(1, block.cross_norm)
    for ours, theirs in attentions:
        parts = (ours.query, ours.key, ours.value)
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.load_state_dict(ours.out.state_dict())
    layer.linear1.load_state_dict(block.ffn.up.state_dict())
    layer.linear2.load_state_dict(block.ffn.down.state_dict())
    for number, norm in enumerate(norms, start=1):
        theirs = getattr(layer, f"norm{number}")
        theirs.weight.copy_(norm.gamma)
        theirs.bias.copy_(norm.beta)
    return layer.eval()


def final(stack: nn.Module, x: Tensor) -> Tensor:
    norm = stack.final_norm
    return x if norm is None else nn.functional.layer_norm(x, norm.gamma.shape, norm.gamma, norm.beta, norm.epsilon)


def norms(value: Tensor, states: list[Tensor]) -> NDArray[np.float64]:
    """||d value / dx_t|| by state and token, where all states have as many tokens."""
    return torch.stack([gradient[0].norm(dim=-1) for gradient in torch.autograd.grad(value, states)]).numpy()


def found_norms(table: pd.DataFrame, scalar: str, stream: str) -> NDArray[np.float64]:
    rows = table[(table["scalar"] == scalar) & (table["stream"] == stream)]
    return rows.pivot_table(index="layer", columns="position", values="norm").to_numpy()


def direction(width: int) -> Tensor:
    return torch.randn(width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("placement", list(PLACEMENTS))
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_gradients_are_those_of_torch_s_transformer(shape: str, placement: str) -> None:
    loaded = uneven(own(shape, **PLACEMENTS[placement]))
    before = {name: tensor.clone() for name, tensor in loaded.network.state_dict().items()}
    target = "It was a cat." if shape == "encoder-decoder" else None
    trace = inspector.record(loaded, EXAMPLE, target=target)
    position = len(trace.hidden) - 2
    table = reach.measure(reach.copy_of(loaded, trace), position=position)
    assert all(torch.equal(before[name], tensor) for name, tensor in loaded.network.state_dict().items())
    assert all(not parameter.requires_grad for parameter in loaded.network.parameters())

    network, norm_first = copy.deepcopy(loaded.network).double(), placement == "pre"
    states: dict[str, list[Tensor]] = {}

    def run(stack: nn.Module, stream: str, ids: tuple[int, ...], memory: Tensor | None = None) -> Tensor:
        x = stack.embedding(torch.tensor([ids])).detach().requires_grad_()
        mask = nn.Transformer.generate_square_subsequent_mask(len(ids), dtype=x.dtype) if stream == "decoder" else None
        states[stream] = []
        for block in stack.layers:
            states[stream].append(x)
            layer = torch_layer(block, norm_first=norm_first)
            x = layer(x, mask) if memory is None else layer(x, memory, mask)
        return final(stack, x)

    if shape == "encoder-decoder":
        assert trace.target is not None
        memory = run(network.encoder, "encoder", trace.encoding.ids)
        out = run(network.decoder, "decoder", trace.target.ids, memory)
    else:
        out = run(network, shape, trace.encoding.ids)
    scalars = {"sum": out[0, position].sum(), "direction": out[0, position] @ direction(out.shape[-1])}
    for scalar, value in scalars.items():
        for stream, entered in states.items():
            expected = torch.autograd.grad(value, entered, retain_graph=True)
            sizes = torch.stack([gradient[0].norm(dim=-1) for gradient in expected]).numpy()
            assert_close(found_norms(table, scalar, stream), sizes, relative=1e-9)
    own_rows = table[table["stream"] == ("encoder" if shape == "encoder" else "decoder")]
    assert (own_rows["distance"] == position - own_rows["position"]).all()
    if shape == "encoder-decoder":
        assert table.loc[table["stream"] == "encoder", "distance"].isna().all()
    if shape != "encoder":  # what comes later is hidden
        assert (own_rows.loc[own_rows["distance"] < 0, "norm"] == 0).all()


def test_gradients_of_minilm_are_those_of_transformers_in_float64(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, EXAMPLE)
    table = reach.measure(reach.copy_of(minilm, trace), position=5)
    theirs = BertModel._from_config(copy.deepcopy(minilm.config), attn_implementation="eager", dtype=torch.float64)
    theirs.load_state_dict(minilm.network.state_dict(), strict=False)
    seen = theirs.eval().requires_grad_(True)(torch.tensor([trace.encoding.ids]), output_hidden_states=True)
    expected = norms(seen.last_hidden_state[0, 5].sum(), list(seen.hidden_states[:-1]))
    assert_close(found_norms(table, "sum", "encoder"), expected, relative=1e-9)
    assert not reach.still(table, "sum")


@pytest.mark.parametrize("name", ["mixtral", "t5"])
def test_gradients_of_a_family_are_those_of_transformers_in_float64(name: str, tmp_path: Path) -> None:
    """Experts, whose grouped product torch has in float32 alone; and relative positions beside a source."""
    save(next(family for family in CAPTURED if family.name == name), tmp_path)
    loaded = models.load(str(tmp_path))
    trace = inspector.record(loaded, "the cat sat on", target="the cat" if name == "t5" else None)
    table = reach.measure(reach.copy_of(loaded, trace), position=1)
    theirs = reference(tmp_path, dtype=torch.float64).requires_grad_(True)
    theirs.config._experts_implementation = "eager"
    given = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        given["decoder_input_ids"] = torch.tensor([trace.target.ids])
    seen = theirs(**given, output_hidden_states=True)
    streams = {"encoder": "encoder_hidden_states", "decoder": "decoder_hidden_states"}
    states = {stream: seen[attribute] for stream, attribute in streams.items() if attribute in seen}
    states = states or {"decoder": seen["hidden_states"]}
    for stream, entered in states.items():
        gradients = torch.autograd.grad(states["decoder"][-1][0, 1].sum(), entered[:-1], retain_graph=True)
        expected = torch.stack([gradient[0].norm(dim=-1) for gradient in gradients]).numpy()
        assert_close(found_norms(table, "sum", stream), expected, relative=1e-5)


def test_a_prediction_is_the_likeliest_token_s_log_probability(shipped: Shipped) -> None:
    loaded = shipped("mini-gpt")
    trace = inspector.record(loaded, EXAMPLE)
    table = reach.measure(reach.copy_of(loaded, trace), position=3)
    network = copy.deepcopy(loaded.network).double()
    x = network.embedding(torch.tensor([trace.encoding.ids])).detach()

    def log_probability(x: Tensor) -> Tensor:
        handle = network.embedding.register_forward_hook(lambda module, inputs, out: x)
        try:
            logits = network.logits(network(torch.tensor([trace.encoding.ids])))
        finally:
            handle.remove()
        return logits[0, 3].log_softmax(dim=-1).max()

    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(log_probability(leaf), leaf)
    assert_close(found_norms(table, "prediction", "decoder")[0], gradient[0].norm(dim=-1).numpy(), relative=1e-9)


def test_the_sum_of_an_even_layer_norm_does_not_move() -> None:
    table = reach.measure(reach.copy_of(own("encoder"), inspector.record(own("encoder"), EXAMPLE)), position=3)
    assert reach.still(table, "sum")
    assert not reach.still(table, "direction")


@pytest.mark.parametrize("placement", list(PLACEMENTS))
def test_the_ways_back_are_products_of_jacobians(placement: str) -> None:
    """all: I + J of every sublayer; sublayers: J; skip: I; each with the norms on its way."""
    loaded = uneven(own("encoder", **PLACEMENTS[placement]))
    trace = inspector.record(loaded, "Cats sleep.")
    position = 2
    copied = residual.copied_own(loaded, trace)
    table = residual.measure(copied, position=position)
    network = copy.deepcopy(loaded.network).double()
    x = network.embedding(torch.tensor([trace.encoding.ids])).detach()
    size = x[0].numel()

    def jacobian(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        return torch.autograd.functional.jacobian(function, x).reshape(size, size)

    identity = torch.eye(size, dtype=torch.float64)
    forward: list[dict[str, Tensor]] = []  # of each layer, the product of its two sublayers by way
    for block in network.layers:
        layer = torch_layer(block, norm_first=placement == "pre")
        ways = dict.fromkeys(residual.WAYS, identity)
        for sublayer, norm in ((attention(layer), layer.norm1), (ffn(layer), layer.norm2)):
            if placement == "pre":
                inner = jacobian(lambda x, f=sublayer, n=norm: f(n(x)), x)
                step = {"all": identity + inner, "sublayers": inner, "skip": identity}
                x = (x + sublayer(norm(x))).detach()
            else:
                summed, inner = (x + sublayer(x)).detach(), jacobian(sublayer, x)
                normed = jacobian(norm, summed)
                step = {"all": normed @ (identity + inner), "sublayers": normed @ inner, "skip": normed}
                x = norm(summed).detach()
            ways = {way: step[way] @ ways[way] for way in residual.WAYS}
        forward.append(ways)
    end = jacobian(lambda x: final(network, x), x)
    start = torch.zeros_like(x)
    start[0, position] = direction(x.shape[-1])
    for way in residual.WAYS:
        back = start.flatten() @ end
        rows = table[table["way"] == way]
        for layer in (1, 0):
            back = back @ forward[layer][way]
            expected = back.reshape(x.shape)[0].norm(dim=-1).numpy()
            found = found_norms(rows, "direction", "encoder")[layer]
            assert_close(found, expected, relative=1e-9)
    skip = table[(table["way"] == "skip") & (table["position"] != position)]
    assert (skip["norm"] == 0).all()
    again = reach.measure(copied, position=position)
    np.testing.assert_array_equal(again["norm"], table.loc[table["way"] == "all", "norm"])


def attention(layer: nn.TransformerEncoderLayer) -> Callable[[Tensor], Tensor]:
    return lambda x: layer.self_attn(x, x, x, need_weights=False)[0]


def ffn(layer: nn.TransformerEncoderLayer) -> Callable[[Tensor], Tensor]:
    return lambda x: layer.linear2(layer.activation(layer.linear1(x)))


def test_what_cannot_be_differentiated_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = own("encoder")
    trace = inspector.record(loaded, EXAMPLE)
    with pytest.raises(ValueError, match="position 99 is out of range: out has positions 0 to 12"):
        reach.measure(reach.copy_of(loaded, trace), position=99)
    with pytest.raises(ValueError, match="has no residual"):
        residual.copied_own(own("encoder", residual=False), trace)
    for name, message in (
        ("MOST_TOKENS", "the text has 13 tokens"),
        ("MOST_CELLS", "the maps of this text have 1,352 cells"),
        ("MOST_PARAMETERS", "parameters, and gradients"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(reach, name, 12)
            with pytest.raises(ValueError, match=message):
                reach.copy_of(loaded, trace)
