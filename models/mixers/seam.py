"""The seam of mixers: a layer's core reports what it was given and what it left, and a recording may see it.

A core is a function of its model's file, wrapped once, for good (models/huggingface/mixers.py). Outside `watch_mixers`
it does nothing but compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from models.attention.running_layer import running_layer
from models.mixers.core import Core, MixerKind


@dataclass(frozen=True)
class MixerCall:
    """One run of a mixer's core: value [B, T, H, V] goes in, output [B, T, H, V] is what it left.

    H are heads, or channels with V = 1. layer: the model's layer; None outside `models.attention.watch`. again: the
    model computes in half precision, and its core ran once more in float32, on what it was given. gate: what the core
    multiplies M v by before it leaves it, [B, T, H, V] (Mamba); None for most.
    """

    kind: MixerKind
    core: Core
    value: Tensor
    output: Tensor
    layer: int | None = None
    again: bool = False
    gate: Tensor | None = None


_watcher: ContextVar[Callable[[MixerCall], None] | None] = ContextVar("mixer_watcher", default=None)
_begun: ContextVar[dict[object, Any] | None] = ContextVar("mixers_begun", default=None)


@contextmanager
def watch_mixers(watcher: Callable[[MixerCall], None]) -> Iterator[None]:
    """Call `watcher` with every run of a mixer inside the block, by this thread alone."""
    tokens = _watcher.set(watcher), _begun.set({})
    try:
        yield
    finally:
        _watcher.reset(tokens[0])
        _begun.reset(tokens[1])


def watches_mixers() -> bool:
    """Return True while mixers of this thread are watched."""
    return _watcher.get() is not None


def report_mixer(call: MixerCall) -> None:
    """Hand a mixer's run to the watcher, if any, with the layer that runs."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(replace(call, layer=running_layer()))


def mark_begun(core: object, given: object) -> None:
    """Keep what a watched core is given, where one end of it sees only a part; `take_begun` is the other end."""
    begun = _begun.get()
    if begun is not None:
        begun[core] = given


def take_begun(core: object) -> Any:
    """Take what a core was given; None outside `watch_mixers`."""
    begun = _begun.get()
    return None if begun is None else begun.pop(core, None)
