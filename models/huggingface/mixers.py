"""The cores of transformers' layers that mix tokens without softmax attention, made to report to a recording.

A core is a function of its model's file that no module holds, so that no hook sees it. Its name there is bound once,
for good, to a function that calls it unchanged and reports what it was given and what it left (models/mixers/seam.py);
nothing is put back or exchanged for a recording, so threads that share a model cannot meet. The cores of MiniMax and
LFM stand inside their layers' forward: hooks on the module before and the module behind see both ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.functional import silu, softplus

from models.build_lock import LOADING
from models.mixers import (
    DecayingState,
    GatedConvolution,
    HashCollisions,
    MixerCall,
    MixerKind,
    PastSoftmax,
    SelectiveScan,
    mark_begun,
    report_mixer,
    take_begun,
    watches_mixers,
)

HALF = (torch.bfloat16, torch.float16)
Reader = Callable[[Mapping[str, Any], Tensor], MixerCall]
_WRAPPED = "headlight_mixer"  # an attribute of each function that reports
_hooked: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()


def install(network: nn.Module) -> None:
    """Make every core of the network's model files report, once, before anyone shares the network."""
    with LOADING:
        for owner in _owners(network.modules()):
            _make_report(owner)
        for layer in network.modules():
            hook = next((hook for name, hook in HOOKS.items() if type(layer).__name__.endswith(name)), None)
            if hook is not None and layer not in _hooked:
                _hooked[layer] = True
                hook(layer)


def has_mixers(network: nn.Module) -> bool:
    """Return True if the network's model files have a core that `install` made report."""
    if any(layer in _hooked for layer in network.modules()):
        return True
    return any(hasattr(vars(owner).get(name), _WRAPPED) for owner in _owners(network.modules()) for name in CORES)


def _owners(modules: Iterable[nn.Module]) -> Iterable[Any]:
    """The classes of these modules, and the files of code that they stand in: what holds a core by its name."""
    classes = dict.fromkeys(type(module) for module in modules)
    return [*classes, *(sys.modules[name] for name in dict.fromkeys(kind.__module__ for kind in classes))]


def _make_report(owner: Any) -> None:
    """Bind every name of a core that the owner has, once, to a function that reports."""
    for name, reader in CORES.items():
        core = vars(owner).get(name)
        if core is None or hasattr(core, _WRAPPED):
            continue
        if isinstance(core, type):  # torch.autograd.Function: what runs is its `apply`
            setattr(owner, name, _ReportingFunction(_reporting(_collide(core), reader)))
        else:
            setattr(owner, name, _reporting(core, reader))


@dataclass(frozen=True)
class _ReportingFunction:
    """A function in the place of a torch.autograd.Function, to be called by `apply`."""

    apply: Callable[..., Any]
    headlight_mixer: bool = True


def _collide(core: Any) -> Callable[..., Any]:
    """YOSO's core as a function, whose arguments have names."""

    def collide(query_mask: Tensor, key_mask: Tensor, query: Tensor, key: Tensor, value: Tensor, config: Any) -> Any:
        return core.apply(query_mask, key_mask, query, key, value, config)

    return collide


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
    return replace(call, again=True)


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


def _selective_scan(given: Mapping[str, Any], output: Tensor) -> MixerCall:
    """Mamba: its scan has channels before tokens, and multiplies what it leaves by silu(z) itself."""
    step = given["dt"]
    if (bias := given.get("delta_bias")) is not None:
        step = step + bias.to(step.dtype)[..., None]
    step = (softplus(step) if given.get("delta_softplus") else step).mT
    core = SelectiveScan(step, given["A"], given["B"].mT, given["C"].mT, given.get("D"))
    gate = None if given.get("z") is None else _channels(silu(given["z"]).mT)
    value, left = _channels(given["hidden_states"].mT), _channels(output.mT)
    return MixerCall("selective scan", core, value, left, gate=gate)


def _gated_recurrence(given: Mapping[str, Any], output: Tensor) -> MixerCall:
    """RecurrentGemma's RG-LRU (De et al. 2024, Griffin): a state of one number a channel, h_t = a_t h_(t-1) + x_t."""
    gate, x = given["recurrent_gate"] * ~given["reset"], given["hidden_states"]
    decay = gate.float().log().clamp(min=_NOTHING_LEFT)
    one = decay.new_ones(*decay.shape[:2], 1, 1)
    return MixerCall("RG-LRU", DecayingState(one, one, decay), _channels(x), _channels(output))


def _past_softmax(given: Mapping[str, Any], output: Tensor) -> MixerCall:
    core = PastSoftmax(given["key"], -given["time_decay"].float().exp(), given["time_first"])
    return MixerCall("WKV", core, _channels(given["value"]), _channels(output))


def _hash_collisions(given: Mapping[str, Any], output: Tensor) -> MixerCall:
    """YOSO in expectation: its core sees heads as texts, so the layer says how many there are."""
    heads = take_begun(HashCollisions)
    query, key, value, left = (
        tensor.unflatten(0, (-1, heads)).transpose(1, 2)
        for tensor in (given["query"], given["key"], given["value"], output)
    )
    core = HashCollisions(query, key, given["config"]["hash_code_len"])
    return MixerCall("expected hash collisions", core, value, left)


