"""Two caches with a byte budget, shared by threads; the value used longest ago leaves first.

`ByteBudgetCache` keeps nothing that is larger than its budget. `SharedModels` frees memory before it loads a model, and
keeps even a model that is larger than its budget.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from torch import nn

    from models import LoadedModel

V = TypeVar("V")


class ByteBudgetCache(Generic[V]):
    """Least recently used values leave when their sizes add up to more than `budget` bytes.

    A value larger than the whole budget is handed out, not kept, and pushes nothing out.
    """

    def __init__(self, budget: int) -> None:
        if budget < 0:
            raise ValueError(f"a budget of {budget} bytes holds nothing; give 0 or more")
        self.budget = budget
        self.used = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def holds(self, key: Hashable) -> bool:
        """Return True if the value of `key` is held, so that `get` has nothing to make."""
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], V], *, size: Callable[[V], int]) -> V:
        """The value of `key`, made by `make` where it is not held; `size` gives its bytes.

        Two threads that miss at once both make it (outside the lock, so that nobody waits); one value is kept.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        needed = size(value)
        with self._lock:
            if key not in self._values and needed <= self.budget:
                while self.used + needed > self.budget:
                    _, (_, freed) = self._values.popitem(last=False)
                    self.used -= freed
                self._values[key] = (value, needed)
                self.used += needed
        return value


class SharedModels:
    """Models are loaded one at a time, and room is made before: together they never take more than `budget` bytes.

    A model larger than the whole budget is kept alone, for whoever asked for it is about to use it. left: called when
    models have left.
    """

    def __init__(self, budget: int, *, left: Callable[[], object] | None = None) -> None:
        if budget < 0:
            raise ValueError(f"a budget of {budget} bytes holds nothing; give 0 or more")
        self.budget = budget
        self._models: OrderedDict[Hashable, tuple[LoadedModel, int]] = OrderedDict()
        self._lock, self._loading, self._left = Lock(), Lock(), left

    @property
    def used(self) -> int:
        """Bytes of the weights that are held."""
        return sum(size for _, size in self._models.values())

    def holds(self, key: Hashable) -> bool:
        """Return True if the model of `key` is in memory, so that `get` has nothing to load."""
        return key in self._models

    def get(self, key: Hashable, load: Callable[[], LoadedModel], *, expected: int = 0) -> LoadedModel:
        """The model of `key`, loaded by `load` where it is not held; `expected`: bytes to make room for before.

        Whoever asks while it is being loaded waits for the same copy. An exception of `load` is passed on.
        """
        if (held := self._held(key)) is not None:
            return held
        with self._loading:
            if (held := self._held(key)) is not None:
                return held
            with self._lock:
                self._make_room(expected)
            loaded = load()
            size = weight_bytes(loaded.network)
            with self._lock:
                self._make_room(size)
                self._models[key] = (loaded, size)
            return loaded

    def _held(self, key: Hashable) -> LoadedModel | None:
        with self._lock:
            if key not in self._models:
                return None
            self._models.move_to_end(key)
            return self._models[key][0]

    def _make_room(self, size: int) -> None:
        left = len(self._models)
        while self._models and self.used + size > self.budget:
            self._models.popitem(last=False)
        if len(self._models) < left:
            gc.collect()  # a network with accelerate's hooks holds itself, and a device's memory with it
            if self._left is not None:
                self._left()


def weight_bytes(network: nn.Module) -> int:
    """Bytes of a network's parameters and buffers, shared ones counted once."""
    return sum(tensor.nbytes for tensors in (network.parameters(), network.buffers()) for tensor in tensors)
