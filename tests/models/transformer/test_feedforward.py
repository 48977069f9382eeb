from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from models.transformer.feedforward import FeedForward, GatedFeedForward, make_ffn
from tests.closeness import assert_close

FORMULAS = {
    "relu": lambda x: max(0.0, x),
    "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", list(FORMULAS))
@torch.no_grad()
def test_equals_the_equation_in_numpy(activation, bias):
    torch.manual_seed(0)
    ffn = FeedForward(6, 10, activation=activation, bias=bias).double()
    x = 3 * torch.randn(2, 5, 6, dtype=torch.float64)
    w_1, w_2 = ffn.up.weight.numpy().T, ffn.down.weight.numpy().T
    b_1, b_2 = (ffn.up.bias.numpy(), ffn.down.bias.numpy()) if bias else (0.0, 0.0)
    expected = np.vectorize(FORMULAS[activation])(x.numpy() @ w_1 + b_1) @ w_2 + b_2
    assert_close(ffn(x).numpy(), expected, relative=1e-12)


def test_bias_is_there_only_when_asked_for():
    names = [name for name, _ in FeedForward(6, 10, activation="relu", bias=False).named_parameters()]
    assert names == ["up.weight", "down.weight"]


def test_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation 'swish' is unknown; choose one of relu, gelu, gelu_tanh"):
        FeedForward(6, 10, activation="swish")


@pytest.mark.parametrize("activation", ["swiglu", "geglu_tanh"])
@torch.no_grad()
def test_gated_equals_the_equation_in_numpy(activation):
    torch.manual_seed(0)
    ffn = GatedFeedForward(6, 10, activation=activation).double()
    x = 3 * torch.randn(2, 5, 6, dtype=torch.float64)
    w_gate, w_up, w_down = (linear.weight.numpy().T for linear in (ffn.gate, ffn.up, ffn.down))
    b_gate, b_up, b_down = (linear.bias.numpy() for linear in (ffn.gate, ffn.up, ffn.down))
    act = np.vectorize({"swiglu": lambda g: g / (1 + math.exp(-g)), "geglu_tanh": FORMULAS["gelu_tanh"]}[activation])
    expected = (act(x.numpy() @ w_gate + b_gate) * (x.numpy() @ w_up + b_up)) @ w_down + b_down
    assert_close(ffn(x).numpy(), expected, relative=1e-12)


def test_the_activation_says_whether_the_network_is_gated():
    kinds = {name: type(make_ffn(name, 6, 10, bias=True)) for name in ("relu", "gelu", "gelu_tanh", "swiglu")}
    assert kinds == {"relu": FeedForward, "gelu": FeedForward, "gelu_tanh": FeedForward, "swiglu": GatedFeedForward}
    with pytest.raises(ValueError, match="gated activation 'relu' is unknown; choose one of swiglu, geglu_tanh"):
        GatedFeedForward(6, 10, activation="relu")
