"""The model's head asked for one token, as a linear map of the last hidden state; a part of the probe.

Shapes: D width, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from inspector.probe.held_scales import HeldScales
from inspector.probe.products import key
from inspector.trace import Trace
from models import LoadedModel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeadReading:
    """A logit, or the difference of two, as a linear map of the last hidden state: input . gradient + biases.

    input, gradient: float64 [D], the scales of norms, GELU and soft-cap held at their values. biases: (parameter, what
    it adds). value: what the model's head gives.
    """

    input: Floats
    gradient: Floats
    biases: tuple[tuple[str, float], ...]
    value: float


def read_head(
    loaded: LoadedModel, trace: Trace, *, position: int, token: int, against: int | None = None
) -> HeadReading:
    """Ask the model's head for a token at a position, less `against` where it is given, and follow the answer back.

    Raises ValueError for a model without a head.
    """
    if loaded.predict is None:
        raise ValueError(
            f"{loaded.card.id} has no head that predicts tokens; choose a model that fills in masks or writes"
        )
    network = loaded.network
    names = {key(tensor): name for name, tensor in (*network.named_buffers(), *network.named_parameters())}
    hidden = trace.hidden[None, position : position + 1].detach().clone().requires_grad_()
    held = HeldScales(names, cut=False)
    with torch.no_grad():
        plain = loaded.predict(hidden.detach())[0, 0].double()
        with held:
            logits = loaded.predict(hidden)[0, 0]
    if not 0 <= token < len(plain) or not 0 <= (against or 0) < len(plain):
        raise ValueError(f"token {token} or {against} is out of range: {loaded.card.id} knows {len(plain)} tokens")
    seed = torch.zeros_like(logits)
    seed[token] += 1
    value = float(plain[token])
    if against is not None:
        seed[against] -= 1
        value -= float(plain[against])
    leaves = list(held.biases.values())
    gradient, *added = torch.autograd.grad(logits, [hidden, *leaves], seed, allow_unused=True)
    biases = [
        (name, float(grad.double().flatten() @ leaf.detach().double().flatten()))
        for name, leaf, grad in zip(held.biases, leaves, added, strict=True)
        if grad is not None
    ]
    x, slope = (tensor.detach().double().cpu().numpy().ravel() for tensor in (hidden, gradient))
    return HeadReading(x, slope, tuple(biases), value)
