"""The cells that masks leave of attention, followed through a run on the meta device from where they are made.

Masks are made of constants: positions compared, numbers filled in. Each operation on constants is done again beside the
run, on the CPU with values; where its outcome meets scores, which have none, what it hides of them is kept. A tensor
without values that is no parameter's and no text's (a buffer of the model) leaves a doubt, and a doubt stays.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten
_HIDDEN = -1e4  # a score that is lowered by so much has no weight
_MOST = 2**20  # numbers of a constant
_TOKEN = 5  # stands for every token of the text: no padding
_FILLS = {_aten.masked_fill, _aten.masked_fill_}
_SUMS = {_aten.add, _aten.add_}
_DIFFERENCES = {_aten.sub, _aten.sub_, _aten.rsub}
_MOVES = {
    *(
        _aten.view,
        _aten._unsafe_view,
        _aten._reshape_alias,
        _aten._reshape_copy,
        _aten.expand,
        _aten.t,
        _aten.transpose,
    ),
    *(_aten.permute, _aten.unsqueeze, _aten.squeeze, _aten.slice, _aten.select, _aten.split, _aten.split_with_sizes),
    *(_aten.unbind, _aten.chunk, _aten.unfold, _aten.repeat, _aten.flip, _aten.roll, _aten.constant_pad_nd),
    *(_aten.reshape, _aten.repeat_interleave, _aten.index, _aten.index_select, _aten.diagonal, _aten.as_strided),
}
_REDUCTIONS = {_aten.max, _aten.amax, _aten.sum, _aten.mean, _aten.logsumexp}
_JOINS = {_aten.cat, _aten.stack}
_SAME = {_aten.clone, _aten.detach, _aten.alias, _aten.lift_fresh, _aten.copy, _aten._softmax, _aten._safe_softmax}
_VIEWS = {_aten.view, _aten._unsafe_view, _aten._reshape_alias, _aten._reshape_copy, _aten.reshape}
_UNKNOWN = {  # operations on constants whose outcome nobody knows
    *(_aten.rand, _aten.randn, _aten.randint, _aten.bernoulli, _aten.rand_like, _aten.randn_like, _aten.randperm),
    *(_aten.empty, _aten.empty_like, _aten.new_empty, _aten.empty_strided, _aten.new_empty_strided),
}


class KnownValues:
    """The knowledge of tensors without values: their value, or the cells of them that no mask hides.

    A tensor is known by its storage and its place in it, as in `Flows`.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[Any, ...], Tensor] = {}
        self._cells: dict[tuple[Any, ...], Tensor | None] = {}  # None: in doubt
        self._storages: list[Any] = []

    def read(self, ids: Tensor) -> None:
        """Say that a tensor is the text."""
        self._set(self._values, ids, torch.full(ids.shape, _TOKEN, dtype=ids.dtype))

    def learned(self, tensor: Tensor, *, under: Tensor | None = None) -> None:
        """Say that a tensor hides nothing, as a parameter or a product does; it is added to the values of `under`."""
        self._set(self._cells, tensor, _plain(tensor) if under is None else self.cells(under))

    def cells(self, tensor: Tensor) -> Tensor | None:
        """The cells of a tensor that no mask hides, boolean in its shape; None where that is not known."""
        place = _place(tensor)
        if place in self._values:
            return self._high(self._values[place])
        return self._cells.get(place)

    def follow(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Do an operation again with what is known of its arguments."""
        outs = [made for made in (out if isinstance(out, list | tuple) else (out,)) if isinstance(made, Tensor)]
        outs = [made for made in outs if made.is_meta]
        if not outs:
            return
        packet = func._overloadpacket
        try:
            values = self._again(func, args, kwargs) if packet not in _UNKNOWN else None
            cells = None if values is not None else self._hidden(func, packet, args, kwargs, outs)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            values = cells = None  # what cannot be done again on values is not known, and `needed` gives no figure
        if func._schema.is_mutable and values is None:  # what else shares the storage is no longer what it was
            storages = {made.untyped_storage()._cdata for made in outs}
            self._values = {place: value for place, value in self._values.items() if place[0] not in storages}
            self._cells = {place: cells for place, cells in self._cells.items() if place[0] not in storages}
        for number, made in enumerate(outs):
            self._values.pop(_place(made), None)
            if values is not None and tuple(values[number].shape) == tuple(made.shape):
                self._storages.append(made.untyped_storage())
                self._values[_place(made)] = values[number]
            else:
                known = None if cells is None else _plain(made) if _is_plain(cells[number]) else cells[number]
                self._set(self._cells, made, known)

    def _again(self, func: Any, args: Any, kwargs: Any) -> list[Tensor] | None:
        """Do an operation on constants; None where an argument is none, or the outcome is large."""
        known = _mapped((list(args), dict(kwargs)), self._value)
        if known is None:
            return None
        plain, named = known
        if "device" in named:
            named["device"] = torch.device("cpu")
        made = func(*plain, **named)
        outs = list(made) if isinstance(made, list | tuple) else [made]
        return outs if all(isinstance(value, Tensor) and value.numel() <= _MOST for value in outs) else None

    def _value(self, tensor: Tensor) -> Tensor | None:
        return self._values.get(_place(tensor)) if tensor.is_meta else tensor

    def _hidden(self, func: Any, packet: Any, args: Any, kwargs: Any, outs: list[Tensor]) -> list[Tensor] | None:
        """The cells that stay in sight after an operation on tensors without values; None in doubt."""
        if packet in _FILLS:
            mask, to = self._value(args[1]), args[2]
            to = float(self._values[_place(to)] if isinstance(to, Tensor) and to.is_meta else to)
            cells = self.cells(args[0])
            if cells is None or mask is None:
                return None
            return [cells & ~mask if to <= _HIDDEN else cells]
        if packet is _aten.where:
            chosen, if_true, if_false = self._value(args[0]), self._side(args[1]), self._side(args[2])
            if (
                chosen is None
                and if_true is not None
                and if_false is not None
                and _is_plain(if_true)
                and _is_plain(if_false)
            ):
                return [if_true]
            return (
                None
                if chosen is None or if_true is None or if_false is None
                else [torch.where(chosen, if_true, if_false)]
            )
        if packet in _DIFFERENCES:
            mine, taken = (args[1], args[0]) if packet is _aten.rsub else (args[0], args[1])
            value = self._value(taken) if isinstance(taken, Tensor) else None
            sides = [self._side(mine), self._side(taken) if value is None else value < -_HIDDEN]
            return None if sides[0] is None or sides[1] is None else [sides[0] & sides[1]]
        if packet in _REDUCTIONS:
            return None if self.cells(args[0]) is None else [_TRUE] * len(outs)
        if packet in _JOINS:
            parts = [self.cells(tensor) for tensor in args[0]]
            return None if any(part is None for part in parts) else [func(parts, *args[1:], **kwargs)]
        if packet in _MOVES:
            cells = self.cells(args[0])
            rest = None if cells is None else _mapped(list(args[1:]), self._value)
            if cells is not None and _is_plain(cells):
                return [cells] * len(outs)
            if cells is None or rest is None:
                return None
            if packet in _VIEWS:
                return [cells.reshape(outs[0].shape)]
            made = func(cells, *rest, **kwargs) if packet is not _aten.constant_pad_nd else func(cells, rest[0], 0)
            return list(made) if isinstance(made, list | tuple) else [made]
        if packet in _SUMS or packet in _SAME or torch.Tag.pointwise in func.tags:
            sides = [self._side(value) if packet in _SUMS else self._kept_by(value) for value in args[:2]]
            sides = [side for value, side in zip(args, sides, strict=False) if isinstance(value, Tensor)]
            cells = _TRUE
            for side in sides:
                if side is None:
                    return None
                cells = cells if _is_plain(side) else cells & side
            return [cells] * len(outs)
        sides = [self.cells(tensor) for tensor in _tensors((args, kwargs.values()))]
        plain = all(side is not None and (_is_plain(side) or bool(side.all())) for side in sides)
        return [_TRUE] * len(outs) if plain else None

    def _side(self, value: Any) -> Tensor | None:
        """The cells that a summand leaves: in a constant the cells that are not very low."""
        if isinstance(value, Tensor):
            constant = self._value(value)
            return self.cells(value) if constant is None else self._high(constant)
        return torch.tensor(value > _HIDDEN)

    def _kept_by(self, value: Any) -> Tensor | None:
        """The cells that a factor leaves: a constant hides none."""
        if not isinstance(value, Tensor) or self._value(value) is not None:
            return _TRUE
        return self.cells(value)

    def _high(self, value: Tensor) -> Tensor:
        return value > _HIDDEN if value.is_floating_point() else torch.ones_like(value, dtype=torch.bool)

    def _set(self, where: dict[tuple[Any, ...], Any], tensor: Tensor, known: Any) -> None:
        self._storages.append(tensor.untyped_storage())
        where[_place(tensor)] = None if known is None else known.expand(tensor.shape)


_TRUE = torch.ones((), dtype=torch.bool)


def _plain(tensor: Tensor) -> Tensor:
    return _TRUE.expand(tensor.shape)


def _is_plain(cells: Tensor) -> bool:
    """Tell that nothing is hidden, where that is seen without looking at every cell."""
    return not any(cells.stride()) and (not cells.numel() or bool(cells[(0,) * cells.ndim]))


def _place(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride()


def _tensors(values: Any) -> list[Tensor]:
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple) or type(value).__name__ == "dict_values":
            tensors += _tensors(value)
    return tensors


def _mapped(value: Any, known: Any) -> Any:
    """Replace every tensor by its value; None where one has none."""
    if isinstance(value, Tensor):
        return known(value)
    if isinstance(value, dict):
        made = _mapped(list(value.values()), known)
        return None if made is None else dict(zip(value, made, strict=True))
    if isinstance(value, list | tuple):
        items = [_NOTHING if item is None else _mapped(item, known) for item in value]
        return None if any(item is None for item in items) else [None if item is _NOTHING else item for item in items]
    return value


_NOTHING = object()
