"""The matrix products of a layer as it runs: which made a query, which an FFN, and what was added to the stream.

Names do not tell: one family calls its first matrix `wi`, another `c_fc`, and a layer may sum in any order. So the
tensors are followed. Each product marks its output; what is computed from it element by element keeps the mark; a sum
of two whole states tells whose output was added to the stream. An FFN is two products with an activation function
between them, and is held to that by its numbers. A part of the probe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.probe.norm_hooks import WatchedForward
from inspector.probe.norm_places import LayerCall
from inspector.probe.residual_sums import ADDS, place
from inspector.trace.blocks import ACTIVATIONS, Matrix, Part
from models.attention import AttentionCall
from models.huggingface.eager_output import SeenSoftmax

_KEEPS = frozenset(
    (
        *("mul", "__mul__", "__rmul__", "mul_", "div", "__truediv__", "truediv"),
        *("true_divide", "sub", "__sub__", "neg", "pow", "__pow__", "square"),
        *("tanh", "sigmoid", "gelu", "relu", "relu_", "silu", "mish"),
        *("exp", "erf", "clamp", "dropout", "to", "float", "type_as"),
        *("half", "bfloat16", "contiguous", "reshape", "flatten", "clone", "cat"),
        *("stack", "rsqrt", "rms_norm", "layer_norm", "where"),
    )
)
"""Functions whose result is made of the same states, element by element or as a copy."""
_MOST_MARKS = 3  # an FFN's hidden units come from one product, or from two with a gate


@dataclass(eq=False)
class LayerProduct:
    """A product of a layer with a learned matrix. adds: the sublayer whose output it makes, "" for none.

    x [.., in], out [.., out]: while its layer runs. roles: what the product is for. added: what was added to the
    stream. beside: as in `Addition`.
    """

    call: LayerCall
    matrix: Matrix
    x: Tensor | None
    out: Tensor | None
    roles: list[str] = field(default_factory=list)
    adds: Part | None = None
    added: Tensor | None = None
    beside: bool = False


@dataclass(frozen=True)
class WatchedFFN:
    """An FFN that ran: its last product, its input [Q, D] and what it is made of, as in `FFNRecord`."""

    call: LayerCall
    input: Tensor
    activation: str
    up: Matrix
    gate: Matrix | None
    down: LayerProduct


class Products(TorchFunctionMode):
    """Watches one forward; tensors are held while their layer runs, so that no other gets their address.

    names: of every parameter, by `key`. likely: the activation function that the model's configuration names.
    """

    def __init__(self, seen: WatchedForward, names: Mapping[tuple[int, int], str], *, likely: str | None) -> None:
        super().__init__()
        self.products: list[LayerProduct] = []
        self.ffns: list[WatchedFFN] = []
        self.embedding = ""
        self._seen, self._names = seen, names
        self._order = sorted(ACTIVATIONS, key=lambda name: name != likely)
        self._call: LayerCall | None = None
        self._first = 0  # the number of the layer's first product
        self._marks: dict[int, frozenset[int]] = {}
        self._held: list[Tensor] = []
        self._projects: Part | None = None  # of an attention whose output no product has taken yet
        self._attending = False

    def attends(self, call: AttentionCall) -> None:
        """Note an attention call: which products made its queries, keys and values."""
        for role, tensor in (("q", call.query), ("k", call.key), ("v", call.value)):
            marks = self._marks.get(place(tensor), frozenset())
            if len(marks) == 1:
                (number,) = marks
                self.products[number].roles.append(role)
        self._projects = "cross" if call.stream == "cross" else "attention"
        self._attending = not isinstance(call.function, SeenSoftmax)

    def attended(self) -> None:
        """Note that the attention call gave its output: its function's own products are no layer's."""
        self._attending = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, and follow what it did."""
        named = kwargs or {}
        if func is torch.nn.functional.embedding and not self.embedding:
            self.embedding = self._name(args[1] if len(args) > 1 else named.get("weight")) or ""
        running = self._seen.running
        if running is None or self._attending:
            return func(*args, **named)
        if self._call is not running:
            self._begin(running)
        if func in PRODUCTS:
            out = func(*args, **named)
            x, weight, bias, flipped = PRODUCTS[func](*args, **named)
            self._multiplied(x, weight, bias, flipped, out)
            return out
        name = getattr(func, "__name__", "")
        if name not in _KEEPS and name not in ADDS:
            return func(*args, **named)
        lists = [part for value in args[:3] for part in (value if isinstance(value, (list, tuple)) else (value,))]
        given = [operand for operand in lists if isinstance(operand, Tensor) and operand.is_floating_point()]
        marks = frozenset[int]().union(*(self._marks.get(place(operand), frozenset()) for operand in given))
        if marks and name in ADDS:
            self._added(given)
        out = func(*args, **named)
        if marks and isinstance(out, Tensor):
            self._marks[place(out)] = marks
            self._held.append(out)
        return out

    def end(self) -> None:
        """Let go of what the last layer held."""
        for product in self.products[self._first :]:
            product.x = product.out = None
        self._marks, self._held, self._projects, self._call = {}, [], None, None

    def _begin(self, call: LayerCall) -> None:
        self.end()
        self._call, self._first = call, len(self.products)

    def _multiplied(self, x: Tensor, weight: Any, bias: Any, flipped: bool, out: Tensor) -> None:
        assert self._call is not None
        name = self._name(weight)
        if name is None:
            return
        matrix = Matrix(name, self._name(bias), flipped)
        product = LayerProduct(self._call, matrix, x, out)
        marks = self._marks.get(place(x), frozenset())
        if self._projects is not None and self._seen.attends:
            product.adds, product.roles = self._projects, ["out"]
            product.beside = self._waits("ffn")
        elif 0 < len(marks) <= _MOST_MARKS and not self._seen.attends:
            self._find(product, [self.products[number] for number in sorted(marks)])
        self._projects = None
        self._marks[place(out)] = frozenset((len(self.products),))
        self.products.append(product)

    def _name(self, tensor: Any) -> str | None:
        return self._names.get(key(tensor)) if isinstance(tensor, Tensor) and tensor.device.type != "meta" else None

    def _waits(self, *parts: Part) -> bool:
        """Return True if a sublayer of these parts ran in the layer and has not been added to the stream yet."""
        return any(product.adds in parts and product.added is None for product in self.products[self._first :])

    def _find(self, down: LayerProduct, before: list[LayerProduct]) -> None:
        """See whether the product is an FFN's second matrix, with the first matrices among the products before."""
        assert down.x is not None
        hidden = down.x.detach().reshape(-1, down.x.shape[-1])
        width = hidden.shape[-1]
        halves: list[tuple[LayerProduct, Matrix, Tensor]] = []
        for product in before:
            assert product.out is not None
            out, matrix = product.out.detach().reshape(-1, product.out.shape[-1]), product.matrix
            if len(out) != len(hidden):
                continue
            if out.shape[-1] == width:
                halves.append((product, matrix, out))
            elif out.shape[-1] == 2 * width:
                for start in (0, width):
                    part = Matrix(matrix.name, matrix.bias, matrix.flipped, (start, start + width))
                    halves.append((product, part, out[:, start : start + width]))
        pairs = [(half, None) for half in halves] + [(a, b) for a in halves for b in halves if a is not b]
        for activated, other in pairs:
            act = self._activation(activated[2], None if other is None else other[2], hidden)
            if act is None:
                continue
            first = activated[0]
            assert first.x is not None
            gate, up = (None, activated[1]) if other is None else (activated[1], other[1])
            first.roles.append("up" if other is None else "gate")
            if other is not None:
                other[0].roles.append("up")
            down.beside = self._waits("attention", "cross")
            kept_input = self._seen.keep(first.x.reshape(-1, first.x.shape[-1]))
            down.roles, down.adds = ["down"], "ffn"
            self.ffns.append(WatchedFFN(down.call, kept_input, act, up, gate, down))
            return

    def _activation(self, given: Tensor, other: Tensor | None, hidden: Tensor) -> str | None:
        """The activation function that makes `hidden` of `given`, times `other` where there is one; None for none."""
        digits = torch.finfo(hidden.dtype).eps
        for rows in (slice(-1, None), slice(None)):  # one token says no at once
            wide = given[rows].float()
            factor = None if other is None else other[rows].float()
            want = hidden[rows].float()
            allowed = max(1e-5, 4 * digits) * float(want.abs().max())
            fitting = []
            for name in self._order:
                made = ACTIVATIONS[name](wide)
                made = made if factor is None else made * factor
                if float((made - want).abs().max()) <= allowed:
                    fitting.append(name)
            if not fitting:
                return None
        return fitting[0]

    def _added(self, given: list[Tensor]) -> None:
        """Note whose outputs take part in a sum of two whole states."""
        assert self._call is not None
        if len(given) < 2 or {tensor.numel() for tensor in given[:2]} != {self._call.entered.numel()}:
            return
        for tensor in given[:2]:
            marks = self._marks.get(place(tensor), frozenset())
            new = [self.products[number] for number in marks]
            new = [product for product in new if product.adds is not None and product.added is None]
            if len(new) == 1:
                width = self._call.entered.shape[-1]
                new[0].added = tensor.detach().reshape(-1, width).cpu().clone()


