"""What a norm module computes, found out by asking it: its formula, gamma, beta and epsilon; a part of the probe."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, rms_norm

_NAMED = re.compile(r"norm", re.IGNORECASE)
_OF_A_HEAD = re.compile(
    r"(^|_)(q|k|v|query|key|value)_?(layer)?_?norm|q_a_|kv_a_", re.IGNORECASE
)  # of queries and keys
_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class NormParameters:
    """kind: "layer" (Ba et al. 2016) or "rms" (Zhang & Sennrich 2019); gamma and beta [D], beta 0 in an RMSNorm.

    gamma is what multiplies: where a module keeps it less 1 (Gemma), with the 1.
    """

    kind: str
    gamma: Tensor
    beta: Tensor
    epsilon: float


def is_norm(name: str, module: nn.Module) -> bool:
    """Whether a module normalises the residual stream; norms of queries and keys do not."""
    gamma = getattr(module, "gamma", getattr(module, "weight", None))
    named = _NAMED.search(type(module).__name__) and not _OF_A_HEAD.search(name.rpartition(".")[2])
    return bool(named) and isinstance(gamma, Tensor) and gamma.ndim == 1


def parameters(module: nn.Module) -> NormParameters | None:
    """What the module computes; None where it is neither a LayerNorm nor an RMSNorm."""
    if module not in _known:
        _known[module] = _ask(module)
    return _known[module]


_known: WeakKeyDictionary[nn.Module, NormParameters | None] = WeakKeyDictionary()  # a loaded model never changes


@torch.inference_mode()
def _ask(module: Any) -> NormParameters | None:
    weight: Tensor = (module.gamma if hasattr(module, "gamma") else module.weight).detach().float()
    bias = getattr(module, "beta", getattr(module, "bias", None))
    beta = torch.zeros_like(weight) if bias is None else bias.detach().float()
    epsilon = next((float(value) for name in _EPSILONS if (value := getattr(module, name, None)) is not None), 0.0)
    x = torch.randn(2, len(weight), generator=torch.Generator().manual_seed(0)).to(weight.device) * 2 + 0.5
    asked = module.forward(x.to(next(module.parameters()).dtype)).float()  # not called: hooks are for what is read
    for kind, gamma in (("layer", weight), ("rms", weight), ("rms", 1 + weight)):
        made = (
            layer_norm(x, gamma.shape, gamma, beta, epsilon)
            if kind == "layer"
            else rms_norm(x, gamma.shape, gamma, epsilon)
        )
        if torch.allclose(asked, made, atol=_TOLERANCE, rtol=_TOLERANCE):
            return NormParameters(kind, gamma.clone(), beta.clone(), epsilon)
    return None
