"""Hooks on norms and layers: one on each, the first time that their model is recorded, for as long as the model lives.

Hooks that come and go with each request mix up the records of two visitors. The hooks write to a context variable, so
each thread collects its own calls; outside a recording nothing happens.

A norm's formula is never taken on trust: the hook sees what goes in and what comes out, and holds the one to the other.
A layer's hook sees the residual stream itself, before and after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch import Tensor, nn

from inspector.probe.norm_kinds import (
    NO_FORMULA,
    NormParameters,
    holds_norm,
    is_inside,
    is_norm,
    parameters,
    why_unknown,
)
from inspector.probe.norm_places import LayerCall, MixerCall, NormCall, is_same
from inspector.probe.residual_sums import NormUses, WatchedSums
from inspector.trace.norm_formula import normalise, rounding
from models.attention import AttentionCall
from models.attention.running_layer import layers_of, running_layer, stacks
from models.mixer_names import is_mixer

_ATTENTION = re.compile(r"(Attention|Attn|MLA)(?!\w*DecoderLayer)")
INSIDE = "inside a sublayer, where vectors are normed that the sublayer itself makes, so not of the residual stream"
NO_VECTORS = "it does not take one vector for each token"
_RECENT = 3  # copies among which a tensor is looked for: of what the norms of a layer take, and what enters it
_ROWS = 128  # vectors held to their formula together; 2,048 at once take six times as long
CHANGED = "it changes what the norm inside it gives, by a gate or the like, so what it gives itself is not shown"


@dataclass
class WatchedForward:
    """Everything that the hooks saw in one forward. attentions: the calls of the seam, in the same run.

    refused: each call of a norm that is not shown, its path and the reason. begun: how many sublayers that mix tokens
    began, those inside another left out. holds_norms: whether norms are looked at.
    """

    attentions: list[AttentionCall]
    sums: WatchedSums | None = None
    norms: list[NormCall] = field(default_factory=list)
    layers: list[LayerCall] = field(default_factory=list)
    mixers: list[MixerCall] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    inside: list[LayerCall] = field(default_factory=list)
    sublayers: list[str] = field(default_factory=list)
    begun: int = 0
    holds_norms: bool = True
    _copied: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @property
    def running(self) -> LayerCall | None:
        """The layer that runs now; a layer whose attention alone is a module runs until the next layer begins."""
        if self.inside:
            return self.inside[-1]
        return self.layers[-1] if self.layers and not self.layers[-1].whole else None

    @property
    def attends(self) -> bool:
        """True while an attention runs, or what stands in its place."""
        return bool(self.sublayers) or (bool(self.inside) and not self.inside[-1].whole)

    def keep(self, tensor: Tensor) -> Tensor:
        """Copy a tensor to the CPU, for a model may write over its own later; once as long as it stays what it is."""
        now = tensor.detach().cpu()
        for original, copy in self._copied:
            if is_same(original, tensor) and torch.equal(copy, now):
                return copy
        copy = now.clone() if tensor.device.type == "cpu" else now
        self._copied = [*self._copied[1 - _RECENT :], (tensor, copy)]
        return copy


_seen: ContextVar[WatchedForward | None] = ContextVar("norms_seen", default=None)
_hooked: WeakSet[nn.Module] = WeakSet()
_hooking = Lock()


_uses: WeakKeyDictionary[nn.Module, dict[tuple[str, int], NormUses]] = WeakKeyDictionary()
"""Fates of each norm's calls, by its path and how often it ran before: the text does not change them."""


