"""The layer of a model that runs now: attention calls and norms are numbered by it.

A layer is a module of an outermost nn.ModuleList ("model.layers.3", "encoder.block.0.layer.1" is of layer 0; a list of
lists is counted through), and its number says how many modules of that list ran before it in the same forward. So a
layer without attention counts, and one set of weights that runs twice (ALBERT) is two layers.

Hooks go in once, at load, in transformers' networks and the project's own. They write to a context variable, so that
threads that share a model each follow their own run, and do nothing outside `following`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import nn

Stream = Literal["encoder", "decoder", "cross"]
"""The attention's kind: a text's to itself (encoder, decoder), or the decoder's to the source (cross)."""


@dataclass
class _Run:
    """A forward that is followed. begun: how many layers of each stack, by path, have begun; now: the current layer.

    stack: the path of the current layer's stack.
    """

    begun: Counter[str] = field(default_factory=Counter)
    now: int | None = None
    stack: str = ""


_run: ContextVar[_Run | None] = ContextVar("run_of_layers", default=None)
_HOOKED = "headlight_layers"  # an attribute of each network with hooks, which a copy of the network has too


@contextmanager
def following(begun: Mapping[str, int] | None = None) -> Iterator[None]:
    """Follow the layers of networks that `install` hooked, inside the block and in this thread alone.

    begun: how many layers of each stack, by path, count as run, where a run goes on from a layer's input.
    """
    token = _run.set(_Run(Counter(begun)))
    try:
        yield
    finally:
        _run.reset(token)


def running_layer() -> int | None:
    """The number of the current layer; None between layers, for other networks and outside `following`."""
    run = _run.get()
    return None if run is None else run.now


def running_place() -> tuple[str, int] | None:
    """The current layer as (path of its stack, number); None as in `running_layer`."""
    run = _run.get()
    return None if run is None or run.now is None else (run.stack, run.now)


def install(network: nn.Module) -> None:
    """Hook every layer of the network, once, before anyone shares it."""
    if hasattr(network, _HOOKED):
        return
    setattr(network, _HOOKED, True)
    for path, stack in stacks(network).items():
        owner = network.get_submodule(path.rpartition(".")[0])
        owner.register_forward_pre_hook(_StackBegins(path))
        for layer in dict.fromkeys(layers_of(stack)):
            layer.register_forward_pre_hook(_LayerBegins(path))
            layer.register_forward_hook(_layer_ends)


def stacks(network: nn.Module) -> dict[str, nn.ModuleList]:
    """The outermost lists of modules by their path."""
    outermost: dict[str, nn.ModuleList] = {}
    for path, module in network.named_modules():
        if isinstance(module, nn.ModuleList) and not any(path.startswith(f"{outer}.") for outer in outermost):
            outermost[path] = module
    return outermost


def layers_of(stack: nn.ModuleList) -> Iterator[nn.Module]:
    """Yield the modules of a list in order, and the modules of nested lists (Funnel's blocks)."""
    for module in stack:
        if isinstance(module, nn.ModuleList):
            yield from layers_of(module)
        else:
            yield module


@dataclass(frozen=True)
class _StackBegins:
    """A hook on the module that holds a stack: counts its layers anew, as a text is written token by token."""

    stack: str

    def __call__(self, module: nn.Module, inputs: Any) -> None:
        run = _run.get()
        if run is not None:
            run.begun[self.stack] = 0


@dataclass(frozen=True)
class _LayerBegins:
    stack: str

    def __call__(self, module: nn.Module, inputs: Any) -> None:
        run = _run.get()
        if run is not None:
            run.now, run.stack = run.begun[self.stack], self.stack
            run.begun[self.stack] += 1


def _layer_ends(module: nn.Module, inputs: Any, output: Any) -> None:
    run = _run.get()
    if run is not None:
        run.now = None


class CallPlaces:
    """Numbers the attention calls of one forward by their layer, and by the layer's calls of the same stream."""

    def __init__(self) -> None:
        self._streams: Counter[Stream] = Counter()
        self._layers: Counter[tuple[Stream, int]] = Counter()

    def next(self, stream: Stream, layer: int | None) -> tuple[int, int]:
        """Number the stream's next attention call: (layer, call).

        layer: the answer of `running_layer`; None for a network without hooks, each of whose layers makes one call of
        a stream: its calls are counted.
        """
        if layer is None:
            layer = self._streams[stream]
            self._streams[stream] += 1
        call = self._layers[stream, layer]
        self._layers[stream, layer] += 1
        return layer, call
