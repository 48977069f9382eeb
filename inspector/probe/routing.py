"""The routers of every mixture of experts, watched only when asked: a second run of a recorded text.

What a token is given is rebuilt as it runs: each expert is called alone on the tokens that chose it, at weight 1; the
outputs times the recorded weights are summed, and the block is run with that sum in its experts' place. What it gives
then must be what it gave. A part of the probe.

Shapes: Q tokens, C chosen experts a token, N experts, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

import models
from inspector.probe.blocks import hold_to
from inspector.probe.expert_calls import (
    OF_ATTENTION,
    OTHER_ARGUMENTS,
    ExpertsCall,
    ExpertsPlace,
    GivenChoices,
    ScaledTokens,
    SortedTokens,
    arguments,
    places_of_experts,
    replaced,
    rows_of,
    shortened,
)
from inspector.probe.inputs import ModelInputs
from inspector.probe.norm_kinds import is_norm
from inspector.probe.norm_places import is_same, stream_of
from inspector.probe.recording import OnProgress, forward
from inspector.trace import HALF, Trace, read_only
from inspector.trace.routing import RouterRecord, Routing
from models import LoadedModel
from models.attention import fused, watch
from models.attention.running_layer import following, running_layer

NOT_ADDED = "it does not add up what its experts give and what all tokens share"
TOLERANCE = 1e-5  # of the largest entry of what the layer gives, float32; half precision: 4 of its last digits more


def record_routing(loaded: LoadedModel | nn.Module, trace: Trace, *, on_progress: OnProgress | None = None) -> Routing:
    """Run the model once more on the text of a trace, and record which experts each token goes through.

    ```python
    routing = inspector.record_routing(loaded, trace)
    routing.layer("decoder", 3).chosen  # int64 [token, chosen expert]
    ```

    Chosen experts and weights are what the experts' module was given. Each layer is held to the model: its experts, run
    one at a time and summed with the recorded weights, must give what the layer gave within TOLERANCE of its largest
    entry; else the layer is refused with the difference. A model without experts gives no layers. Memory is linear in
    the text. Experts that share a token's attention (JetMoE) are refused. on_progress: called after each expert with
    the mixtures that are done, a part of one included, and their number; an exception in it ends the run.

    Raises ValueError where the model gives another last hidden state than the trace has.
    """
    loaded = models.of(loaded)
    _install(loaded.network)
    watched = _Watched(loaded, trace, on_progress or (lambda done, total: None))
    token = _watched.set(watched)
    try:
        with (
            torch.inference_mode(),
            fused() if trace.fused else nullcontext(),  # a rounding would send a token to another expert now and then
            watch(lambda call: None),
        ):
            hidden = forward(loaded, [ModelInputs(trace.encoding, trace.target)], padding="right")
    finally:
        _watched.reset(token)
    hold_to(loaded, trace, hidden[0])
    watched.end()
    return Routing(tuple(watched.layers), tuple(dict.fromkeys(watched.refused)))


def wrong_sum(off: float) -> str:
    """Say by how much the sum of experts misses what their block gave, of its largest entry."""
    return f"its experts, one at a time, sum up to something that is off by {off:.1e} of what it gives"


@dataclass
class _Run:
    """A block that ran, until the parts beside it have. shared: what it gives without its experts [Q, D]."""

    place: ExpertsPlace
    entered: Tensor
    record: RouterRecord
    shared: Tensor | None


@dataclass
class _Watched:
    """Everything that the hooks saw in one forward.

    given: what the modules that tell the choices took and gave, and in which layer, until their block is done. beside:
    modules beside a block, with what they took and gave. again: the block is run again, and nothing is noted. done: how
    many mixtures have run.
    """

    loaded: LoadedModel
    trace: Trace
    on_progress: OnProgress
    layers: list[RouterRecord] = field(default_factory=list)
    refused: list[tuple[str, int, str]] = field(default_factory=list)
    given: dict[int, tuple[tuple[Any, ...], Any, int]] = field(default_factory=dict)
    beside: list[tuple[nn.Module, Tensor, Tensor]] = field(default_factory=list)
    again: bool = False
    last: _Run | None = None
    done: int = 0

    @cached_property
    def mixtures(self) -> int:
        """The number of mixtures whose experts are run one at a time."""
        return sum(place.way not in ("attention", "unknown") for place in places_of_experts(self.loaded.network))

    def tell(self, share: float) -> None:
        """Tell how much of the mixture that runs is done."""
        self.on_progress(self.done + share, max(self.mixtures, self.done + 1))

    def end(self) -> None:
        """Write the record of the last block, with what was added beside it."""
        if self.last is not None:
            run, shared = self.last, self.last.shared
            for module, entered, output in self.beside:
                if shared is not None and module in run.place.beside and is_same(entered, run.entered):
                    shared = shared + output
            lengths = None if shared is None else read_only(shared.float().norm(dim=-1))
            self.layers.append(replace(run.record, shared=lengths))
        self.last, self.beside = None, []


_watched: ContextVar[_Watched | None] = ContextVar("routers_watched", default=None)
_HOOKED = "headlight_experts"  # an attribute of each network with hooks, which a copy of the network has too
_hooking = Lock()


def _install(network: nn.Module) -> None:
    """Put hooks on the network's experts, once for as long as it lives; outside a recording they do nothing."""
    with _hooking:
        if hasattr(network, _HOOKED):
            return
        setattr(network, _HOOKED, True)
        for place in places_of_experts(network):
            hook = _Hook(place)
            if place.way in ("attention", "unknown"):
                place.chooser.register_forward_hook(hook.refuses)
                continue
            place.chooser.register_forward_hook(hook.chooses, with_kwargs=True)
            for module in dict.fromkeys((place.chooser, place.experts)):
                if module is not None:
                    module.register_forward_pre_hook(hook.shortens, with_kwargs=True)
                    module.register_forward_hook(hook.replaces)
            place.block.register_forward_hook(hook.leaves, with_kwargs=True)
            for module in place.beside:
                module.register_forward_hook(hook.adds)