def key(tensor: Tensor) -> tuple[int, int]:
    """The address of a tensor and how many numbers it has: the same of its transpose."""
    return tensor.data_ptr(), tensor.numel()


def _linear(input: Tensor, weight: Any, bias: Any = None) -> tuple[Tensor, Any, Any, bool]:
    return input, weight, bias, True


def _addmm(input: Any, mat1: Tensor, mat2: Any) -> tuple[Tensor, Any, Any, bool]:
    return mat1, mat2, input, False


def _matmul(input: Tensor, other: Tensor) -> tuple[Tensor, Any, Any, bool]:
    return input, other, None, not other.is_contiguous()


def _einsum(equation: Any, *operands: Any) -> tuple[Any, Any, Any, bool]:
    """A product as XLNet writes it, "ibh,hnd->ibnd": its matrix has an axis for heads; any other is with no matrix."""
    if isinstance(equation, str) and len(operands) == 2:
        given, _, made = equation.replace(" ", "").partition("->")
        of_x, _, of_matrix = given.partition(",")
        ends = (of_matrix[:1], of_matrix[1:])
        for into, out_of in (ends, ends[::-1]):
            if into and of_x.endswith(into) and made == of_x.removesuffix(into) + out_of:
                return operands[0].flatten(-len(into)), operands[1], None, into == ends[1]
    return equation, None, None, False


