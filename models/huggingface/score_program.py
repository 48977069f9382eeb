"""Attention scores as a program: the operations on queries and keys, kept so that any rows can be made again.

Models that do their attention by themselves hand out maps as large as the square of the text. The way to such a map is
short: a product of queries and keys, a scale, a bias, a mask, now and then a look-up by distance. `ScoreWatch` sees
these operations while the model runs and keeps them with what went in, which is linear in the text; `part` computes any
rows of any heads again. Nothing is known of the model here: what cannot be followed is no program.

Shapes: H heads, Q query positions, T key positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from models.attention.pairs import ByDistance, CompactTensor, Cut, TwoValued, Whole, by_distance, compact

_MOST_CELLS = 2**28  # of one intermediate result: a program may come from a file


class Node(Protocol):
    """A tensor that a program makes: a node of the program."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        ...

    def part(self, cut: Cut) -> Tensor:
        """Return the cut of the tensor."""
        ...


@dataclass(frozen=True)
class Given:
    """A tensor that goes into a program: queries, keys, a mask."""

    kept: CompactTensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return self.kept.shape

    def part(self, cut: Cut) -> Tensor:
        """Return the cut of the tensor, contiguous: an equal memory layout gives equal bits, also after a file."""
        return self.kept.part(cut).contiguous()


