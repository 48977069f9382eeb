from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import nn

from inspector.memory.cache import ByteBudgetCache, SharedModels, weight_bytes
from models import LoadedModel


def test_keeps_within_its_budget_and_drops_what_was_used_longest_ago() -> None:
    cache: ByteBudgetCache[bytes] = ByteBudgetCache(10)
    made = []

    def get(key: str) -> bytes:
        return cache.get(key, lambda: made.append(key) or b"1234", size=len)

    get("a"), get("b"), get("a"), get("c")  # c pushes b out: a was used since
    assert cache.used == 8
    get("a"), get("c")
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"]


def test_a_value_larger_than_the_budget_is_handed_out_and_not_kept() -> None:
    cache: ByteBudgetCache[bytes] = ByteBudgetCache(3)
    assert cache.get("b", lambda: b"12", size=len) == b"12"
    assert cache.get("a", lambda: b"1234", size=len) == b"1234"
    assert cache.used == 2
    assert cache.get("b", lambda: b"made again", size=len) == b"12"


def test_threads_see_one_value_each_key() -> None:
    cache: ByteBudgetCache[int] = ByteBudgetCache(1000)
    wrong = []

    def work(thread: int) -> None:
        for step in range(200):
            key = (thread + step) % 7
            if cache.get(key, lambda key=key: key * 2, size=lambda _: 1) != key * 2:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []
    assert cache.used == 7


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 bytes"):
        ByteBudgetCache(-1)


# --- SharedModels ----------------------------------------------------------------------------------------------------


def model(numbers: int) -> LoadedModel:
    """A stand-in for a model whose network has so many float32 numbers."""
    return cast("LoadedModel", SimpleNamespace(network=nn.Linear(numbers, 1, bias=False)))


def test_what_was_used_longest_ago_leaves_before_the_next_is_loaded() -> None:
    shared, held_while_loading = SharedModels(1000), []

    def load(numbers: int) -> LoadedModel:
        held_while_loading.append(shared.used)
        return model(numbers)

    for name in ("a", "b", "a"):
        shared.get(name, lambda: load(100), expected=400)
    shared.get("c", lambda: load(100), expected=400)  # b leaves: a was used since
    assert held_while_loading == [0, 400, 400]
    shared.get("a", lambda: pytest.fail("a was there"))
    shared.get("b", lambda: load(100), expected=400)
    assert shared.used == 800


def test_a_model_larger_than_the_budget_is_kept_alone() -> None:
    shared = SharedModels(100)
    shared.get("small", lambda: model(10))
    large = shared.get("large", lambda: model(1000))
    assert shared.used == 4000
    assert shared.get("large", lambda: pytest.fail("it was there")) is large
    shared.get("small", lambda: model(10))
    assert shared.used == 40


def test_who_asks_at_once_gets_the_same_copy_and_loads_never_overlap() -> None:
    shared, loading, loads, got = SharedModels(10_000), [0], [], []

    def load() -> LoadedModel:
        loading[0] += 1
        loads.append(loading[0])
        time.sleep(0.01)
        loading[0] -= 1
        return model(10)

    def ask(index: int) -> None:
        got.append((index % 3, shared.get(index % 3, load)))

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert loads == [1, 1, 1]
    assert len({id(loaded) for _, loaded in got}) == 3
    assert len({(name, id(loaded)) for name, loaded in got}) == 3


def test_what_cannot_be_loaded_leaves_nothing_and_can_be_tried_again() -> None:
    shared = SharedModels(1000)

    def fail() -> LoadedModel:
        raise ValueError("no such file")

    with pytest.raises(ValueError, match="no such file"):
        shared.get("a", fail)
    assert shared.get("a", lambda: model(1)).network.weight.numel() == 1
    with pytest.raises(ValueError, match="-1 bytes"):
        SharedModels(-1)


def test_shared_weights_count_once_and_buffers_count() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one: Any = nn.Linear(3, 5, bias=False)
            self.two: Any = nn.Linear(3, 5, bias=False)
            self.two.weight = self.one.weight
            self.register_buffer("positions", torch.arange(7))

    assert weight_bytes(Tied()) == 3 * 5 * 4 + 7 * 8