PRODUCTS: dict[Any, Callable[..., tuple[Tensor, Any, Any, bool]]] = {
    torch.einsum: _einsum,
    torch.matmul: _matmul,
    torch.Tensor.matmul: _matmul,
    torch.Tensor.__matmul__: _matmul,
    torch.nn.functional.linear: _linear,
    torch.addmm: _addmm,
}
"""Products with learned matrices, as nn.Linear, Conv1D, Falcon and XLNet make them -> x, weight, bias, flipped."""


class LastProduct(TorchFunctionMode):
    """Keeps the last matrix product with a learned matrix. names: of every parameter, by `key`.

    factors: its input and its matrix; width: of its output.
    """

    def __init__(self, names: Mapping[tuple[int, int], str]) -> None:
        super().__init__()
        self._names = names
        self.factors: tuple[Tensor, Matrix] | None = None
        self.width = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, and keep what it multiplied."""
        out = func(*args, **(kwargs or {}))
        if func in PRODUCTS:
            x, weight, bias, flipped = PRODUCTS[func](*args, **(kwargs or {}))
            name = self._names.get(key(weight)) if isinstance(weight, Tensor) else None
            if name is not None:
                bias = self._names.get(key(bias)) if isinstance(bias, Tensor) else None
                self.factors, self.width = (x, Matrix(name, bias, flipped)), out.shape[-1]
        return out
