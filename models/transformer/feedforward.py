"""The position-wise feed-forward network: what a block does to each token on its own."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from models.transformer.config import Activation


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU(x) ~ 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks & Gimpel 2016, section 2); any shape."""
    return gelu(x, approximate="tanh")


ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": relu,  # max(0, x)
    "gelu": gelu,  # x Phi(x) = 0.5 x (1 + erf(x / sqrt(2))), Hendrycks & Gimpel 2016
    "gelu_tanh": gelu_tanh,
}

GATES: dict[Activation, Callable[[Tensor], Tensor]] = {
    "swiglu": silu,  # x sigmoid(x), Shazeer 2020; Llama
    "geglu_tanh": gelu_tanh,  # Shazeer 2020; T5 1.1
}


class FeedForward(nn.Module):
    """FFN(x) = act(x W_1 + b_1) W_2 + b_2, the same for every position (Vaswani et al. 2017, eq. 2).

    W_1 is `up` (D to F), W_2 is `down` (F to D). torch keeps both transposed: `up.weight` is [F, D].
    """

    def __init__(self, width: int, ffn_width: int, *, activation: Activation, bias: bool = True) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation {activation!r} is unknown; choose one of {', '.join(ACTIVATIONS)}")
        self.up = nn.Linear(width, ffn_width, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.down = nn.Linear(ffn_width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """x [..., D] -> [..., D]."""
        hidden = self.activation(self.up(x))  # [..., F]
        out: Tensor = self.down(hidden)  # [..., D]
        return out


class GatedFeedForward(nn.Module):
    """FFN(x) = (act(x W_gate + b) * (x W_1 + b_1)) W_2 + b_2 (Shazeer 2020, eq. 6): one half opens the other."""

    def __init__(self, width: int, ffn_width: int, *, activation: Activation, bias: bool = True) -> None:
        super().__init__()
        if activation not in GATES:
            raise ValueError(f"gated activation {activation!r} is unknown; choose one of {', '.join(GATES)}")
        self.gate = nn.Linear(width, ffn_width, bias=bias)
        self.up = nn.Linear(width, ffn_width, bias=bias)
        self.activation = GATES[activation]
        self.down = nn.Linear(ffn_width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """x [..., D] -> [..., D]."""
        hidden = self.activation(self.gate(x)) * self.up(x)  # [..., F]
        out: Tensor = self.down(hidden)  # [..., D]
        return out


def make_ffn(activation: Activation, width: int, ffn_width: int, *, bias: bool) -> FeedForward | GatedFeedForward:
    """The network with that activation, gated or not."""
    kind = GatedFeedForward if activation in GATES else FeedForward
    return kind(width, ffn_width, activation=activation, bias=bias)
