"""Modules whose output is changed while a model runs; a part of the probe.

A hook goes on a module once, the first time that it is changed, for as long as the module lives. It reads a context
variable: a thread that runs the same network at the same time sees nothing, and outside a changed run nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from torch import Tensor, nn

from inspector.probe.layer_edits import hooking

EditOutput = Callable[[Tensor], Tensor]
_edits: ContextVar[tuple[nn.Module, EditOutput] | None] = ContextVar("edited_module", default=None)
_hooked: WeakSet[nn.Module] = WeakSet()


@contextmanager
def editing_module(module: nn.Module, edit: EditOutput) -> Iterator[None]:
    """Let `edit` change what a module gives inside the block, in this thread alone."""
    with hooking:
        if module not in _hooked:
            module.register_forward_hook(_gave, prepend=True)
            _hooked.add(module)
    token = _edits.set((module, edit))
    try:
        yield
    finally:
        _edits.reset(token)


def _gave(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> Tensor | None:
    edited = _edits.get()
    if edited is None or edited[0] is not module or not isinstance(output, Tensor):
        return None
    return edited[1](output)
