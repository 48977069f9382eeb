"""A run in which what follows a learned matrix is linear: norms keep the scales of this text, gates their values.

Each matrix product with learned parameters is cut: its output starts a graph of its own, so that a gradient leads
from a head's query back to the product that made it, through norms of queries, RoPE and constants alone. A part of the
probe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from inspector.probe.products import PRODUCTS, key
from inspector.trace.blocks import Matrix


@dataclass(eq=False)
class CutProduct:
    """A product x W + b that ran. x: its input; made: its output, the leaf of what is computed from it."""

    matrix: Matrix
    x: Tensor
    made: Tensor


class HeldScales(TorchFunctionMode):
    """Makes a graph of everything computed from a leaf, with scales, gates and soft-caps held at their values.

    A norm divides by the deviation that it has on this text; GELU and tanh multiply by act(x) / x; of two factors that
    both depend on a leaf, the second is held. names: of every parameter, by `products.key`. wanted: asked at each
    function whether it is to be followed. cut: whether products are cut; else they are followed. products: those that
    were cut, in order. biases: by name, the leaves of the parameters that were added.
    """

    def __init__(
        self, names: Mapping[tuple[int, int], str], *, wanted: Callable[[], bool] = lambda: True, cut: bool = True
    ) -> None:
        super().__init__()
        self._cut = cut
        self.products: list[CutProduct] = []
        self.biases: dict[str, Tensor] = {}
        self._names, self._wanted = names, wanted

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, and follow what depends on a leaf."""
        named = kwargs or {}
        if not self._wanted():
            return func(*args, **named)
        if func in PRODUCTS:
            x, weight, bias, flipped = PRODUCTS[func](*args, **named)
            name = self._names.get(key(weight)) if isinstance(weight, Tensor) else None
            if not self._cut and is_followed(x):
                with torch.enable_grad():
                    named = {at: self._leaf(value) if value is bias else value for at, value in named.items()}
                    return func(*(self._leaf(value) if value is bias else value for value in args), **named)
            if name is not None and self._cut:
                out = func(*args, **named).detach()
                of_bias = self._names.get(key(bias)) if isinstance(bias, Tensor) else None
                self.products.append(CutProduct(Matrix(name, of_bias, flipped), x, out.requires_grad_()))
                return out
        given = [value for value in _flat((args, named)) if isinstance(value, Tensor)]
        learned = any(value.requires_grad for value in given)
        with torch.set_grad_enabled(any(map(is_followed, given)) or not learned):  # a view that is written to later
            return self._followed(func, args, named) if any(map(is_followed, given)) else func(*args, **named)

    def _followed(self, func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if func in _NORMS:
            args = tuple(self._leaf(value) if at == _BETA else value for at, value in enumerate(args))
            named = {name: self._leaf(value) if name == "bias" else value for name, value in named.items()}
            return _NORMS[func](*args, **named)
        name = getattr(func, "__name__", "")
        if name in _HELD or (name in ("pow", "__pow__") and _exponent(args, named) != 1):
            out: Any = func(*args, **named)
            return out.detach() if isinstance(out, Tensor) else out
        if name in _RATIOS:
            x = args[0]
            made = func(*(_held(value) for value in args), **named)
            ratio = torch.where(_held(x) == 0, torch.ones_like(made), made / _held(x))
            return x * ratio
        if name in _FACTORS and all(is_followed(value) for value in args[:2]) and len(args) > 1:
            return func(args[0], args[1].detach())
        if name in _SUMS:
            args = tuple(self._leaf(value) for value in args)
        return func(*args, **named)

    def _leaf(self, value: Any) -> Any:
        """The leaf of a tensor that is added, a parameter as a rule; anything else as it is."""
        if not isinstance(value, Tensor) or is_followed(value) or not value.is_floating_point():
            return value
        name = self._names.get(key(value)) or f"constant {len(self.biases)}"
        return self.biases.setdefault(name, value.detach().clone().requires_grad_())


def is_followed(value: Any) -> bool:
    """Return True for a tensor that was computed from a leaf, or is one."""
    return isinstance(value, Tensor) and value.requires_grad and not isinstance(value, nn.Parameter)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from _flat(part)
    elif isinstance(value, dict):
        yield from _flat(tuple(value.values()))
    else:
        yield value


def _held(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _exponent(args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return named.get("exponent", args[1] if len(args) > 1 else None)


def _layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(dim=axes, keepdim=True)
    out = centred * (centred.detach().square().mean(dim=axes, keepdim=True) + eps).rsqrt()
    out = out if weight is None else out * weight.detach()
    return out if bias is None else out + bias


def _rms_norm(input: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    small = torch.finfo(input.dtype).eps if eps is None else eps
    out = input * (input.detach().square().mean(dim=axes, keepdim=True) + small).rsqrt()
    return out if weight is None else out * weight.detach()


def _normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    length: Tensor = input.detach().norm(p, dim, keepdim=True).clamp_min(eps)
    return input / length


_BETA = 3  # the place of a norm's beta among its arguments
_NORMS: Mapping[Any, Callable[..., Tensor]] = {
    functional.layer_norm: _layer_norm,
    torch.layer_norm: _layer_norm,
    functional.rms_norm: _rms_norm,
    torch.rms_norm: _rms_norm,
    functional.normalize: _normalize,
}
_HELD = frozenset(
    (
        *("rsqrt", "sqrt", "reciprocal", "norm", "vector_norm", "var", "std", "square", "exp", "log", "log1p"),
        *("sigmoid", "softmax", "softplus", "logsigmoid", "erf", "amax", "max", "abs", "sum_of_squares"),
    )
)
"""Functions whose result is held: the scales of norms that are written out, and gates."""
_RATIOS = frozenset(("gelu", "relu", "silu", "tanh", "mish", "clamp", "clip", "hardtanh", "relu6", "leaky_relu"))
"""Functions of one number that are held as a factor, act(x) / x."""
_FACTORS = frozenset(("mul", "__mul__", "__rmul__", "div", "__truediv__", "true_divide", "mul_", "__imul__"))
_SUMS = frozenset(("add", "__add__", "__radd__", "add_", "__iadd__", "sub", "__sub__", "__rsub__"))
