"""A whole encoder layer in numpy's float64, written from the papers' equations, beside each switch of attention."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from models.attention.masks import CausalMask
from models.transformer.blocks import EncoderBlock
from models.transformer.config import TransformerConfig
from models.transformer.multi_head import MultiHeadAttention
from tests.closeness import assert_close

Array = NDArray[np.float64]
CONFIG = TransformerConfig(vocabulary=9, layers=1, width=12, heads=4, ffn_width=20, max_positions=9)
TOKENS = 7
SWITCHES = [
    {},
    {"scale": "none", "head_size": "full"},
    {"scale": "1/d_k", "head_size": 5, "kv_heads": 2},
    {"merge": "sum", "bias": False},
    {"projections": False, "score": "cosine"},
    {"shared_query_key": True, "shared_key_value": True},
    {"shared_key_value": True, "kv_heads": 1},
    {"score": "general", "residual": False},
    {"score": "additive", "norm_placement": "pre"},
    {"score": "additive_naive", "norm_placement": "pre", "residual": False},
    {"mask_fill": -2.0},
    {"mask_fill": -2.0, "mask_before_scale": True, "scale": "1/d_k"},
    {"mask_fill": "zero"},
    {"mask_before_scale": True},
    {"norm": "rms", "activation": "gelu_tanh", "norm_epsilon": 0.1},
    {"norm": "none", "activation": "swiglu"},
]


@pytest.mark.parametrize("changes", SWITCHES, ids=lambda one: " ".join(map(str, one.items())) or "Vaswani et al.")
def test_a_layer_equals_the_equations_in_numpy(changes: dict[str, object]) -> None:
    config = replace(CONFIG, **changes)
    torch.manual_seed(0)
    block = EncoderBlock(config).double().eval()
    x = torch.randn(1, TOKENS, 12, dtype=torch.float64)
    with torch.inference_mode():
        ours = block(x, mask=CausalMask(TOKENS))[0].numpy()
    assert_close(ours, layer(block, config, x[0].numpy()), relative=1e-12)


def layer(block: EncoderBlock, config: TransformerConfig, x: Array) -> Array:
    parts = (
        (lambda y: attention(block.attention, config, y), block.attention_norm),
        (lambda y: feedforward(block.ffn, config, y), block.ffn_norm),
    )
    for part, norm in parts:
        stream = x if config.residual else 0.0
        if config.norm_placement == "pre":
            x = stream + part(normalised(norm, config, x))
        else:
            x = normalised(norm, config, stream + part(x))
    return x


def attention(module: MultiHeadAttention, config: TransformerConfig, x: Array) -> Array:
    query, key, value = (
        linear(projection, x).reshape(TOKENS, -1, config.head_width)
        for projection in (module.query, module.key, module.value)
    )
    hidden = np.triu(np.ones((TOKENS, TOKENS), bool), k=1)
    heads = []
    for head in range(config.heads):
        shared = head * config.key_heads // config.heads
        q, k, v = query[:, head], key[:, shared], value[:, shared]
        scores, power = score(module, config, q, k, head), {"none": 0.0, "1/sqrt(d_k)": -0.5, "1/d_k": -1.0}
        factor = config.head_width ** power[config.scale]
        scores = fill(scores, hidden, config.mask_fill) * factor if config.mask_before_scale else scores * factor
        scores = scores if config.mask_before_scale else fill(scores, hidden, config.mask_fill)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v)
    return linear(module.out, np.concatenate(heads, axis=1) if config.merge == "concat" else np.sum(heads, axis=0))


def score(module: MultiHeadAttention, config: TransformerConfig, q: Array, k: Array, head: int) -> Array:
    learned = {name: tensor.detach().numpy()[head] for name, tensor in module.function.named_parameters()}
    learned = {name.rpartition(".")[2]: array for name, array in learned.items()}
    match config.score:
        case "dot":
            return q @ k.T
        case "cosine":
            return q @ k.T / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(k, axis=1))
        case "general":
            return q @ learned["weight"] @ k.T
    pairs = (q @ learned["query_weight"].T)[:, None] + (k @ learned["key_weight"].T)[None] + learned["bias"]
    return np.tanh(pairs) @ learned["v"]


def fill(scores: Array, hidden: NDArray[np.bool_], by: float | str) -> Array:
    if by == "zero":
        return np.where(hidden, 0.0, scores)
    return np.where(hidden, -inf if by == -inf else float(by), scores)


def feedforward(module: torch.nn.Module, config: TransformerConfig, x: Array) -> Array:
    up = linear(module.get_submodule("up"), x)
    match config.activation:
        case "relu":
            up = np.maximum(up, 0)
        case "gelu_tanh":
            up = 0.5 * up * (1 + np.tanh(np.sqrt(2 / np.pi) * (up + 0.044715 * up**3)))
        case "swiglu":
            gate = linear(module.get_submodule("gate"), x)
            up = gate / (1 + np.exp(-gate)) * up
    return linear(module.get_submodule("down"), up)


def linear(module: torch.nn.Module, x: Array) -> Array:
    if isinstance(module, torch.nn.Identity):
        return x
    assert isinstance(module, torch.nn.Linear)
    y = x @ module.weight.detach().numpy().T
    return y if module.bias is None else y + module.bias.detach().numpy()


def normalised(module: torch.nn.Module, config: TransformerConfig, x: Array) -> Array:
    """Gamma and beta are 1 and 0 in a new layer."""
    match config.norm:
        case "layer":
            return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + config.norm_epsilon)
        case "rms":
            return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + config.norm_epsilon)
    return x