@dataclass(frozen=True)
class _Hook:
    """Hooks on the modules of one mixture of experts."""

    place: ExpertsPlace

    def refuses(self, module: nn.Module, inputs: Any, output: Any) -> None:
        watched = _watched.get()
        if watched is not None:
            reason = OF_ATTENTION if self.place.way == "attention" else OTHER_ARGUMENTS
            watched.refused.append((self._stream(watched), self._layer(), reason))

    def chooses(self, module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any], output: Any) -> None:
        watched = _watched.get()
        if watched is not None and not watched.again:
            watched.given[id(self.place)] = (arguments(module, args, named), output, self._layer())

    def shortens(self, module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if module is self.place.experts and _watched.get() is not None:
            return shortened(module, arguments(module, args, named)), {}
        return None

    def replaces(self, module: nn.Module, inputs: Any, output: Any) -> Any:
        return replaced(module, output)

    def adds(self, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        watched = _watched.get()
        if watched is not None and inputs:
            watched.beside.append((module, inputs[0], rows_of(output)))

    def leaves(self, block: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any], output: Any) -> None:
        watched = _watched.get()
        if watched is None or watched.again or id(self.place) not in watched.given:
            return
        given, chosen, layer = watched.given.pop(id(self.place))
        watched.again = True
        try:
            with following():  # a block that is a whole layer (Gemma 4) is counted once
                call = _read(self.place, given, chosen, partial(block, *args, **named))
                self._record(watched, call, rows_of(output), entered=arguments(block, args, named)[0], layer=layer)
        finally:
            watched.again = False
        watched.done += 1

    def _layer(self) -> int:
        layer = running_layer()
        if layer is None:
            raise ValueError(f"the experts of {self.place.path} run outside of the model's layers, and are not shown")
        return layer

    def _stream(self, watched: _Watched) -> str:
        return stream_of(self.place.path, watched.loaded.shape)

    def _record(self, watched: _Watched, call: ExpertsCall, output: Tensor, *, entered: Tensor, layer: int) -> None:
        """Hold the sum of the experts to what the block gave, and note the choices."""
        beside = [part for part in watched.beside if is_same(part[1], entered)]  # ran before the block
        watched.end()
        watched.beside = beside
        stream = self._stream(watched)
        if len(output) != len(watched.trace.read_by(stream)) or len(call.chosen) != len(output):
            watched.refused.append((stream, layer, "its experts are not given one state for each token"))
            return
        total, lengths = _summed(call, on_share=watched.tell)
        rebuilt = _Rebuilt.of(call, total, output)
        if not rebuilt.off <= _allowed(output.dtype):
            watched.refused.append((stream, layer, wrong_sum(rebuilt.off)))
            return
        if not rebuilt.adds and not any(is_norm(module) for module in self.place.block.children()):
            watched.refused.append((stream, layer, NOT_ADDED))
            return

        record = RouterRecord(
            stream,
            layer,
            self.place.path,
            call.count,
            read_only(call.chosen.long()),
            read_only(call.weights.float()),
            read_only(lengths),
            read_only((output.float() - rebuilt.without if rebuilt.adds else total).norm(dim=-1)),
            None,
            rebuilt.scale,
            call.weighs,
            call.idle,
            rebuilt.off,
        )
        watched.last = _Run(self.place, entered, record, rebuilt.without if rebuilt.adds else None)


def _read(place: ExpertsPlace, given: tuple[Any, ...], output: Any, again: Callable[[], Any]) -> ExpertsCall:
    if place.way == "arguments":
        return GivenChoices.read(place, given, output, again)
    if place.way == "scaled":
        return ScaledTokens.read(place, given, output[0], again)
    return SortedTokens.read(place, output, again)


def _summed(call: ExpertsCall, *, on_share: Callable[[float], None]) -> tuple[Tensor, Tensor]:
    """Run each expert alone on its tokens: the sum with the recorded weights [Q, D], and the length of each [Q, C].

    on_share: called with the share of the experts that ran.
    """
    lengths = torch.zeros_like(call.weights, dtype=torch.float32)
    total: Tensor | None = None
    taken = call.weights != 0
    taken[0, 0] |= not taken.any()  # an expert of weight 0 runs, for the width of a sum of nothing
    experts = sorted(set(call.chosen[taken].tolist()))
    for number, expert in enumerate(experts, start=1):
        rows, slots = torch.where((call.chosen == expert) & taken)
        weights = call.weights[rows, slots]
        output = call.alone(expert, rows, weights)
        lengths[rows, slots] = output.float().norm(dim=-1)
        if total is None:
            total = output.new_zeros(len(call.chosen), output.shape[-1], dtype=torch.float32)
        total.index_add_(0, rows, (output if call.weighs == "input" else output * weights[:, None]).float())
        on_share(number / len(experts))
    assert total is not None
    return total, lengths


@dataclass(frozen=True)
class _Rebuilt:
    """A block rebuilt from its experts one at a time, against what it gave.

    off: the largest difference, of the largest entry. without: what it gives without its experts [Q, D]. adds: whether
    that and what the experts add make the whole. scale: as in RouterRecord.
    """

    off: float
    without: Tensor
    adds: bool
    scale: float | None

    @classmethod
    def of(cls, call: ExpertsCall, total: Tensor, output: Tensor) -> _Rebuilt:
        size = max(float(output.abs().max()), torch.finfo(torch.float32).tiny)
        rebuilt, without, twice = (call.block(factor * total).float() for factor in (1, 0, 2))
        whole = output.float()
        off = float((rebuilt - whole).abs().max()) / size
        adds = float((twice - 2 * whole + without).abs().max()) <= 2 * _allowed(output.dtype) * size
        if not adds or total.shape != whole.shape:
            return cls(off, without, adds, None)
        added = whole - without
        wide = total.double()
        scale = float((added * wide).sum() / wide.square().sum().clamp(min=torch.finfo(torch.float32).tiny))
        scale = 1.0 if abs(scale - 1) < _allowed(output.dtype) else scale
        direct = float((without + scale * total - whole).abs().max()) / size
        if direct > _allowed(output.dtype):  # a projection stands behind the sum, and the block itself was held to it
            return cls(off, without, adds, None)
        return cls(max(off, direct), without, adds, scale)


def _allowed(dtype: torch.dtype) -> float:
    return TOLERANCE + (4 * torch.finfo(dtype).eps if dtype in HALF else 0.0)
