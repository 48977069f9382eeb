"""Gradients through torch.nn's recurrent networks, and through one layer of its attention, on random input.

```python
table = curves(Setting(steps=100, width=32))  # a row for each network and step
```

The scalar is s = sum(out_T), the sum of the output at the last step, in float64. In a recurrent network

    ds / dx_t = (dx_t's way into h_t) J_{t+1} ... J_T 1,   J_k = dh_k / dh_{k-1},

so that T - t Jacobians are multiplied: the product vanishes where they contract and explodes where they expand (Bengio
et al. 1994; Pascanu et al. 2013). In attention x_t is one step away from out_T, however far off it is (Vaswani et al.
2017, Table 1).

Shapes: T steps, D width; G gates: 1 of a tanh-RNN, 3 of a GRU, 4 of an LSTM.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import pandas as pd
import torch
from torch import Generator, Tensor, nn

Kind = Literal["tanh-RNN", "GRU", "LSTM", "open LSTM", "attention"]
"""The networks: "LSTM" has the forget bias as it is drawn, "open LSTM" the forget bias of the setting."""
KINDS: tuple[Kind, ...] = get_args(Kind)
RECURRENT: tuple[Kind, ...] = KINDS[:-1]

MOST_STEPS = 500
MOST_WIDTH = 128
SEEDS = 5  # networks and inputs that a median is of
MOST_SEED = 9_999
_APART = 1_000_000  # between the seeds of weights and of inputs: one seed would draw both from the same numbers
_CLASSES: Mapping[Kind, Callable[..., nn.RNNBase]] = {
    "tanh-RNN": nn.RNN,
    "GRU": nn.GRU,
    "LSTM": nn.LSTM,
    "open LSTM": nn.LSTM,
}


@dataclass(frozen=True)
class Setting:
    """The sizes of networks and inputs.

    steps: T. width: D, of the input and of the state. forget_bias: of the open LSTM's forget gate. scale: the factor on
    the recurrent weights W_hh, which are drawn from U(-1/sqrt(D), 1/sqrt(D)). seed: the first of SEEDS seeds.

    Raises ValueError for sizes out of range.
    """

    steps: int = 100
    width: int = 32
    forget_bias: float = 2.0
    scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("steps", self.steps, 2, MOST_STEPS),
            ("width", self.width, 2, MOST_WIDTH),
            ("forget_bias", self.forget_bias, -100, 100),
            ("scale", self.scale, 0, 100),
            ("seed", self.seed, 0, MOST_SEED),
        ):
            if not least <= value <= most:
                raise ValueError(f"{name} is {value:,}; it goes from {least} to {most:,}")

    @property
    def seeds(self) -> range:
        """The seeds that a median is of."""
        return range(self.seed, self.seed + SEEDS)


def curves(setting: Setting) -> pd.DataFrame:
    """Measure ||ds / dx_t|| of every network and step, a row each.

    Columns: network, step (t, from 1), distance (T - t), norm (the median of the seeds), least and most (of the seeds).
    A norm below 5e-324, the smallest number of float64, is 0.
    """
    tables = []
    for kind in KINDS:
        norms = torch.stack([_gradient(kind, setting, seed).norm(dim=-1) for seed in setting.seeds])  # [seeds, T]
        steps = range(1, setting.steps + 1)
        columns = {
            "network": kind,
            "step": steps,
            "distance": [setting.steps - step for step in steps],
            "norm": norms.median(dim=0).values,
            "least": norms.amin(dim=0),
            "most": norms.amax(dim=0),
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def radius(setting: Setting) -> float:
    """Measure the spectral radius of the tanh-RNN's W_hh, the largest size of its eigenvalues; median of the seeds."""
    sizes_of_values = [
        torch.linalg.eigvals(_recurrent("tanh-RNN", setting, seed).state_dict()["weight_hh_l0"]).abs()
        for seed in setting.seeds
    ]
    return float(torch.stack([sizes.max() for sizes in sizes_of_values]).median())


def network(kind: Kind, setting: Setting, seed: int) -> nn.RNNBase | nn.MultiheadAttention:
    """Build torch.nn's network in float64 with torch.nn's default initialisation, drawn from the seed.

    The recurrent weights are then multiplied by setting.scale, and an open LSTM's forget gates get the bias
    setting.forget_bias, b_ih, with b_hh = 0. Attention has one head.
    """
    return _attention(setting, seed) if kind == "attention" else _recurrent(kind, setting, seed)


def inputs(setting: Setting, seed: int) -> Tensor:
    """Draw the inputs x ~ N(0, 1) of a seed, float64 [1, T, D]: the same for every network."""
    generator = Generator().manual_seed(_APART + seed)
    return torch.randn(1, setting.steps, setting.width, generator=generator, dtype=torch.float64)


def outputs(network: nn.Module, x: Tensor) -> Tensor:
    """Run a network of `network` on inputs [1, T, D] -> [1, T, D]."""
    out: Tensor = (network(x, x, x, need_weights=False) if isinstance(network, nn.MultiheadAttention) else network(x))[
        0
    ]
    return out


def _gradient(kind: Kind, setting: Setting, seed: int) -> Tensor:
    """ds / dx, [T, D]."""
    with torch.inference_mode(False), torch.enable_grad():
        x = inputs(setting, seed).requires_grad_()
        (gradient,) = torch.autograd.grad(outputs(network(kind, setting, seed), x)[0, -1].sum(), x)
    return gradient[0]


@torch.no_grad()
def _recurrent(kind: Kind, setting: Setting, seed: int) -> nn.RNNBase:
    """Draw all weights and biases from U(-1/sqrt(D), 1/sqrt(D)), as torch.nn.RNNBase.reset_parameters does.

    Drawn here, for torch.nn draws from the generator that all threads share.
    """
    width, generator = setting.width, Generator().manual_seed(seed)
    made = _CLASSES[kind](width, width, batch_first=True, dtype=torch.float64)
    for parameter in made.parameters():
        parameter.uniform_(-1 / math.sqrt(width), 1 / math.sqrt(width), generator=generator)
    weights = made.state_dict()
    weights["weight_hh_l0"].mul_(setting.scale)
    if kind == "open LSTM":
        forget = slice(width, 2 * width)  # torch's gates: input, forget, cell, output
        weights["bias_ih_l0"][forget], weights["bias_hh_l0"][forget] = setting.forget_bias, 0.0
    return made.requires_grad_(False)


@torch.no_grad()
def _attention(setting: Setting, seed: int) -> nn.MultiheadAttention:
    """Draw W_Q, W_K, W_V after Glorot and W_O from U(-1/sqrt(D), 1/sqrt(D)), as torch.nn.MultiheadAttention does."""
    width, generator = setting.width, Generator().manual_seed(seed)
    made = nn.MultiheadAttention(width, 1, batch_first=True, dtype=torch.float64)
    made.out_proj.weight.uniform_(-(width**-0.5), width**-0.5, generator=generator)
    nn.init.xavier_uniform_(made.in_proj_weight, generator=generator)
    return made.requires_grad_(False)
