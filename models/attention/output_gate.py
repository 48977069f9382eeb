"""The output gate: numbers in 0 .. 1 that some models multiply each answer of a head by before W_O (Qiu et al. 2025).

A map says what a head reads; the gate says how much of the answer the layer lets through for each query. A model's gate
is seen from both ends: what the attention left, and what W_O is given (models/huggingface/output_gate.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

_watcher: ContextVar[Callable[[Tensor], None] | None] = ContextVar("gate_watcher", default=None)
_ROUNDING = 1e-5  # of an answer's number


@contextmanager
def watch_gates(watcher: Callable[[Tensor], None]) -> Iterator[None]:
    """Call `watcher` with the `shares` of every gate inside the block, by this thread alone."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report_gate(mixed: Tensor, gated: Tensor) -> None:
    """Hand the watcher, if any, what a gate let through; mixed, gated: [B, Q, H, E] before and after the gate."""
    watcher = _watcher.get()
    through = None if watcher is None else shares(mixed, gated)
    if watcher is not None and through is not None:
        watcher(through)


def shares(mixed: Tensor, gated: Tensor) -> Tensor | None:
    """Measure how much of the length of each head's answer a gate lets through: float32 [B, H, Q], in 0 .. 1.

    mixed, gated: [B, Q, H, E] before and after. None where a number of the answer has grown or changed its sign: what
    stands there is no gate.
    """
    mixed, gated = mixed.float(), gated.float()
    if bool(((gated.abs() > mixed.abs() * (1 + _ROUNDING)) | (gated * mixed < 0)).any()):
        return None
    length = mixed.norm(dim=-1)
    through: Tensor = (gated.norm(dim=-1) / length.where(length > 0, 1)).transpose(1, 2)
    return through
