"""Activation functions on a text's own pre-activations: centre, slope and size; and units that die in training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from inspector.trace.blocks import ACTIVATIONS, FFNRecord

FLAT = 1e-3  # a slope below which next to nothing is learned through a unit
RATES = (0.1, 1.0, 2.0, 3.0)
STEPS, WIDTH, UNITS = 200, 32, 128
_ROWS, _BATCH, _HELD = 128, 64, 4096


def outputs(ffn: FFNRecord, network: nn.Module) -> pd.DataFrame:
    """Put an FFN's pre-activations through its own activation function, ReLU, GELU and SiLU, a row each.

    Columns: function (a name of ACTIVATIONS); mean and deviation of the outputs; zero: the share that is exactly 0;
    flat: the share of pre-activations at which the slope is below 0.001 in size; largest: the largest output.
    """
    rows = []
    for name in dict.fromkeys((ffn.activation, "relu", "gelu", "silu")):
        count, total, squares, zero, flat, largest = 0, 0.0, 0.0, 0, 0, -np.inf
        for start in range(0, len(ffn.input), _ROWS):
            before = ffn.pre_activations(network, rows=slice(start, start + _ROWS)).double().requires_grad_()
            after = ACTIVATIONS[name](before)
            (slope,) = torch.autograd.grad(after.sum(), before)
            made = after.detach()
            count += made.numel()
            total, squares = total + float(made.sum()), squares + float(made.square().sum())
            zero, flat = zero + int((made == 0).sum()), flat + int((slope.abs() < FLAT).sum())
            largest = max(largest, float(made.max()))
        mean = total / count
        deviation = max(squares / count - mean * mean, 0.0) ** 0.5
        rows.append((name, mean, deviation, zero / count, flat / count, largest))
    return pd.DataFrame(rows, columns=["function", "mean", "deviation", "zero", "flat", "largest"])


def dying(*, rates: tuple[float, ...] = RATES, steps: int = STEPS, seed: int = 0) -> pd.DataFrame:
    """Train a small network with ReLU at several learning rates, a row per rate: the more a step moves, the more die.

    Two hidden layers of 128 units learn with plain SGD which of 32 random directions a random vector points along most
    (cross-entropy). Columns: rate; dead: the share of the second layer's units that are above 0 on none of 4,096 other
    vectors, so that they give 0 and learn nothing; loss: of the last step, nats.
    """
    return pd.DataFrame(
        [(rate, *_trained(rate, steps=steps, seed=seed)) for rate in rates], columns=["rate", "dead", "loss"]
    )


def _trained(rate: float, *, steps: int, seed: int) -> tuple[float, float]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        directions = torch.randn(WIDTH, WIDTH)
        layers = [nn.Linear(WIDTH, UNITS), nn.ReLU(), nn.Linear(UNITS, UNITS), nn.ReLU(), nn.Linear(UNITS, WIDTH)]
        vectors, held = torch.randn(steps, _BATCH, WIDTH), torch.randn(_HELD, WIDTH)
    network, last = nn.Sequential(*layers), float("nan")
    optimizer = torch.optim.SGD(network.parameters(), rate)
    for x in vectors:
        loss = cross_entropy(network(x), (x @ directions).argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        last = float(loss.detach())
    with torch.no_grad():
        before: Tensor = network[:3](held)
    return float((~(before > 0).any(dim=0)).double().mean()), last
