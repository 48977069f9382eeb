"""Layers and norms whose input or output is changed while a model runs; a part of the probe.

Hooks go on once, the first time that a network is run so, for as long as it lives. They read a context variable: a
thread that runs the same network at the same time sees nothing, and outside a changed run nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol
from weakref import WeakSet

from torch import Tensor, nn

from inspector.probe.norm_hooks import entering
from inspector.probe.norm_kinds import is_norm
from models.attention.running_layer import layers_of, running_place, stacks


@dataclass(frozen=True, eq=False)
class LayerInputs:
    """One call of a layer: its place (path of the stack, number), its module, and the arguments that it was given."""

    place: tuple[str, int]
    module: nn.Module
    positional: tuple[Any, ...]
    named: Mapping[str, Any]

    @property
    def state(self) -> Tensor | None:
        """The residual stream that enters the layer; None where there is no tensor."""
        return entering(self.positional, self.named)

    def reading(self, state: Tensor) -> LayerInputs:
        """Give the same call with another residual stream."""
        old = self.state
        positional = tuple(state if value is old else value for value in self.positional)
        named = {name: state if value is old else value for name, value in self.named.items()}
        return LayerInputs(self.place, self.module, positional, named)

    def alone(self) -> LayerInputs:
        """Give the same call without the KV cache, to which a second run would add keys."""

        def fresh(value: Any) -> Any:
            return None if hasattr(value, "get_seq_length") else value

        named = {name: fresh(value) for name, value in self.named.items()}
        return LayerInputs(self.place, self.module, tuple(map(fresh, self.positional)), named)

    def run(self) -> Tensor:
        """Run the layer alone: the residual stream that leaves it."""
        return leaving(self.module(*self.positional, **self.named))


class LayerEdit(Protocol):
    """A change of the layers and norms of a run; each method gives the tensor that the model reads on."""

    def enters(self, inputs: LayerInputs) -> LayerInputs:
        """Change what a layer is given."""
        ...

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        """Change the residual stream that leaves a layer; inputs: as the layer was given them."""
        ...

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        """Change what a norm gives for x."""
        ...


class NoEdit:
    """Leaves every layer and every norm as it is."""

    def enters(self, inputs: LayerInputs) -> LayerInputs:
        """Give the layer what it was given."""
        return inputs

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        """Hand on what the layer gave."""
        return state

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        """Hand on what the norm gave."""
        return output


@dataclass
class _EditedRun:
    """A run that is changed. inside: the places of the layers that run now."""

    edit: LayerEdit
    inside: list[tuple[str, int]] = field(default_factory=list)


_run: ContextVar[_EditedRun | None] = ContextVar("edited_run", default=None)
_hooked: WeakSet[nn.Module] = WeakSet()
hooking = Lock()


@contextmanager
def editing_layers(network: nn.Module, edit: LayerEdit | None) -> Iterator[None]:
    """Let `edit` change the network's layers and norms inside the block, in this thread alone; None for no change."""
    _install(network)
    token = _run.set(None if edit is None else _EditedRun(edit))
    try:
        yield
    finally:
        _run.reset(token)


def leaving(output: Any) -> Tensor:
    """The residual stream among what a layer gives. Raises ValueError where there is none."""
    out = output[0] if isinstance(output, (tuple, list)) else output
    if not isinstance(out, Tensor):
        raise ValueError(f"a layer gave {type(out).__name__} where the residual stream was expected")
    return out


def _install(network: nn.Module) -> None:
    with hooking:
        if network in _hooked:
            return
        for stack in stacks(network).values():
            for layer in dict.fromkeys(layers_of(stack)):
                layer.register_forward_pre_hook(_enters, with_kwargs=True)
                layer.register_forward_hook(_leaves, with_kwargs=True, prepend=True)  # a recording sees what is read on
        for module in network.modules():
            if is_norm(module):
                module.register_forward_hook(_normed)
        _hooked.add(network)


def _enters(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], Any] | None:
    run, place = _run.get(), running_place()
    if run is None or place is None:
        return None
    run.inside.append(place)
    changed = run.edit.enters(LayerInputs(place, module, inputs, named))
    return changed.positional, dict(changed.named)


def _leaves(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
    run = _run.get()
    if run is None or not run.inside:
        return None
    state = run.edit.leaves(LayerInputs(run.inside.pop(), module, inputs, named), leaving(output))
    return state if isinstance(output, Tensor) else type(output)((state, *output[1:]))


def _normed(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> Tensor | None:
    run = _run.get()
    if run is None or not inputs or not isinstance(inputs[0], Tensor) or not isinstance(output, Tensor):
        return None
    return run.edit.normed(module, inputs[0], output)
