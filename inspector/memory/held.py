"""The memory that a value holds: a recording, a table, whatever a cache keeps.

A tensor may be a small view of a large storage, and two arrays may lie in one: what counts is the storage, once and
whole. The walk goes through the shapes that kept.py brings to the CPU: dataclasses, mappings, tuples, closures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, Protocol, cast

import numpy as np


class _Tensor(Protocol):
    """A torch.Tensor: its name is not imported, for a page holds tables long before it needs torch."""

    def untyped_storage(self) -> Any:
        """The memory that it looks at."""
        ...


class Borrower(Protocol):
    """A value that looks at memory of somebody else, who counts it: `lent` are the addresses."""

    @property
    def lent(self) -> Set[int]:
        """Addresses of storages, as `storages` names them."""
        ...


def held_bytes(value: object) -> int:
    """Bytes of all that can be reached from a value: each storage once and whole, and Python's own objects.

    Memory that is lent to the value (see `Borrower`) does not count.
    """
    walk = _Walk()
    walk.see(value)
    storages = sum(size for address, size in walk.storages.items() if address not in walk.lent)
    return storages + walk.objects


def storages(value: object) -> dict[int, int]:
    """Address and bytes of every storage that tensors and arrays in a value look at."""
    walk = _Walk()
    walk.see(value)
    return walk.storages


class _Walk:
    """A walk through a value: storages by address, bytes of other objects, and the addresses that are lent."""

    def __init__(self) -> None:
        self.storages: dict[int, int] = {}
        self.objects = 0
        self.lent: set[int] = set()

    def see(self, value: object) -> None:
        """Visit everything that can be reached; without recursion, because a value may be nested deep."""
        met: set[int] = set()
        waiting: list[Any] = [value]
        while waiting:
            part = waiting.pop()
            if id(part) not in met:
                met.add(id(part))
                waiting.extend(self._inside(part))

    def _inside(self, part: Any) -> Iterable[Any]:
        if hasattr(part, "untyped_storage"):
            return self._storage(part)
        if isinstance(part, np.ndarray):
            return self._array(part)
        if hasattr(part, "memory_usage"):  # a table of pandas, or one column of it
            self.objects += int(np.sum(part.memory_usage(deep=True)))
            return ()
        if isinstance(part, FunctionType):  # a mask's rule may be one around tensors; its code is nobody's data
            return [cell.cell_contents for cell in part.__closure__ or ()]
        if isinstance(part, type):
            return ()
        self.objects += sys.getsizeof(part) + (sys.getsizeof(vars(part)) if hasattr(part, "__dict__") else 0)
        if hasattr(part, "lent"):  # a Borrower: to ask for the protocol by isinstance takes twenty times as long
            self.lent.update(cast("Borrower", part).lent)
        if is_dataclass(part):
            return [getattr(part, field.name) for field in fields(part)]
        if isinstance(part, Mapping):
            return [*part.keys(), *part.values()]
        return part if isinstance(part, Sequence | Set) and not isinstance(part, str | bytes | range) else ()

    def _storage(self, tensor: _Tensor) -> Iterable[Any]:
        storage = tensor.untyped_storage()
        self._add(storage.data_ptr(), storage.nbytes())
        return ()

    def _array(self, array: np.ndarray) -> Iterable[Any]:
        """An array's own memory, or what it is a view of: another array, a tensor, bytes."""
        if array.base is not None:
            return (array.base,)
        self._add(array.__array_interface__["data"][0], array.nbytes)
        return ()

    def _add(self, address: int, size: int) -> None:
        self.storages[address] = max(size, self.storages.get(address, 0))