@contextmanager
def watch_norms(
    network: nn.Module, attentions: list[AttentionCall], *, sums: bool, norms: bool = True
) -> Iterator[WatchedForward]:
    """Collect every call of a norm and of a layer in the block. sums: whether to tell what becomes of each norm.

    norms: False to collect layers alone.

    That is watched once for each network, for it takes a sixth of the time.
    """
    seen, known = WatchedForward(attentions, holds_norms=norms), _uses.get(network)
    sums, told = sums and known is None, sums
    seen.sums = WatchedSums(lambda: next(reversed(seen.sublayers), "ffn")) if sums else None
    token = _seen.set(seen)
    try:
        with seen.sums or nullcontext():
            yield seen
    finally:
        _seen.reset(token)
    ran = Counter[str]()
    places = []
    for call in seen.norms:
        places.append((call.name, ran[call.name]))
        ran[call.name] += 1
    if seen.sums is not None:
        _uses[network] = {place: call.uses for place, call in zip(places, seen.norms, strict=True)}
    elif told and known is not None:
        for place, call in zip(places, seen.norms, strict=True):
            call.uses = known.get(place, call.uses)


def install(network: nn.Module) -> None:
    """Put hooks on the network's norms, layers and sublayers, once for as long as it lives."""
    with _hooking:
        if network in _hooked:
            return
        held = stacks_of_attention(network)
        members = {id(layer) for layers in held.values() for layer in layers}
        for path, layers in held.items():
            for layer in layers:
                hook = _LayerHook(path, whole=not _kind(layer) or _holds(layer))
                layer.register_forward_pre_hook(hook.enters, with_kwargs=True)
                layer.register_forward_hook(hook.leaves)
        for name, module in network.named_modules():
            if is_norm(module):
                module.register_forward_hook(_NormHook(name), with_kwargs=True)
            elif holds_norm(module):
                module.register_forward_hook(_HolderHook(name))
            elif (kind := _kind(module)) and id(module) not in members:
                module.register_forward_pre_hook(_SublayerHook(kind).enters)
                module.register_forward_hook(_SublayerHook(kind).leaves)
        _hooked.add(network)


def _kind(module: nn.Module) -> str:
    """ "attention" or "mixer" by the name of its class, "" where it is neither."""
    name = type(module).__name__
    if next(module.children(), None) is None:
        return ""
    return "mixer" if is_mixer(module) else "attention" if _ATTENTION.search(name) else ""


def stacks_of_attention(network: nn.Module) -> dict[str, list[nn.Module]]:
    """The layers of each stack in which something attends, by its path, each module once.

    Where nothing attends, of each stack in which tokens are mixed in another way.
    """
    every = {path: list(dict.fromkeys(layers_of(stack))) for path, stack in stacks(network).items()}
    kinds = {path: {_kind(part) for layer in layers for part in layer.modules()} for path, layers in every.items()}
    attend = {path: layers for path, layers in every.items() if "attention" in kinds[path]}
    return attend or {path: layers for path, layers in every.items() if "mixer" in kinds[path]}


def _holds(layer: nn.Module) -> bool:
    """Return True for a layer that is named like the mixer that it holds (MambaBlock)."""
    return any(_kind(part) == "mixer" for part in layer.modules() if part is not layer)


def entering(inputs: tuple[Any, ...], named: Mapping[str, Any]) -> Tensor | None:
    """Find the state that enters a layer among its arguments; None where there is no tensor."""
    given = (*inputs[:1], named.get("hidden_states"), *named.values())
    return next((value for value in given if isinstance(value, Tensor)), None)