def _channels(tensor: Tensor) -> Tensor:
    """[B, T, H] -> [B, T, H, 1]: a channel is a head whose values have one number."""
    return tensor[..., None]


_NOTHING_LEFT = -1e4  # the logarithm of a gate that is shut, so that sums of it stay finite
CORES: dict[str, Reader] = {
    "torch_chunk_gated_delta_rule": _delta("gated delta rule"),
    "chunk_kimi_delta_attention": _delta("Kimi delta attention"),
    "mamba2_chunk_scan": _state_space,
    "mamba_selective_scan": _selective_scan,
    "rwkv_linear_attention": _past_softmax,
    "_rnn_scan": _gated_recurrence,
    "YosoCumulation": _hash_collisions,
}
"""The functions of transformers' files and classes that mix tokens over a whole text, and how each is read."""


# --- what hooks see ----------------------------------------------------------------------------------------------


def _lightning(layer: Any) -> None:
    """Hook both ends of MiniMax's lightning attention; its decay is the same at each token."""

    def given(module: nn.Module, args: Any, kwargs: Mapping[str, Any]) -> None:
        mark_begun((layer, "mask"), kwargs.get("attention_mask"))

    def began(module: nn.Module, args: Any, projected: Tensor) -> None:
        mark_begun(layer, projected)

    def left(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        projected, mask, output = take_begun(layer), take_begun((layer, "mask")), args[0]
        if projected is None:
            return
        half = projected.dtype in HALF
        if half:
            projected = projected.float()
            output = _LightningInFloat32(layer, projected).run(mask)
        heads, width = layer.num_attention_heads, layer.head_dim
        made = layer.act_fn(projected)
        query, key, value = made.view(*made.shape[:2], heads, 3 * width).split(width, dim=-1)
        decay = -layer.slope_rate.float().view(heads).expand(*query.shape[:2], heads)
        core = DecayingState(query, key, decay)
        output = output.view(*made.shape[:2], heads, width)
        report_mixer(MixerCall("lightning attention", core, value, output, again=half))

    layer.register_forward_pre_hook(given, with_kwargs=True)
    layer.qkv_proj.register_forward_hook(began)
    layer.norm.register_forward_pre_hook(left)


class _LightningInFloat32:
    """The layer as its own forward sees it, with float32 projections and decays, up to its norm."""

    def __init__(self, layer: Any, projected: Tensor) -> None:
        self._layer, self._projected = layer, projected
        self.slope_rate = layer.slope_rate.float()
        self.query_decay, self.key_decay, self.diagonal_decay = layer.decay_factors(self.slope_rate)
        self.output = projected

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)

    def run(self, mask: Tensor | None) -> Tensor:
        """Run the layer's forward; return what its norm is given, [B, T, H V]."""
        nothing = self._projected[..., :0]
        type(self._layer).forward(self, nothing, position_embeddings=None, attention_mask=mask)
        return self.output

    def qkv_proj(self, hidden: Tensor) -> Tensor:
        """Return the projections that were recorded."""
        return self._projected

    def norm(self, output: Tensor) -> Tensor:
        """Keep what the core left."""
        self.output = output
        return output

    def output_gate(self, hidden: Tensor) -> Tensor:
        """Return a gate of any numbers: what follows the norm is not read."""
        return self.output

    def out_proj(self, gated: Tensor) -> Tensor:
        """Return what it is given."""
        return gated


def _short_convolution(layer: Any) -> None:
    """Hook both ends of LFM's gated convolution; a bias is no part of the map, and taken from what is left."""

    def began(module: nn.Module, args: Any, projected: Tensor) -> None:
        mark_begun(layer, projected)

    def left(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        projected = take_begun(layer)
        if projected is None:
            return
        gate_in, gate_out, x = projected.chunk(3, dim=-1)
        kernel, bias, output, half = layer.conv.weight.squeeze(1), layer.conv.bias, args[0], projected.dtype in HALF
        if half:
            gate_in, gate_out, x, kernel, bias = map(_float32, (gate_in, gate_out, x, kernel, bias))
            convolve = sys.modules[type(layer).__module__].causal_conv1d_fn
            output = gate_out * convolve((gate_in * x).mT, kernel, bias).mT
        output = output if bias is None else output - gate_out * bias
        core = GatedConvolution(gate_in, gate_out, kernel)
        report_mixer(MixerCall("short convolution", core, _channels(x), _channels(output), again=half))

    layer.in_proj.register_forward_hook(began)
    layer.out_proj.register_forward_pre_hook(left)


def _heads_of_collisions(layer: Any) -> None:
    def began(module: nn.Module, args: Any) -> None:
        mark_begun(HashCollisions, layer.num_attention_heads)

    layer.register_forward_pre_hook(began)


HOOKS: dict[str, Callable[[Any], None]] = {
    "LightningAttention": _lightning,
    "ShortConv": _short_convolution,
    "YosoSelfAttention": _heads_of_collisions,
}
"""The layers whose core does not see all, by the end of their class's name, and the hooks that see the rest."""
