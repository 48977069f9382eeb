"""Hooks on norms: one on each, the first time that their model is recorded, for as long as the model lives.

Hooks that come and go with each request mix up the records of two visitors. What is seen goes to a context variable,
so each thread collects its own; outside a recording nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakSet

from torch import nn

from inspector.norm_kinds import is_norm
from inspector.norm_places import NormCall
from models.attention import AttentionCall

_norms_seen: ContextVar[tuple[list[AttentionCall], list[NormCall]] | None] = ContextVar("norms_seen", default=None)
_hooked: WeakSet[nn.Module] = WeakSet()
_hooking = Lock()


@contextmanager
def watch_norms(attentions: list[AttentionCall], norms: list[NormCall]) -> Iterator[None]:
    """Put every call of a norm in the block into `norms`, with how many `attentions` there were by then."""
    token = _norms_seen.set((attentions, norms))
    try:
        yield
    finally:
        _norms_seen.reset(token)


def install(network: nn.Module) -> None:
    """One hook on each norm of the network, once for as long as it lives."""
    with _hooking:
        if network in _hooked:
            return
        for name, module in network.named_modules():
            if is_norm(name, module):
                module.register_forward_pre_hook(_NormHook(name), with_kwargs=True)
        _hooked.add(network)


@dataclass(frozen=True)
class _NormHook:
    name: str

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen = _norms_seen.get()
        x = next(iter((*inputs, *named.values())))
        if seen is None:
            return
        attentions, norms = seen
        if x.ndim == 2 and norms and x.numel() == norms[-1].input.numel():  # OPT flattens [B, T, D] for its FFN
            x = x.view_as(norms[-1].input)
        if x.ndim == 3:
            norms.append(NormCall(self.name, module, x.detach().cpu(), len(attentions)))