@dataclass(frozen=True)
class _LayerHook:
    """path: of the stack. whole: False where the stack holds attentions alone, not whole layers (XLM)."""

    path: str
    whole: bool

    def enters(self, module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen, x = _seen.get(), entering(inputs, named)
        if seen is None or x is None:
            return
        before = [call for call in seen.layers if call.path == self.path]
        running, watched = running_layer(), seen.sums.off() if seen.sums is not None else nullcontext()
        with watched:
            entered = seen.keep(x)
        call = LayerCall(self.path, len(before) if running is None else running, entered, len(seen.attentions))
        call.whole = self.whole
        if before:
            if not before[-1].gave(x):  # what is taken is the stream, whatever was given
                before[-1].left, before[-1].left_norm = entered, None
            before[-1].given = None
        for norm in reversed(seen.norms[-2:]):
            norm.leaves = norm.leaves or norm.gave(x)
        seen.layers.append(call)
        seen.inside.append(call)
        if seen.sums is not None:
            seen.sums.forget(tuple(x.shape))

    def leaves(self, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        seen = _seen.get()
        if seen is None or not seen.inside:
            return
        call = seen.inside.pop()
        call.attentions = slice(call.attentions.start, len(seen.attentions))
        out = output[0] if isinstance(output, (tuple, list)) else output
        out = next(iter(out.values()), None) if isinstance(out, dict) else out  # SqueezeBERT
        if not self.whole or not isinstance(out, Tensor):
            return
        call.given = out
        for number, norm in reversed(list(enumerate(seen.norms))):
            if norm.call is not call:
                break
            if norm.gave(out):
                norm.leaves, call.left_norm = True, number
                return
        with seen.sums.off() if seen.sums is not None else nullcontext():
            call.left = seen.keep(out)


@dataclass(frozen=True)
class _SublayerHook:
    kind: str

    def enters(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen = _seen.get()
        if seen is None:
            return
        if self.kind == "mixer" and "mixer" not in seen.sublayers and seen.inside:
            seen.mixers.append(MixerCall(seen.inside[-1], len(seen.norms), len(seen.attentions)))
        seen.begun += not seen.sublayers
        seen.sublayers.append(self.kind)

    def leaves(self, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        seen = _seen.get()
        if seen is not None and seen.sublayers:
            seen.sublayers.pop()


@dataclass(frozen=True)
class _NormHook:
    name: str

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        seen = _seen.get()
        if seen is None or not seen.holds_norms:
            return
        with seen.sums.off() if seen.sums is not None else nullcontext():
            self._see(
                seen, module, [value for value in (*inputs, *named.values()) if isinstance(value, Tensor)], output
            )

    def _see(self, seen: WatchedForward, module: nn.Module, given: list[Tensor], output: Any) -> None:
        out = output[0] if isinstance(output, (tuple, list)) else output
        if is_inside(self.name):
            seen.refused.append((self.name, _inside(self.name, module, given, out)))
            return
        if not given or not isinstance(out, Tensor) or out.shape != given[0].shape:
            seen.refused.append((self.name, NO_VECTORS))
            return
        x, flat = given[0], given[0]
        gate = next((t for t in given[1:] if t.shape == x.shape and t.is_floating_point()), None)
        before = seen.norms[-1].input if seen.norms else x
        if x.ndim == 2 and (x.numel(), x.shape[-1]) == (before.numel(), before.shape[-1]):
            flat = x.view_as(before)  # OPT flattens [B, T, D] for its FFN
        if flat.ndim != 3:
            seen.refused.append((self.name, NO_VECTORS))
            return
        given_out = out.view_as(flat)
        norm = parameters(module, width=flat.shape[-1], gated=gate is not None)
        if norm is None and gate is None:  # SqueezeBERT
            norm = parameters(module, width=flat.shape[1])
        if norm is None:
            seen.refused.append((self.name, why_unknown(module, width=flat.shape[-1])))
            return
        flat, given_out = (t.transpose(1, 2) if norm.features_first else t for t in (flat, given_out))
        kept_input, kept_gate = seen.keep(flat), None if gate is None else seen.keep(gate.view_as(flat))
        difference, explained = _held(norm, kept_input, kept_gate, given_out.detach().cpu())
        if not explained:
            seen.refused.append((self.name, NO_FORMULA))
            return
        truth = None if difference == 0.0 else summary(given_out)
        call = NormCall(self.name, norm, kept_input, kept_gate, len(seen.attentions), difference, truth)
        call.output = out
        call.call = seen.inside[-1] if seen.inside else None
        call.sublayer = seen.sublayers[-1] if seen.sublayers else ""
        if seen.sums is not None:
            call.uses = seen.sums.norm(x, out)
        seen.norms.append(call)
        for earlier in seen.norms[-4:-2]:
            earlier.output = None  # only the last ones can still be what a layer gives


@dataclass(frozen=True)
class _HolderHook:
    name: str

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        seen = _seen.get()
        if seen is not None and len(inputs) == 1:  # more: a whole sublayer with its residual sum (SqueezeBERT)
            seen.refused.append((self.name, CHANGED))


def _inside(name: str, module: nn.Module, given: list[Tensor], out: Any) -> str:
    """Name a norm inside a sublayer, held to what it was given and gave: "an RMSNorm of each head's queries, ..."."""
    if not given or not isinstance(out, Tensor) or out.shape != given[0].shape:
        return INSIDE
    x, width = given[0].detach().cpu(), given[0].shape[-1]
    norm = parameters(module, width=width)
    if norm is None or not _held(norm, x.reshape(1, -1, width), None, out.detach().cpu().reshape(1, -1, width))[1]:
        return INSIDE
    called = {"layer": "a LayerNorm", "rms": "an RMSNorm", "batch": "a BatchNorm"}[norm.kind]
    leaf = name.rpartition(".")[2].lower()
    named = {"query": "queries", "key": "keys", "value": "values"}
    what = next((many for role, many in named.items() if leaf.startswith((role, f"{role[0]}_"))), "vectors")
    what = f"each head's {what}" if x.ndim == 4 else what
    plus = " with 1 + gamma" if norm.plus_one else ""
    return f"{called}{plus} of {what}, {width} dimensions, {INSIDE}"


def _held(norm: NormParameters, x: Tensor, gate: Tensor | None, out: Tensor) -> tuple[float, bool]:
    """The largest difference of the formula from what the module gave, and whether rounding explains all of them."""
    gates = [None] * len(_blocks(x)) if gate is None else _blocks(gate)
    held = [_held_block(norm, *block) for block in zip(_blocks(x), gates, _blocks(out), strict=True)]
    return max(difference for difference, _ in held), all(explained for _, explained in held)


def _held_block(norm: NormParameters, x: Tensor, gate: Tensor | None, out: Tensor) -> tuple[float, bool]:
    digits = torch.finfo(out.dtype).eps
    exact = torch.float64 if out.dtype == torch.float64 else torch.float32
    wide, gate = x.to(exact), None if gate is None else gate.to(exact)
    gamma, beta = norm.gamma.to(exact), norm.beta.to(exact)
    made = normalise(
        wide,
        gamma,
        beta,
        kind=norm.kind,
        epsilon=norm.epsilon,
        groups=norm.groups,
        gate=gate,
        gating=norm.gating,
        running=norm.running,
    )
    if made.dtype == out.dtype and torch.equal(made, out):  # as a rule, and then the bound need not be computed
        return 0.0, True
    difference = (made - out.to(exact)).abs().amax(dim=-1)
    if gate is not None:
        allowed = 64 * digits * made.abs().amax(dim=-1).clamp(min=1e-3)
    else:
        allowed = rounding(wide, gamma, beta, kind=norm.kind, epsilon=norm.epsilon, digits=digits, running=norm.running)
    return float(difference.max()), bool((difference <= allowed).all())


def summary(states: Tensor) -> Tensor:
    """Mean and biased standard deviation of each vector [..., D]: float32 [..., 2] on the CPU."""
    made = []
    for block in _blocks(states.detach()):
        x = block.float()
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x - mean).square().mean(dim=-1, keepdim=True)  # torch.var_mean takes eight times as long
        made.append(torch.cat([mean, variance.sqrt()], dim=-1))
    return torch.cat(made).view(*states.shape[:-1], 2).cpu()


def _blocks(x: Tensor) -> tuple[Tensor, ...]:
    """Cut vectors [..., D] into blocks [rows, D]: what is made of one stays in the processor's cache."""
    rows = x.reshape(-1, x.shape[-1])
    return (rows,) if len(rows) <= _ROWS else torch.split(rows, _ROWS)
