"""The origin of every tensor: the products behind it, the text, the weights, followed from operation to operation.

A tensor is known by its storage and its place in it: torch hands out new objects for one and the same view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

SOURCE, TARGET = 1, 2
EMBEDDED = -1  # stands among the products for the looked-up tokens, with which every residual stream begins

Columns = tuple[int, int]
"""Columns of a product's output as bits: those that arrive as they are, and those that an activation acted on."""

_aten = torch.ops.aten
_MOST_LABELS = 2**21  # numbers; a wider product arrives whole or not at all
_SAME = {_aten.clone, _aten._to_copy, _aten.detach, _aten.alias, _aten.lift_fresh, _aten.contiguous, _aten.copy}
_SHAPES = {_aten.view, _aten._unsafe_view, _aten._reshape_alias, _aten._reshape_copy}
_MOVES = {
    *(_aten.t, _aten.transpose, _aten.permute, _aten.unsqueeze, _aten.squeeze, _aten.slice, _aten.select),
    *(_aten.split, _aten.split_with_sizes, _aten.unbind, _aten.chunk, _aten.unfold, _aten.repeat, _aten.flip),
    *(_aten.cat, _aten.stack, _aten.constant_pad_nd, _aten.index, _aten.index_select, _aten.roll),
}
_ACTIVATIONS = {
    *(_aten.silu, _aten.gelu, _aten.relu, _aten.sigmoid, _aten.tanh, _aten.softplus, _aten.erf, _aten.mish),
    *(_aten.elu, _aten.leaky_relu, _aten.hardtanh, _aten.hardswish, _aten.hardsigmoid, _aten.clamp_min),
    *(_aten.relu_, _aten.silu_, _aten.gelu_backward, _aten.log_sigmoid_forward),
}
_SOFTMAX = {_aten._softmax, _aten._safe_softmax, _aten.softmax}
_SHAPES_ALONE = {  # of their argument: what they make has none of its values
    *(_aten.new_empty, _aten.new_zeros, _aten.new_ones, _aten.new_full, _aten.empty_like, _aten.zeros_like),
    *(_aten.ones_like, _aten.full_like, _aten.rand_like, _aten.randn_like, _aten.new_empty_strided),
}
CHOICES = {_aten.topk, _aten.argmax, _aten.sort}


@dataclass(frozen=True, slots=True)
class Flow:
    """The origin of a tensor: what it was made from.

    products: the products with no other product between, by number, and the columns of their outputs that are in it.
    inputs: SOURCE and TARGET where the text is among its ancestors. weight: the name of the parameter that it is,
    moved, cast or chosen from. soft: whether a softmax, or a sigmoid of scores, lies behind it, with no product
    between. labels: the column of a product's output that each element is, as base + column; acted: whether an
    activation lies between.
    """

    products: dict[int, Columns]
    inputs: int = 0
    weight: str | None = None
    soft: bool = False
    labels: Tensor | None = None
    acted: bool = False


