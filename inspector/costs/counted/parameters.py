"""The parameters of a model by the rows of its products; a tensor that is shared counts once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from torch import nn

from inspector.costs.counted.roles import ProductRole
from inspector.costs.counted.rows import CostPlace
from inspector.costs.counted.tracing import Network, TracedProduct
from models.attention import Stream

_POSITION = re.compile(r"pos(ition)?|wpe", re.IGNORECASE)
_RELATIVE = re.compile(r"rel(ative)?_", re.IGNORECASE)
_SEGMENT = re.compile(r"token_type|segment|seg_|lang", re.IGNORECASE)


def rows(
    network: Network, products: list[TracedProduct], roles: list[ProductRole], *, output: str | None
) -> dict[CostPlace, int]:
    """Count the numbers in each row's parameters; their sum is `sum(p.numel())`.

    A matrix and its bias belong to their product, gamma and beta to their norm, a table to its embedding; what is
    none of these to the nearest module that has a product.
    """
    return _Owners(network, products, roles, output).rows()


class _Owners:
    def __init__(
        self, network: Network, products: list[TracedProduct], roles: list[ProductRole], output: str | None
    ) -> None:
        self.network, self.products, self.roles, self.output = network, products, roles, output
        self.by_name: dict[str, int] = {}
        self.by_module: dict[str, int] = {}
        for number, product in reversed(list(enumerate(products))):
            for name in (product.weight, product.bias):
                if name is not None:
                    self.by_name[name] = number
                    self.by_module[name.rpartition(".")[0]] = number
            self.by_module.setdefault(product.path, number)
        self.modules = sorted(self.by_module)

    def rows(self) -> dict[CostPlace, int]:
        by_row: dict[CostPlace, int] = defaultdict(int)
        for name, parameter in self.network.network.named_parameters():
            for row, numbers in self._owners(name, parameter.numel()):
                by_row[row] += numbers
        return dict(by_row)

    def _owners(self, name: str, numbers: int) -> Iterator[tuple[CostPlace, int]]:
        path = name.rpartition(".")[0]
        owner = self.network.network.get_submodule(path)
        kind = type(owner).__name__.lower()
        if isinstance(owner, nn.Embedding) or "embedding" in kind:
            yield self._table(name), numbers
            return
        number = self.by_name.get(name, self.by_module.get(path) if "norm" not in kind else None)
        if number is not None:
            yield from self._shared(number, numbers)
            return
        if "norm" in kind or "norm" in path.rpartition(".")[2].lower():
            yield self._norm(name), numbers
            return
        nearest = self._nearest(path)
        part = self.roles[nearest].part if nearest is not None else "embedding"
        layer = self._layer(name)
        yield CostPlace(self._stream(name), layer, part, "other"), numbers

    def _shared(self, number: int, numbers: int) -> Iterator[tuple[CostPlace, int]]:
        role, left = self.roles[number], numbers
        for component, share in role.shares[:-1]:
            part = int(share * numbers)
            left -= part
            yield CostPlace(role.stream, role.layer, role.part, component), part
        yield CostPlace(role.stream, role.layer, role.part, role.shares[-1][0]), left

    def _table(self, name: str) -> CostPlace:
        layer = self._layer(name)
        if _RELATIVE.search(name):
            return CostPlace(self._stream(name), layer, "attention", "positions")
        component = "token_embedding"
        if _SEGMENT.search(name):
            component = "segment_embedding"
        elif _POSITION.search(name.rpartition(".")[0].rpartition(".")[2]):
            component = "position_embedding"
        return CostPlace(self._stream(name), layer, "embedding", component)

    def _norm(self, name: str) -> CostPlace:
        top = name.split(".")[0]
        heads = {
            product.path.split(".")[0]
            for product, role in zip(self.products, self.roles, strict=True)
            if role.part == "head"
        }
        layer = self._layer(name)
        inside = any(product.path.split(".")[0] == top and product.layer for product in self.products)
        part = "head" if layer is None and top in heads and not inside else "norm"
        return CostPlace(self._stream(name), layer, part, "norm")

    def _nearest(self, path: str) -> int | None:
        while True:
            if path in self.by_module:
                return self.by_module[path]
            if below := next((module for module in self.modules if module.startswith(f"{path}.")), None):
                return self.by_module[below]
            if not path:
                return None
            path = path.rpartition(".")[0]

    def _layer(self, name: str) -> int | None:
        for layer in self.network.layers:
            if name.startswith(f"{layer}."):
                return next(
                    (
                        product.layer[1]
                        for product in self.products
                        if product.layer and product.path.startswith(f"{layer}.")
                    ),
                    int(layer.rpartition(".")[2]),
                )
        return None

    def _stream(self, name: str) -> Stream:
        number = self._nearest(name.rpartition(".")[0])
        streams = {role.stream for role in self.roles}
        if number is None or len(streams) == 1:
            return next(iter(self.roles)).stream if self.roles else "encoder"
        if re.search(r"\bdecoder\b", name):
            return "decoder" if self.roles[number].stream != "cross" else "cross"
        return "encoder" if re.search(r"\bencoder\b", name) or "shared" in name else self.roles[number].stream
