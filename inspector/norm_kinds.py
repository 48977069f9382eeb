"""What a norm module computes, found out by asking it: its formula, gamma, beta and epsilon; a part of the probe."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, rms_norm

from models.placed import with_weights

_NAMED = re.compile(r"norm", re.IGNORECASE)
_INSIDE = re.compile(
    r"(^|_)(q|k|v|query|key|value)_?(layer)?_?norm|q_a_|kv_a_|^(dt|b|c)_layernorm|_sub_norm", re.IGNORECASE
)  # of queries and keys, of what steers a state space (Jamba), of what W_O and the second FFN matrix take (BitNet)
_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_USUAL_EPSILONS = (1e-5, 1e-6, 1e-12)  # of modules that write it into their forward (OLMo)
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class NormParameters:
    """kind: "layer" (Ba et al. 2016) or "rms" (Zhang & Sennrich 2019); gamma and beta [D], beta 0 in an RMSNorm.

    gamma is what multiplies: where a module keeps it less 1 (Gemma), with the 1. features_first: whether the module
    takes [B, D, T].
    """

    kind: str
    gamma: Tensor
    beta: Tensor
    epsilon: float
    features_first: bool = False


def is_norm(name: str, module: nn.Module) -> bool:
    """Whether a module normalises what a sublayer takes or gives; norms inside one (of queries and keys) do not."""
    named = _NAMED.search(type(module).__name__) and not _INSIDE.search(name.rpartition(".")[2])
    return bool(named) and _width(module) is not None


def parameters(module: nn.Module) -> NormParameters | None:
    """What the module computes; None where it is neither a LayerNorm nor an RMSNorm."""
    if module not in _known:
        _known[module] = _ask(module)
    return _known[module]


_known: WeakKeyDictionary[nn.Module, NormParameters | None] = WeakKeyDictionary()  # a loaded model never changes


def _weight(module: nn.Module) -> Tensor | None:
    weight = getattr(module, "gamma", getattr(module, "weight", None))
    return weight.detach() if isinstance(weight, Tensor) else None


def _width(module: nn.Module) -> int | None:
    """D; None where the module is no norm of features."""
    weight = _weight(module)
    if weight is not None:
        return len(weight) if weight.ndim == 1 else None
    shape = getattr(module, "normalized_shape", None)  # nothing learned (OLMo)
    return int(shape[0]) if shape is not None and len(shape) == 1 else None


@torch.inference_mode()
def _ask(module: nn.Module) -> NormParameters | None:
    """Give the module a few vectors, large ones and some so small that epsilon tells, and see what it makes of them."""
    with with_weights(module):
        module = _in_float32(module)
    weight, width = _weight(module), _width(module)
    kept = torch.ones(width or 0) if weight is None else weight
    bias = getattr(module, "beta", getattr(module, "bias", None))
    beta = bias.detach() if isinstance(bias, Tensor) else torch.zeros_like(kept)
    x = torch.randn(1, 3, len(kept), generator=torch.Generator().manual_seed(0)) * 2 + 0.5
    x = x * torch.tensor([1.0, 1.0, 1e-3])[:, None]
    answer, features_first = _answer(module, x)
    named = [float(value) for name in _EPSILONS if (value := getattr(module, name, None)) is not None]
    for epsilon in named[:1] or _USUAL_EPSILONS:
        for kind, gamma in (("layer", kept), ("rms", kept), ("rms", 1 + kept), ("layer", 1 + kept)):
            made = (
                layer_norm(x, gamma.shape, gamma, beta, epsilon)
                if kind == "layer"
                else rms_norm(x, gamma.shape, gamma, epsilon)
            )
            if answer is not None and torch.allclose(answer, made, atol=_TOLERANCE, rtol=_TOLERANCE):
                return NormParameters(kind, gamma.clone(), beta.clone(), epsilon, features_first)
    return None


def _in_float32(module: nn.Module) -> nn.Module:
    """A copy on the CPU in float32, whatever the module's own precision: half of it could not tell its epsilon."""
    alone = copy.copy(module)
    for kind in ("_parameters", "_buffers"):
        own = getattr(module, kind).items()
        alone.__dict__[kind] = {name: None if tensor is None else _wide(tensor) for name, tensor in own}
    alone.__dict__.pop("forward", None)  # of accelerate, bound to the module itself
    return alone


def _wide(tensor: Tensor) -> Tensor:
    return (tensor.detach().float() if tensor.is_floating_point() else tensor).cpu()


def _answer(module: nn.Module, x: Tensor) -> tuple[Tensor | None, bool]:
    """What the module makes of x [B, T, D], and whether it wants [B, D, T]; None where it takes neither."""
    for features_first in (False, True):
        try:
            out = module.forward(x.transpose(1, 2) if features_first else x)  # not called: hooks are for what is read
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        out = out[0] if isinstance(out, tuple) else out  # I-BERT gives a scale beside it
        return (out.transpose(1, 2) if features_first else out).float(), features_first
    return None, False