class Flows:
    """The flows of all tensors of one run."""

    def __init__(self) -> None:
        self._flows: dict[tuple[Any, ...], tuple[Flow, int]] = {}
        self._written: dict[int, list[tuple[Flow, int]]] = {}  # by storage: what was written into a part of it
        self._storages: list[Any] = []  # storages, so that no other gets their address
        self._bases: list[tuple[int, int, int]] = []  # base, columns, product
        self._time = 0

    def set(self, tensor: Tensor, flow: Flow) -> None:
        """Say where a tensor comes from."""
        storage = tensor.untyped_storage()
        self._storages.append(storage)
        self._time += 1
        self._flows[_place(storage, tensor)] = flow, self._time

    def write(self, tensor: Tensor, flow: Flow) -> None:
        """Say what was written into a tensor, and so into all tensors that share its storage."""
        self.set(tensor, flow)
        self._written.setdefault(tensor.untyped_storage()._cdata, []).append((self.whole(flow), self._time))

    def get(self, tensor: Tensor) -> Flow | None:
        """Tell where a tensor comes from; None where it is made of constants."""
        storage = tensor.untyped_storage()
        flow, since = self._flows.get(_place(storage, tensor), (None, 0))
        later = [other for other, time in self._written.get(storage._cdata, ()) if time > since]
        return self.union([*([flow] if flow else []), *later]) if later else flow

    def label(self, product: int, out: Tensor, *, along: int) -> Flow:
        """The flow of a learned product's output: itself alone, every column along one axis named."""
        columns = out.shape[along]
        base = self._bases[-1][0] + self._bases[-1][1] if self._bases else 0
        self._bases.append((base, columns, product))
        flow = Flow({product: ((1 << columns) - 1, 0)})
        if out.numel() > _MOST_LABELS:
            return flow
        shape = [1] * out.ndim
        shape[along] = columns
        labels = torch.arange(base, base + columns).reshape(shape).expand(out.shape)
        return replace(flow, labels=labels)

    def products(self, flow: Flow) -> dict[int, Columns]:
        """The products in a tensor, with the columns that are in it."""
        if flow.labels is None:
            return flow.products
        present = np.unique(flow.labels.numpy())
        by_product: dict[int, Columns] = {}
        for base, columns, product in self._bases:
            if product in flow.products:
                inside = present[(present >= base) & (present < base + columns)] - base
                if len(inside):
                    flags = np.zeros(columns, dtype=bool)
                    flags[inside] = True
                    bits = int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
                    by_product[product] = (0, bits) if flow.acted else (bits, 0)
        return by_product

    def whole(self, flow: Flow) -> Flow:
        """The flow without the place of each column."""
        return flow if flow.labels is None else replace(flow, products=self.products(flow), labels=None, acted=False)

    def union(self, flows: Iterable[Flow]) -> Flow:
        """The flow of what is made of several tensors."""
        flows = list(flows)
        if len(flows) == 1:
            return self.whole(flows[0])
        products: dict[int, Columns] = {}
        inputs, soft = 0, False
        for flow in flows:
            inputs, soft = inputs | flow.inputs, soft or flow.soft
            for product, (plain, acted) in self.products(flow).items():
                before = products.get(product, (0, 0))
                products[product] = before[0] | plain, before[1] | acted
        weights = [flow.weight for flow in flows if flow.weight]
        return Flow(products, inputs, weights[0] if weights and not inputs and not products else None, soft)

    # --- one operation ------------------------------------------------------------------------------------------

    def follow(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Say where the outputs of an operation that is no product come from."""
        packet = func._overloadpacket
        if packet in _SHAPES_ALONE:
            return
        tensors = _tensors((args[1:] if packet is _aten.copy_ else args, kwargs.values()))
        known = [(tensor, flow) for tensor in tensors if (flow := self.get(tensor)) is not None]
        if not known:
            return
        first = known[0][1]
        outs = [made for made in (out if isinstance(out, list | tuple) else (out,)) if isinstance(made, Tensor)]
        if packet is _aten.embedding and any(flow.inputs for _, flow in known):
            inputs = self.union([flow for _, flow in known]).inputs
            flows = [Flow({EMBEDDED: (1, 0)}, inputs)] * len(outs)
        elif packet in (_aten.index, _aten.index_select) and known[0][0] is args[0] and _is_matrix(first, args[0]):
            flows = [first] * len(outs)  # weights of the experts that were chosen
        elif packet in _SOFTMAX or (packet is _aten.sigmoid and self._is_of_pairs(first)):
            flows = [replace(self.union([flow for _, flow in known]), soft=True)] * len(outs)
        else:
            flows = self._moved(func, args, kwargs, outs, known)
        store = self.write if func._schema.is_mutable else self.set
        for made, flow in zip(outs, flows, strict=True):
            store(made, flow)

    def _is_of_pairs(self, flow: Flow) -> bool:
        """Tell whether a product of two activations is in a tensor: scores, which a sigmoid may weigh; no gate."""
        return bool(flow.products.keys() - {product for _, _, product in self._bases} - {EMBEDDED})

    def _moved(
        self, func: Any, args: Any, kwargs: Any, outs: list[Tensor], known: list[tuple[Tensor, Flow]]
    ) -> list[Flow]:
        """The flows of outputs whose columns may still be known."""
        packet = func._overloadpacket
        made_of = [(tensor, flow) for tensor, flow in known if flow.products or flow.inputs]
        labelled = [flow for _, flow in made_of if flow.labels is not None]
        acts = packet in _ACTIVATIONS or (packet is _aten.pow and not isinstance(args[0], int | float))
        if len(made_of) == len(labelled) >= 1 and len({flow.acted for flow in labelled}) == 1:
            moved = None
            if packet in _SAME or packet in _SHAPES:
                moved = [labelled[0].labels.reshape(made.shape) for made in outs]  # type: ignore[union-attr]
            elif packet is _aten.expand:
                moved = [labelled[0].labels.expand(outs[0].shape)]  # type: ignore[union-attr]
            elif packet in _MOVES:
                moved = self._through(func, args, kwargs)
            elif len(labelled) == 1 and torch.Tag.pointwise in func.tags and outs:
                labels = labelled[0].labels
                fits = labels is not None and labels.ndim <= outs[0].ndim
                if fits and outs[0].numel() <= _MOST_LABELS and _broadcasts(labels, outs[0]):
                    moved = [labels.expand(made.shape) for made in outs]  # type: ignore[union-attr]
            if moved is not None and [tuple(m.shape) for m in moved] == [tuple(made.shape) for made in outs]:
                union = self.union([replace(flow, labels=None) for flow in labelled])
                acted = labelled[0].acted or acts
                return [replace(union, labels=labels, acted=acted) for labels in moved]
        flow = self.union([flow for _, flow in known])
        if acts:
            flow = replace(flow, products={number: (0, p | a) for number, (p, a) in flow.products.items()})
        return [flow] * len(outs)

    def _through(self, func: Any, args: Any, kwargs: Any) -> list[Tensor] | None:
        """Move labels as the operation moves the tensor; None where the way depends on values that are not there."""
        joins = func._overloadpacket in (_aten.cat, _aten.stack)

        def labels_of(tensor: Tensor) -> Tensor | None:
            flow = self.get(tensor)
            if flow is not None and flow.labels is not None:
                return flow.labels
            if joins:
                return torch.full(tensor.shape, -1)
            return None if tensor.is_meta else tensor

        moved = _replaced(args, labels_of)
        if moved is None:
            return None
        if func._overloadpacket is _aten.constant_pad_nd:
            moved = (*moved[:2], -1)
        made = func(*moved, **kwargs)
        return list(made) if isinstance(made, list | tuple) else [made]


def _place(storage: Any, tensor: Tensor) -> tuple[Any, ...]:
    return storage._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride()


def _is_matrix(flow: Flow, tensor: Tensor) -> bool:
    return flow.weight is not None and tensor.ndim >= 2


def _broadcasts(labels: Tensor | None, out: Tensor) -> bool:
    if labels is None:
        return False
    return all(a in (1, b) for a, b in zip(reversed(labels.shape), reversed(out.shape), strict=False))


def _tensors(values: Any) -> list[Tensor]:
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple) or (hasattr(value, "__iter__") and not isinstance(value, str)):
            tensors += _tensors(value)
    return tensors


def _replaced(args: Any, labels_of: Callable[[Tensor], Tensor | None]) -> Any:
    """Put labels in the place of tensors; None where one has none."""
    made: list[Any] = []
    for value in args:
        if isinstance(value, Tensor):
            if (labels := labels_of(value)) is None:
                return None
            made.append(labels)
        elif isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
            if (inner := _replaced(value, labels_of)) is None:
                return None
            made.append(list(inner))
        else:
            made.append(value)
    return tuple(made)
