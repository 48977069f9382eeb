"""The formula of a norm module, inferred from its output: kind, gamma, beta and epsilon; a part of the probe."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from inspector.trace.norm_formula import GATINGS, Gating, normalise
from models.placement import with_weights

_NAMED = re.compile(r"norm", re.IGNORECASE)
_INSIDE = re.compile(
    r"(^|_)(q|k|v|query|key|value)_?(layer)?_?norm|q_a_|kv_a_|^(dt|b|c)_layernorm|_sub_norm"
    r"|^global_input_layer_norm",
    re.IGNORECASE,
)  # of queries and keys, of what steers a state space (Jamba), of what W_O and the second FFN matrix take (BitNet), of
# the sums of several tokens that are further keys (LongT5)
_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_USUAL_EPSILONS = (1e-5, 1e-6, 1e-12)  # of modules that write it into their forward (OLMo)
_TOLERANCE = 1e-5
NO_FORMULA = "what it gives is no LayerNorm, RMSNorm or BatchNorm of what it takes, so its numbers are not shown"
NO_STATISTICS = "it only multiplies and adds: it divides by no statistic, so it is called a norm and is none"
POOLED = "what it gives a token depends on the other tokens of the text, so it is no norm of a token"


@dataclass(frozen=True, eq=False)
class NormParameters:
    """kind: "layer" (Ba et al. 2016), "rms" (Zhang & Sennrich 2019) or "batch" (Ioffe & Szegedy 2015, in eval mode).

    gamma and beta: [D], beta 0 in an RMSNorm. gamma is what multiplies: ones where the module has none, and where it
    keeps gamma less 1 (Gemma), with the 1: plus_one says so. learned: which of "gamma" and "beta" the module has.
    features_first: whether the module takes [B, D, T]. groups, gating, running: as in `norm_formula.normalise`.
    """

    kind: str
    gamma: Tensor
    beta: Tensor
    epsilon: float
    features_first: bool = False
    learned: tuple[str, ...] = ()
    groups: int = 1
    gating: Gating = ""
    plus_one: bool = False
    running: Tensor | None = None

    @cached_property
    def addresses(self) -> frozenset[int]:
        """The addresses of its tensors' memory, which all recordings of the module share."""
        tensors = (self.gamma, self.beta, self.running)
        return frozenset(tensor.untyped_storage().data_ptr() for tensor in tensors if tensor is not None)


def is_norm(module: nn.Module) -> bool:
    """Return True if a module is a norm by its class's name, and not a block that holds a norm."""
    weight = _parameter(module, "gamma", "weight")
    alone = next(module.children(), None) is None or (weight is not None and weight.ndim == 1)
    return bool(_NAMED.search(type(module).__name__)) and alone


def holds_norm(module: nn.Module) -> bool:
    """Return True if a module is called a norm but is a block around a norm, and so computes something else."""
    named = type(module).__name__.endswith("Norm") and not is_norm(module)
    return named and any(is_norm(child) for child in module.children())


def is_inside(name: str) -> bool:
    """Return True if the norm at this path is inside a sublayer: of queries, keys or a state space's output."""
    return bool(_INSIDE.search(name.rpartition(".")[2]))


def parameters(module: nn.Module, *, width: int, gated: bool = False) -> NormParameters | None:
    """Infer the module's formula on vectors [D]; None for a module that is no LayerNorm, RMSNorm or BatchNorm.

    gated: whether it is given a second tensor as wide as its input.
    """
    known = _known.get(module)
    if known is None or known.is_changed(module):
        known = _known[module] = _Known(tuple(tensor.clone() for tensor in _tensors(module)))
    if (width, gated) not in known.formulas:
        known.formulas[width, gated] = _infer(module, width, gated)
    return known.formulas[width, gated]


@dataclass(frozen=True)
class _Known:
    """A module's formulas by width and gate, with its tensors as they were then: a model in memory is trained on."""

    tensors: tuple[Tensor, ...]
    formulas: dict[tuple[int, bool], NormParameters | None] = field(default_factory=dict)

    def is_changed(self, module: nn.Module) -> bool:
        """Return True if the module's tensors have other values by now."""
        return not all(map(torch.equal, self.tensors, _tensors(module)))


_known: WeakKeyDictionary[nn.Module, _Known] = WeakKeyDictionary()


def _tensors(module: nn.Module) -> list[Tensor]:
    """List the module's own tensors, but those that accelerate offloads, which nobody changes."""
    own = (*module._parameters.values(), *module._buffers.values())
    return [tensor.detach() for tensor in own if tensor is not None and not tensor.is_meta]


@torch.inference_mode()
def why_unknown(module: nn.Module, *, width: int) -> str:
    """Say what is known of a module whose formula is none of ours, from what it makes of a few vectors [D]."""
    with with_weights(module):
        module = _in_float32(module)
    random = torch.Generator().manual_seed(0)
    x = torch.randn(1, 3, width, generator=random)
    answer, _ = _answer(module, x, None)
    if answer is None or answer.shape != x.shape:
        return NO_FORMULA
    other = torch.cat([x[:, :1], torch.randn(1, 2, width, generator=random)], dim=1)
    changed, _ = _answer(module, other, None)
    if changed is not None and not torch.allclose(changed[:, 0], answer[:, 0], atol=_TOLERANCE, rtol=_TOLERANCE):
        return POOLED
    scaled, _ = _answer(module, 3 * x, None)
    nothing, _ = _answer(module, 0 * x, None)
    if scaled is None or nothing is None:
        return NO_FORMULA
    linear = torch.allclose(scaled - nothing, 3 * (answer - nothing), atol=_TOLERANCE, rtol=_TOLERANCE)
    return NO_STATISTICS if linear else NO_FORMULA


