"""Every matrix product of a run on the meta device, with its layer and what flowed into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import flop_registry

from inspector.costs.counted.flow import CHOICES, Columns, Flow, Flows
from inspector.costs.counted.masks import MaskRule, recognise
from inspector.costs.counted.shown import KnownValues
from models.huggingface.skeleton import Answers

_aten = torch.ops.aten
_NUMBERS = ("layer_idx", "layer_id", "layer_number", "layer_index", "idx", "block_idx", "index", "layer_num", "seed")
_BIASED = {_aten.addmm, _aten.baddbmm}
_CONVOLUTIONS = {_aten.convolution, _aten._convolution, _aten.convolution_overrideable}

LayerKey = tuple[str, int]
"""The path of a list of layers, and the number of the layer."""


@dataclass(frozen=True)
class Operand:
    """One side of a product: what it is made from (see `Flow`), and its shape."""

    products: dict[int, Columns] = field(default_factory=dict)
    inputs: int = 0
    soft: bool = False
    weight: str | None = None
    shape: tuple[int, ...] = ()


@dataclass
class TracedProduct:
    """A matrix product that ran.

    path: the module that made it. bias: the name of its bias. columns: of its output. kernel: positions that a
    convolution reads at once, 1 for other products. chosen: whether the largest of its outputs were looked for.
    mask: what is hidden of the side behind a softmax; None where that was not followed, or is no known rule.
    """

    path: str
    layer: LayerKey | None
    operation: str
    flops: int
    left: Operand = field(default_factory=Operand)
    right: Operand = field(default_factory=Operand)
    bias: str | None = None
    columns: int = 0
    kernel: int = 1
    chosen: bool = False
    mask: MaskRule | None = None

    @property
    def weight(self) -> str | None:
        """The name of the parameter on one of its sides."""
        return self.right.weight or self.left.weight

    @property
    def data(self) -> Operand:
        """The side that is no parameter; the left one where neither is."""
        return self.right if self.left.weight and not self.right.weight else self.left


@dataclass
class _Ran:
    """A layer that ran: its products, and what it returned."""

    start: int
    stop: int
    path: str
    out: Any


class Network:
    """A network prepared for counting: its modules say when they run, and equal layers run once.

    Layers are the elements of the outermost lists of modules; a layer's number is how many calls its list had before,
    so that one set of weights may stand in several places. whole: run every layer, also those that equal others.
    """

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.whole = False
        self._trace: ProductTrace | None = None
        self._lists: list[str] = []
        self._signatures: dict[str, Any] = {}
        for path, module in network.named_modules():
            if isinstance(module, nn.ModuleList) and not any(path.startswith(f"{other}.") for other in self._lists):
                self._lists.append(path)
        self.layers = {
            f"{path}.{number}"
            for path in self._lists
            for number in range(len(network.get_submodule(path)))  # type: ignore[arg-type]
        }
        seen: set[int] = set()
        for path, module in network.named_modules():
            if id(module) not in seen:
                seen.add(id(module))
                self._wrap(path, module)

    @contextmanager
    def traced(
        self, *, roles: bool, masks: bool = False, into: list[ProductTrace] | None = None
    ) -> Iterator[ProductTrace]:
        """Record the products of what runs inside the block; into: a list that gets the record too."""
        self._trace = trace = ProductTrace(self, roles=roles, masks=masks)
        if into is not None:
            into.append(trace)
        try:
            with torch.no_grad(), trace:
                yield trace
        finally:
            self._trace = None

    def _wrap(self, path: str, module: nn.Module) -> None:
        forward: Callable[..., Any] = module.forward
        layer = path in self.layers

        @wraps(forward)
        def watched(*args: Any, **kwargs: Any) -> Any:
            trace = self._trace
            if trace is None:
                return forward(*args, **kwargs)
            trace.paths.append(path)
            try:
                if layer and trace.layer is None:
                    return trace.run_layer(path, module, forward, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                trace.paths.pop()

        module.forward = watched

    def signature(self, path: str, module: nn.Module) -> Any:
        """Describe a layer by what equal layers share: classes, shapes of parameters, plain settings."""
        if path not in self._signatures:
            parts = []
            for name, part in module.named_modules():
                settings = tuple(
                    (key, value)
                    for key, value in sorted(vars(part).items())
                    if isinstance(value, bool | int | str | tuple | None)  # a float shapes no product
                    and key not in _NUMBERS
                    and _plain(value)
                )
                shapes = tuple(
                    (key, tuple(tensor.shape)) for key, tensor in part._parameters.items() if tensor is not None
                )
                buffers = tuple(
                    (key, tuple(tensor.shape)) for key, tensor in part._buffers.items() if tensor is not None
                )
                parts.append((name, type(part), settings, shapes, buffers))
            self._signatures[path] = (tuple(parts), self._listed(path))
        return self._signatures[path]

    def _listed(self, path: str) -> Any:
        """List what the configuration has for this layer: its kind, its width."""
        number = int(path.rpartition(".")[2])
        config = getattr(self.network, "config", None)
        fields = vars(config) if config is not None else {}
        count = len(self.network.get_submodule(path.rpartition(".")[0]))  # type: ignore[arg-type]
        return tuple(
            (name, repr(value[number]))
            for name, value in sorted(fields.items())
            if isinstance(value, list | tuple) and len(value) == count
        )


class ProductTrace(Answers):  # type: ignore[no-untyped-call]
    """The products of one run, counted by torch's own formulas (torch.utils.flop_counter).

    roles: follow where each tensor comes from; else count alone, which is faster. masks: follow too what masks hide.
    """

    def __init__(self, network: Network, *, roles: bool, masks: bool = False) -> None:
        super().__init__()
        self.network, self.roles = network, roles
        self.products: list[TracedProduct] = []
        self.flows = Flows()
        self.paths: list[str] = []
        self.layer: LayerKey | None = None
        self._calls: dict[str, int] = {}
        self._ran: dict[Any, _Ran] = {}
        self._shown = KnownValues() if masks else None
        if self._shown is not None:
            for parameter in network.network.parameters():
                self._shown.learned(parameter)
        if roles:
            for name, parameter in network.network.named_parameters():
                self.flows.set(parameter, Flow({}, weight=name))

    def read(self, tensor: Tensor, inputs: int) -> None:
        """Say that a tensor is the text: SOURCE or TARGET."""
        self.flows.set(tensor, Flow({}, inputs))
        if self._shown is not None:
            (self._shown.learned if tensor.is_floating_point() else self._shown.read)(tensor)

    def run_layer(self, path: str, module: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Run a layer, or give what an equal one gave, with its products as this layer's own."""
        parent = path.rpartition(".")[0]
        self.layer = parent, self._calls.get(parent, 0)
        self._calls[parent] = self.layer[1] + 1
        try:
            if self.network.whole:
                return forward(*args, **kwargs)
            key = (parent, self.network.signature(path, module), self._call(args), self._call(kwargs))
            if key in self._ran:
                return self._replay(self._ran[key], path)
            start = len(self.products)
            out = forward(*args, **kwargs)
            self._ran[key] = _Ran(start, len(self.products), path, out)
            return out
        finally:
            self.layer = None

    def _replay(self, ran: _Ran, path: str) -> Any:
        shift = len(self.products) - ran.start

        def renamed(name: str | None) -> str | None:
            inside = name is not None and name.startswith(f"{ran.path}.")
            return path + name[len(ran.path) :] if inside and name is not None else name

        def moved(operand: Operand) -> Operand:
            products = {
                (number + shift if ran.start <= number < ran.stop else number): columns
                for number, columns in operand.products.items()
            }
            return replace(operand, products=products, weight=renamed(operand.weight))

        for product in self.products[ran.start : ran.stop]:
            self.products.append(
                replace(
                    product,
                    path=str(renamed(product.path)) if product.path != ran.path else path,
                    layer=self.layer,
                    left=moved(product.left),
                    right=moved(product.right),
                    bias=renamed(product.bias),
                )
            )
        return ran.out

    def _call(self, value: Any) -> Any:
        """Describe what a layer is called with, as far as its products may depend on it."""
        if isinstance(value, Tensor):
            flow = self.flows.get(value) if self.roles else None
            return tuple(value.shape), value.dtype, flow.inputs if flow else 0
        if isinstance(value, list | tuple):
            return tuple(self._call(item) for item in value)
        if isinstance(value, dict):
            return tuple((key, self._call(item)) for key, item in sorted(value.items()))
        return value if isinstance(value, bool | int | float | str | None) else type(value).__name__

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation; note it where it is a product, and say where its output comes from."""
        kwargs, packet = kwargs or {}, func._overloadpacket
        formula = flop_registry.get(packet)
        out = self.answer(func, args, kwargs)
        if formula is not None:
            flops = int(formula(*args, **kwargs, out_val=out))
            product = TracedProduct(self.paths[-1] if self.paths else "", self.layer, str(packet), flops)
            self.products.append(product)
            if self.roles:
                self._note(product, packet, args, out)
        elif self.roles:
            self.flows.follow(func, args, kwargs, out)
            if packet in CHOICES or (packet is _aten.max and isinstance(out, tuple)):
                flow = self.flows.get(args[0])
                for number in self.flows.products(flow) if flow else ():
                    if number >= 0:
                        self.products[number].chosen = True
        if self._shown is not None:
            self._see(self._shown, func, args, kwargs, out)
        return out

    def _see(self, shown: KnownValues, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        packet = func._overloadpacket
        if packet not in flop_registry:
            shown.follow(func, args, kwargs, out)
            return
        product, sides = self.products[-1], args[1:3] if packet in _BIASED else args[:2]
        for operand, side, turned in ((product.left, sides[0], False), (product.right, sides[1], True)):
            if operand.soft:
                product.mask = _rule(shown.cells(side), turned=turned)
        shown.learned(out[0] if isinstance(out, tuple) else out, under=args[0] if packet in _BIASED else None)

    def _note(self, product: TracedProduct, packet: Any, args: Any, out: Any) -> None:
        convolution = packet in _CONVOLUTIONS
        biased = packet in _BIASED
        left, right = args[1:3] if biased else args[:2]
        bias = args[0] if biased else (args[2] if convolution and len(args) > 2 else None)
        product.left, product.right = self._operand(left), self._operand(right)
        if isinstance(bias, Tensor) and (flow := self.flows.get(bias)) is not None:
            product.bias = flow.weight
        made = out[0] if isinstance(out, tuple) else out
        along = 1 if convolution else made.ndim - (2 if product.left.weight and not product.right.weight else 1)
        product.columns = made.shape[along]
        if convolution:
            product.kernel = max(right.shape[2:], default=1)
        number = len(self.products) - 1
        inputs = product.left.inputs | product.right.inputs
        flow = self.flows.label(number, made, along=along) if product.weight else Flow({number: (1, 0)})
        self.flows.set(made, replace(flow, inputs=inputs))

    def _operand(self, tensor: Tensor) -> Operand:
        flow = self.flows.get(tensor)
        shape = tuple(tensor.shape)
        if flow is None:
            return Operand(shape=shape)
        return Operand(self.flows.products(flow), flow.inputs, flow.soft, flow.weight, shape)


def _rule(cells: Tensor | None, *, turned: bool) -> MaskRule | None:
    """Find the rule of a mask [..., Q, T], or [..., T, Q] where it stands turned, the same in all heads."""
    if cells is None or cells.ndim < 2:
        return None
    every = (cells.mT if turned else cells).flatten(end_dim=-3) if cells.ndim > 2 else cells[None]
    return recognise(every[0]) if bool((every == every[:1]).all()) else None


def _plain(value: Any) -> bool:
    return not isinstance(value, tuple) or all(isinstance(item, bool | int | float | str | None) for item in value)
