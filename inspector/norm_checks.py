"""Checks of norms and of the residual stream: what is shown is held to what the modules themselves gave.

When a text is recorded, mean and deviation of every vector that a norm gave and that a layer left are written down at
the module. What is shown is computed from the trace; here the one is held to the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from inspector.lens import state_of
from inspector.trace import NormRecord, StateRecord, Trace
from inspector.trace.norm_formula import rounding

_ROUNDINGS = 64  # last digits of a vector's largest entry: those of its own mean and deviation, and of a gate


@dataclass(frozen=True)
class Held:
    """Vectors that are shown, held to those that the model's modules gave.

    shown, ran: how many norms, or layers of the residual stream, are shown, and how many ran. difference: the largest
    found; None where the trace was saved before the modules' own numbers were. tolerance: what rounding explains
    there. holds: whether rounding explains each difference, and each stands in the layer that it is said to.
    """

    shown: int
    ran: int
    difference: float | None
    tolerance: float
    holds: bool

    @property
    def exact(self) -> bool:
        """True where it was checked and holds."""
        return self.difference is not None and self.holds


def norms(trace: Trace) -> Held:
    """Hold the output of every norm that is shown to what its module gave."""
    found = [_norm(norm, trace) for norm in trace.norms if norm.truth is not None]
    left_out = sum(refused.what == "norm" for refused in trace.refused)
    whole = _held(len(trace.norms), len(trace.norms) + left_out, found)
    return whole if len(found) == len(trace.norms) else _held(whole.shown, whole.ran, [])


def residual_stream(trace: Trace) -> Held:
    """Hold every state of the residual stream to what its layer took or left, and norms to the layers they are said to
    stand in: the norm that takes the stream after a layer stands in the next, the one that gives it in the layer."""
    found = [_state(record, trace) for record in trace.states]
    streams = {site.stream for site in trace.sites if site.stream != "cross"}
    ran = len(streams) if not trace.states else len(trace.states)
    held = _held(len(trace.states), ran, found)
    placed = all(_stands(record, trace) for record in trace.states if record.norm is not None)
    return Held(held.shown, held.ran, held.difference, held.tolerance, held.holds and placed and _whole(trace))


def refusals(trace: Trace) -> dict[str, str]:
    """Why a norm, by its path, or the residual stream of a stream, by its name, is not shown."""
    return {
        refused.name if refused.what == "norm" else f"residual stream of the {refused.name}": refused.reason
        for refused in trace.refused
    }


def _held(shown: int, ran: int, found: list[tuple[float, float]]) -> Held:
    """found: differences and what rounding explains of each."""
    if not found:
        return Held(shown, ran, None, 0.0, True)
    worst = max(found, key=lambda pair: pair[0] / pair[1] if pair[1] else pair[0] * np.inf)
    return Held(shown, ran, worst[0], worst[1], all(difference <= allowed for difference, allowed in found))


def _norm(norm: NormRecord, trace: Trace) -> tuple[float, float]:
    assert norm.truth is not None
    x, gamma, beta = (torch.tensor(array).float() for array in (norm.input, norm.gamma, norm.beta))
    digits = torch.finfo(trace.hidden.dtype).eps
    allowed = rounding(x, gamma, beta, kind=norm.kind, epsilon=norm.epsilon, digits=digits)
    if norm.gate is not None:
        allowed = _ROUNDINGS * digits * torch.tensor(norm.output).abs().amax(dim=-1)
    difference, explained = _worst(norm.output, norm.truth, allowed.numpy())
    return max(difference, norm.difference or 0.0), explained


def _state(record: StateRecord, trace: Trace) -> tuple[float, float]:
    state = state_of(trace, record)
    digits = torch.finfo(trace.hidden.dtype).eps
    allowed = _ROUNDINGS * digits * np.abs(state).max(axis=-1)
    return _worst(state, record.truth, allowed)


def _worst(shown: np.ndarray, truth: np.ndarray, allowed: np.ndarray) -> tuple[float, float]:
    """The difference of mean and deviation that is the largest against what is allowed, and what is allowed there."""
    difference = np.abs(_summary(shown) - truth).max(axis=-1)
    if not np.isfinite(difference).all():
        return float("inf"), 0.0
    worst = int(np.argmax(difference - allowed))
    return float(difference[worst]), float(allowed[worst])


def _summary(vectors: np.ndarray) -> np.ndarray:
    exact = vectors.astype(np.float64)
    return np.stack([exact.mean(axis=-1), exact.std(axis=-1)], axis=-1)


def _stands(record: StateRecord, trace: Trace) -> bool:
    assert record.norm is not None
    norm = trace.norms[record.norm]
    if record.side == "output":
        return norm.layer == record.layer and norm.stream == record.stream
    last = max(state.layer for state in trace.states if state.stream == record.stream)
    return norm.stream == record.stream and norm.layer in ({record.layer + 1} if record.layer < last else {None})


def _whole(trace: Trace) -> bool:
    """Tell whether each stream has states after every layer, and no norm or attention in a layer beyond them."""
    for stream in {record.stream for record in trace.states}:
        layers = [record.layer for record in trace.states if record.stream == stream]
        named = {norm.layer for norm in trace.norms if norm.stream == stream and norm.layer is not None}
        named |= {site.layer for site in trace.sites if site.stream == stream}
        if layers != list(range(layers[0], len(layers) + layers[0])) or layers[0] > 0 or max(named) > layers[-1]:
            return False
    return True