def _parameter(module: nn.Module, *names: str) -> Tensor | None:
    parameter = next((value for name in names if (value := getattr(module, name, None)) is not None), None)
    return parameter.detach() if isinstance(parameter, Tensor) else None


@torch.inference_mode()
def _infer(module: nn.Module, width: int, gated: bool) -> NormParameters | None:
    """Give the module a few vectors, large ones and some so small that epsilon tells, and see what it makes of them."""
    with with_weights(module):
        kept, module = module, _in_float32(module)
    weight, bias = _parameter(module, "gamma", "weight"), _parameter(module, "beta", "bias")
    if any(parameter is not None and parameter.shape != (width,) for parameter in (weight, bias)):
        return None
    running = _running(module, width)
    scale = torch.ones(width) if weight is None else weight
    beta = torch.zeros(width) if bias is None else bias
    learned = tuple(name for name, parameter in (("gamma", weight), ("beta", bias)) if parameter is not None)
    random = torch.Generator().manual_seed(0)
    x = torch.randn(1, 3, width, generator=random) * 2 + 0.5
    x = x * torch.tensor([1.0, 1.0, 1e-3])[:, None]
    gate = torch.randn(1, 3, width, generator=random) if gated else None
    answer, features_first = _answer(module, x, gate)
    if answer is None or answer.shape != x.shape:
        return None
    named = [float(value) for name in _EPSILONS if (value := getattr(module, name, None)) is not None]
    gatings: tuple[Gating, ...] = ("", *GATINGS) if gated else ("",)
    for epsilon in named[:1] or _USUAL_EPSILONS:
        for kind, plus_one in (("layer", False), ("rms", False), ("rms", True), ("layer", True), ("batch", False)):
            if kind == "batch" and running is None:
                continue
            gamma = 1 + scale if plus_one else scale
            for groups in dict.fromkeys((1, _groups(module, width))) if kind == "rms" else (1,):
                for gating in gatings:
                    made = normalise(
                        x,
                        gamma,
                        beta,
                        kind=kind,
                        epsilon=epsilon,
                        groups=groups,
                        gate=gate,
                        gating=gating,
                        running=running,
                    )
                    if torch.allclose(answer, made, atol=_TOLERANCE, rtol=_TOLERANCE):
                        return NormParameters(
                            kind,
                            _as_kept(kept, gamma, "gamma", "weight", plus=int(plus_one)),
                            _as_kept(kept, beta, "beta", "bias"),
                            epsilon,
                            features_first,
                            learned,
                            groups,
                            gating,
                            plus_one=plus_one and "gamma" in learned,
                            running=running if kind == "batch" else None,
                        )
    return None


def _as_kept(module: nn.Module, parameter: Tensor, *names: str, plus: int = 0) -> Tensor:
    """Copy a parameter; in float64 where the module keeps it so, plus 0 or 1."""
    kept = _parameter(module, *names)
    return parameter.clone() if kept is None or kept.dtype != torch.float64 else kept.cpu() + plus


def _running(module: nn.Module, width: int) -> Tensor | None:
    """Return the mean and variance [2, D] that a BatchNorm kept in training; None where it takes the batch's own."""
    mean = _parameter(module, "running_mean")
    variance = _parameter(module, "running_var", "running_variance")
    if mean is None or variance is None or module.training or {mean.shape, variance.shape} != {(width,)}:
        return None
    return torch.stack([mean, variance])


def _groups(module: nn.Module, width: int) -> int:
    """Return the number of groups of features that the module normalises separately, by Mamba-2's name for it."""
    size = getattr(module, "group_size", None)
    groups = int(getattr(module, "n_groups", None) or (width // int(size) if size else 1))
    return groups if groups > 0 and width % groups == 0 else 1


def _in_float32(module: nn.Module) -> nn.Module:
    """A copy on the CPU in float32, whatever the module's own precision: half of it could not tell its epsilon."""
    alone = copy.copy(module)
    for kind in ("_parameters", "_buffers"):
        tensors = getattr(module, kind).items()
        alone.__dict__[kind] = {name: None if tensor is None else _wide(tensor) for name, tensor in tensors}
    alone.__dict__.pop("forward", None)  # of accelerate, bound to the module itself
    return alone


def _wide(tensor: Tensor) -> Tensor:
    return (tensor.detach().float() if tensor.is_floating_point() else tensor).cpu()


def _answer(module: nn.Module, x: Tensor, gate: Tensor | None) -> tuple[Tensor | None, bool]:
    """Run the module on x [B, T, D] and tell if it needs [B, D, T]; None where it accepts neither."""
    for features_first in (False, True):
        given = [tensor for tensor in (x, gate) if tensor is not None]
        given = [tensor.transpose(1, 2) for tensor in given] if features_first else given
        try:
            out = module.forward(*given)  # not called: hooks are for what is read
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        out = out[0] if isinstance(out, tuple) else out  # I-BERT gives a scale beside it
        return (out.transpose(1, 2) if features_first else out).float(), features_first
    return None, False