@dataclass(frozen=True)
class Cellwise:
    """An operation on each cell alone, by its name in `CELLWISE`; operands are programs or numbers."""

    name: str
    operands: tuple[Any, ...]
    size: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape after broadcasting."""
        return tuple(self.size)

    def part(self, cut: Cut) -> Tensor:
        """Compute the part from the same part of each operand."""
        parts = [_part(operand, cut) if _is_node(operand) else operand for operand in self.operands]
        _check_room(_broadcast(*(part.shape for part in parts if isinstance(part, Tensor))))
        return CELLWISE[self.name](*parts)


@dataclass(frozen=True)
class Product:
    """alpha a b + beta added, as torch.baddbmm has it; added is None for nothing."""

    a: Node
    b: Node
    added: Any = None
    alpha: float = 1
    beta: float = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape [..., rows of a, columns of b]."""
        return (*_broadcast(self.a.shape[:-2], self.b.shape[:-2]), self.a.shape[-2], self.b.shape[-1])

    def part(self, cut: Cut) -> Tensor:
        """Compute the cut from rows of a and columns of b."""
        a = _part(self.a, {dim: chosen for dim, chosen in cut.items() if dim != -1})
        b = _part(self.b, {dim: chosen for dim, chosen in cut.items() if dim != -2})
        _check_room((*_broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
        if self.added is None:
            return a @ b
        return torch.baddbmm(_part(self.added, cut), a, b, alpha=self.alpha, beta=self.beta)


@dataclass(frozen=True)
class Einsum:
    """torch.einsum."""

    equation: str
    operands: tuple[Node, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that the letters after the arrow give."""
        sizes = {
            letter: size
            for letters, operand in zip(self._letters[0], self.operands, strict=True)
            for letter, size in zip(letters, operand.shape, strict=True)
        }
        return tuple(sizes[letter] for letter in self._letters[1])

    def part(self, cut: Cut) -> Tensor:
        """Compute the cut from the same letters' part of each operand."""
        inside, out = self._letters
        chosen = {out[dim]: part for dim, part in cut.items()}
        parts = [
            _part(operand, {at - len(letters): chosen[x] for at, x in enumerate(letters) if x in chosen})
            for letters, operand in zip(inside, self.operands, strict=True)
        ]
        sizes = {
            x: n for letters, part in zip(inside, parts, strict=True) for x, n in zip(letters, part.shape, strict=True)
        }
        _check_room([sizes[letter] for letter in out])
        return torch.einsum(self.equation, *parts)

    @property
    def _letters(self) -> tuple[list[str], str]:
        inside, out = self.equation.replace(" ", "").split("->")
        return inside.split(","), out


@dataclass(frozen=True)
class Turned:
    """A tensor with its dimensions in another order: for each new dimension, its place before."""

    node: Node
    order: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the new order of dimensions."""
        return tuple(self.node.shape[dim] for dim in self.order)

    def part(self, cut: Cut) -> Tensor:
        """Compute the cut from the same part of the operand."""
        count = len(self.order)
        return _part(self.node, {self.order[dim] - count: chosen for dim, chosen in cut.items()}).permute(*self.order)


@dataclass(frozen=True)
class Reshaped:
    """A tensor with dimensions of one cell added or removed."""

    node: Node
    size: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The new shape."""
        return tuple(self.size)

    def part(self, cut: Cut) -> Tensor:
        """Compute the cut from the same part of the operand."""
        before, after = ([dim for dim in range(-len(s), 0) if s[dim] != 1] for s in (self.node.shape, self.shape))
        same = dict(zip(after, before, strict=True))
        part = _part(self.node, {same[dim]: chosen for dim, chosen in cut.items()})
        sizes = [len(range(size)[cut.get(at - len(self.size), slice(None))]) for at, size in enumerate(self.size)]
        return part.reshape(sizes)


@dataclass(frozen=True)
class LookedUp:
    """torch.gather in the last dimension: from each row the columns that `index` names."""

    node: Node
    index: Node

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape with as many columns as the index has."""
        return (*self.node.shape[:-1], self.index.shape[-1])

    def part(self, cut: Cut) -> Tensor:
        """Compute the cut from all columns of the same rows."""
        rows = _part(self.node, {dim: chosen for dim, chosen in cut.items() if dim != -1})
        index = _part(self.index, cut)
        _check_room((*rows.shape[:-1], index.shape[-1]))
        return rows.gather(-1, index.long().expand(*rows.shape[:-1], index.shape[-1]))


PARTS = (Given, Cellwise, Product, Einsum, Turned, Reshaped, LookedUp, Whole, ByDistance, TwoValued)
"""The classes of a program's nodes."""


def _cast(x: Tensor, dtype: str) -> Tensor:
    return x.to(getattr(torch, dtype))


CELLWISE: Mapping[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "max": torch.maximum,
    "min": torch.minimum,
    "where": torch.where,
    "masked_fill": torch.masked_fill,
    "to": _cast,
}


def _is_node(operand: object) -> bool:
    return isinstance(operand, PARTS)


def _part(node: Node, cut: Cut) -> Tensor:
    """Cut a node; dimensions that it lacks are left out, and a dimension of one cell stands for all cells."""
    shape = node.shape
    return node.part({dim: chosen for dim, chosen in cut.items() if -dim <= len(shape) and shape[dim] != 1})


def _broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]


def _check_room(shape: Sequence[int]) -> None:
    if (cells := torch.Size(shape).numel()) > _MOST_CELLS:
        raise ValueError(f"an intermediate result would have {cells:,} numbers, more than {_MOST_CELLS:,}")


# --- watching a model ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Raw:
    """A tensor that goes into a program, held until the program is known to be needed."""

    tensor: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)


@dataclass(frozen=True)
class _Moves:
    """Operations that move cells and change none, one after the other."""

    node: Any
    moves: tuple[Callable[[Tensor], Tensor], ...]
    shape: tuple[int, ...]
    device: torch.device


class ScoreWatch:
    """Follows the operations of a running model; `program` gives the operations that made a tensor."""

    def __init__(self) -> None:
        self._made: Any = WeakTensorKeyDictionary()
        self._inputs: list[tuple[Tensor, CompactTensor]] = []  # of the layer before: layers share masks and tables

    def see(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Follow one operation."""
        name = getattr(func, "__name__", "").strip("_")
        follow = _FOLLOWED.get(name)
        if follow is None or not isinstance(result, Tensor):
            return
        known = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x in self._made]
        if known or name in _BEGINNINGS:
            node = follow(self, args, dict(kwargs), result)
            if node is not None:
                self._made[result] = node
            elif result in self._made:  # changed in its place by what cannot be followed
                del self._made[result]

    def program(self, scores: Tensor, *, pairs: tuple[int, int]) -> Node | None:
        """Return the program that made the scores [.., Q, T], in memory linear in the text; None where it is not known.

        pairs: Q and T.
        """
        node = self._made.get(scores)
        program = None if node is None else self._kept_small(node, pairs)
        self._made.clear()
        return program

    def node(self, operand: Any) -> Any:
        """Turn an operand into a node of a program."""
        if not isinstance(operand, Tensor):
            return operand
        return self._made[operand] if operand in self._made else _Raw(operand)

    def _kept_small(self, node: Any, pairs: tuple[int, int]) -> Any:
        """Keep all inputs of the program; None where an input has a number for each pair of tokens."""
        if isinstance(node, _Raw):
            return self._given(node.tensor, pairs)
        if isinstance(node, _Moves):
            index = _shift(node)
            inside = None if index is None else self._kept_small(node.node, pairs)
            return None if index is None or inside is None else LookedUp(inside, Given(index))
        changed: dict[str, Any] = {}
        for field in fields(node):
            value = getattr(node, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            small = tuple(self._kept_small(x, pairs) if isinstance(x, (*PARTS, _Raw, _Moves)) else x for x in parts)
            if any(new is None and old is not None for new, old in zip(small, parts, strict=True)):
                return None
            changed[field.name] = small if isinstance(value, tuple) else small[0]
        return replace(node, **changed)

    def _given(self, tensor: Tensor, pairs: tuple[int, int]) -> Given | None:
        for before, small in self._inputs:
            if before is tensor:
                return Given(small)
        if not _of_pairs(tensor, pairs):
            return Given(Whole(tensor.detach()))
        small = compact(tensor)
        if isinstance(small, Whole) and _of_pairs(small.values, pairs):
            return None
        for _, other in self._inputs:
            if isinstance(small, TwoValued) and isinstance(other, TwoValued) and _same(small, other):
                small = other
        self._inputs = [*self._inputs[-3:], (tensor, small)]
        return Given(small)


def _of_pairs(tensor: Tensor, pairs: tuple[int, int]) -> bool:
    """Return True if a tensor can have a number for each pair of tokens: enough cells, and both lengths as sizes."""
    sizes = list(tensor.shape)
    for length in pairs:
        if length not in sizes:
            return False
        sizes.remove(length)
    return True


def _same(a: TwoValued, b: TwoValued) -> bool:
    return a.size == b.size and torch.equal(a.bits, b.bits) and torch.equal(a.values, b.values)


def _shift(moved: _Moves) -> ByDistance | None:
    """Return the moves within each row [.., Q, R] -> [.., Q, T] as columns by distance; None for any other moves."""
    before, columns = moved.node.shape, moved.node.shape[-1]
    cells = torch.arange(before[-2] * columns, dtype=torch.int32, device=moved.device).view(*before[-2:]).expand(before)
    for move in moved.moves:
        cells = move(cells)
    if cells.shape[:-1] != before[:-1]:
        return None
    flat = cells.reshape(-1, *cells.shape[-2:])
    rows = torch.arange(before[-2], dtype=torch.int32, device=moved.device)[:, None]
    same = bool((flat == flat[:1]).all()) and bool((flat[0] // columns == rows).all())
    return by_distance((flat[0] % columns).reshape(*[1] * (cells.ndim - 2), *flat.shape[1:])) if same else None


# --- what is followed ------------------------------------------------------------------------------------------------

Follow = Callable[[ScoreWatch, Sequence[Any], dict[str, Any], Tensor], Any]


def _cellwise(name: str, *, swapped: bool = False) -> Follow:
    def follow(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
        operands = [*args, *kwargs.values()]
        if {*kwargs} - {"other", "mask", "value", "input"} or not 2 <= len(operands) <= 3:
            return None
        nodes = tuple(watch.node(operand) for operand in (operands[::-1] if swapped else operands))
        if name == "where" and not isinstance(operands[0], Tensor):
            return None
        return Cellwise(name, nodes, tuple(result.shape))

    return follow


def _cast_to(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    node = watch.node(args[0])
    if result.dtype == args[0].dtype:
        return node
    return Cellwise("to", (node, str(result.dtype).removeprefix("torch.")), tuple(result.shape))


def _unchanged(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    return watch.node(args[0])


def _dropped_out(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    training = kwargs.get("training", args[2] if len(args) > 2 else True)
    return None if training else watch.node(args[0])


def _product(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    operands = [*args, *kwargs.values()]
    if len(operands) != 2 or min(operand.ndim for operand in operands) < 3:  # two dimensions: a learned matrix (Falcon)
        return None
    return Product(*(watch.node(operand) for operand in operands))


def _product_and_sum(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    given = dict(zip(("input", "batch1", "batch2"), args, strict=False)) | kwargs
    a, b, added = (watch.node(given[name]) for name in ("batch1", "batch2", "input"))
    return Product(a, b, added, float(given.get("alpha", 1)), float(given.get("beta", 1)))


def _einsum(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    equation, *given = args
    operands = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
    if not isinstance(equation, str) or "->" not in equation or "." in equation or len(operands) != 2:
        return None
    return Einsum(equation, tuple(watch.node(operand) for operand in operands))


def _turned(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    """transpose(a, b) or permute(order)."""
    node, count = watch.node(args[0]), args[0].ndim
    named = args[1] if len(args) == 2 and isinstance(args[1], list | tuple | torch.Size) else args[1:]
    dims = [dim % count for dim in (*named, *kwargs.values()) if isinstance(dim, int)]
    order = dims
    if len(dims) == 2:
        order = list(range(count))
        order[dims[0]], order[dims[1]] = order[dims[1]], order[dims[0]]
    return Turned(node, tuple(order)) if sorted(order) == list(range(count)) else None


def _moved(name: str) -> Follow:
    def follow(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
        node, before = watch.node(args[0]), tuple(args[0].shape)
        same = [size for size in before if size != 1] == [size for size in result.shape if size != 1]
        if same and not isinstance(node, _Moves):
            return Reshaped(node, tuple(result.shape))
        rest, options = tuple(args[1:]), dict(kwargs)

        def move(cells: Tensor) -> Tensor:
            moved: Tensor = getattr(torch.Tensor, name)(cells, *rest, **options)
            return moved

        if isinstance(node, _Moves):
            return _Moves(node.node, (*node.moves, move), tuple(result.shape), result.device)
        return _Moves(node, (move,), tuple(result.shape), result.device)

    return follow


def _looked_up(watch: ScoreWatch, args: Sequence[Any], kwargs: dict[str, Any], result: Tensor) -> Any:
    given = dict(zip(("input", "dim", "index"), args, strict=False)) | kwargs
    if given["dim"] % result.ndim != result.ndim - 1:
        return None
    return LookedUp(watch.node(given["input"]), watch.node(given["index"]))


_BEGINNINGS = {"matmul", "bmm", "baddbmm", "einsum"}
_FOLLOWED: dict[str, Follow] = {
    "matmul": _product,
    "bmm": _product,
    "baddbmm": _product_and_sum,
    "einsum": _einsum,
    **{name: _cellwise("add") for name in ("add", "iadd", "radd")},
    **{name: _cellwise("sub") for name in ("sub", "isub")},
    "rsub": _cellwise("sub", swapped=True),
    **{name: _cellwise("mul") for name in ("mul", "imul", "rmul", "multiply")},
    **{name: _cellwise("div") for name in ("div", "idiv", "truediv", "itruediv", "true_divide")},
    **{name: _cellwise("max") for name in ("max", "maximum")},
    **{name: _cellwise("min") for name in ("min", "minimum")},
    "where": _cellwise("where"),
    "masked_fill": _cellwise("masked_fill"),
    **dict.fromkeys(("to", "type", "type_as", "float", "half", "double", "bfloat16"), _cast_to),
    **dict.fromkeys(("contiguous", "clone", "detach"), _unchanged),
    "dropout": _dropped_out,
    **dict.fromkeys(("transpose", "permute", "swapaxes"), _turned),
    **{name: _moved(name) for name in ("view", "reshape", "unsqueeze", "squeeze", "index_select", "expand")},
    "getitem": _moved("__getitem__"),
    "gather": _looked_up,
}
"""Operations of torch by name, without underscores: `add_`, `__iadd__` and `add` do the same."""
