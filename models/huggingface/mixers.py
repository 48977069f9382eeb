"""The cores of transformers' layers that mix tokens without softmax attention, made to report to a recording.

A core is a function of its model's file that no module holds, so that no hook sees it. Its name there is bound once,
for good, to a function that calls it unchanged and reports what it was given and what it left (models/mixers/seam.py);
nothing is put back or exchanged for a recording, so threads that share a model cannot meet. MiniMax's core stands
inside its layer's forward: hooks on the projection before it and the norm behind it see both ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from models.build_lock import LOADING
from models.mixers import DecayingState, MixerCall, MixerKind, mark_begun, report_mixer, take_begun, watches_mixers

HALF = (torch.bfloat16, torch.float16)
Reader = Callable[[Mapping[str, Any], Tensor], MixerCall]
_WRAPPED = "headlight_mixer"  # an attribute of each function that reports
_hooked: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()


def install(network: nn.Module) -> None:
    """Make every core of the network's model files report, once, before anyone shares the network."""
    with LOADING:
        for module in _files(network.modules()):
            for name, reader in CORES.items():
                core = getattr(module, name, None)
                if core is not None and not hasattr(core, _WRAPPED):
                    setattr(module, name, _reporting(core, reader))
        for module in network.modules():
            if type(module).__name__ in INLINE and module not in _hooked:
                _hooked[module] = True
                INLINE[type(module).__name__](module)


def has_mixers(network: nn.Module) -> bool:
    """Return True if the network's model files have a core that `install` made report."""
    if any(type(module).__name__ in INLINE for module in network.modules()):
        return True
    return any(hasattr(getattr(file, name, None), _WRAPPED) for file in _files(network.modules()) for name in CORES)


def _files(modules: Iterable[nn.Module]) -> Iterable[Any]:
    """The files of code that these modules' classes stand in."""
    return [sys.modules[name] for name in dict.fromkeys(type(module).__module__ for module in modules)]


def _reporting(core: Callable[..., Any], reader: Reader) -> Callable[..., Any]:
    """A function that calls a core unchanged and, in a recording, reports its arguments and its result."""
    names = signature(core)

    @wraps(core)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        result = core(*args, **kwargs)
        if watches_mixers():
            report_mixer(_call(core, reader, names.bind(*args, **kwargs).arguments, result))
        return result

    setattr(reporting, _WRAPPED, True)
    return reporting


def _call(core: Callable[..., Any], reader: Reader, given: Mapping[str, Any], result: Any) -> MixerCall:
    """Read one run of a core; in half precision of a second run in float32, on what the first was given."""
    half = any(isinstance(value, Tensor) and value.dtype in HALF for value in given.values())
    if not half:
        return reader(given, _output(result))
    wide = {name: _float32(value) for name, value in given.items()}
    further = wide.pop("kwargs", {})
    call = reader(wide, _output(core(**wide, **further)))
    return MixerCall(call.kind, call.core, call.value, call.output, again=True)


def _float32(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype in HALF else value


def _output(result: Any) -> Tensor:
    """Take what a core left, without the state that it may hand on."""
    output: Tensor = result[0] if isinstance(result, tuple) else result
    return output


# --- what each core was given ------------------------------------------------------------------------------------


def _delta(kind: MixerKind) -> Reader:
    def read(given: Mapping[str, Any], output: Tensor) -> MixerCall:
        query, key = given["query"], given["key"]
        core = DecayingState(
            query,
            key,
            given["g"],
            given["beta"],
            removes=True,
            normalised=given.get("use_qk_l2norm_in_kernel", False),
            scale=float(query.shape[-1] ** -0.5),
        )
        return MixerCall(kind, core, given["value"], output)

    return read


def _state_space(given: Mapping[str, Any], output: Tensor) -> MixerCall:
    """Mamba-2: dt as the core makes it, from the bias, the softplus and the limits that it is given."""
    dt = given["dt"]
    if (bias := given.get("dt_bias")) is not None:
        dt = dt + bias.to(dt.dtype)
    dt = softplus(dt) if given.get("dt_softplus") else dt
    dt = dt.clamp(*given.get("dt_limit", (0.0, float("inf")))).float()
    decay = given["A"].float() * dt
    core = DecayingState(given["C"], given["B"], decay, dt, skip=given.get("D"))
    return MixerCall("state space", core, given["hidden_states"], output)


CORES: dict[str, Reader] = {
    "torch_chunk_gated_delta_rule": _delta("gated delta rule"),
    "chunk_kimi_delta_attention": _delta("Kimi delta attention"),
    "mamba2_chunk_scan": _state_space,
}
"""The functions of transformers' model files that mix tokens over a whole text, and how each is read."""


def _lightning(layer: Any) -> None:
    """Hook both ends of MiniMax's lightning attention; its decay is the same at each token."""

    def began(module: nn.Module, args: Any, projected: Tensor) -> None:
        mark_begun(layer, projected)

    def left(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        projected = take_begun(layer)
        if projected is None:
            return
        heads, width = layer.num_attention_heads, layer.head_dim
        made = layer.act_fn(projected)
        query, key, value = made.view(*made.shape[:2], heads, 3 * width).split(width, dim=-1)
        decay = -layer.slope_rate.float().view(heads).expand(*query.shape[:2], heads)
        output = args[0].view(*made.shape[:2], heads, width)
        report_mixer(MixerCall("lightning attention", DecayingState(query, key, decay), value, output))

    layer.qkv_proj.register_forward_hook(began)
    layer.norm.register_forward_pre_hook(left)


INLINE: dict[str, Callable[[Any], None]] = {"MiniMaxLightningAttention": _lightning}
"""The layers whose core is no function, and how both ends of it are hooked."""
