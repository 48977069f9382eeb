from __future__ import annotations

import threading

import pytest

from inspector.memory.cache import ByteBudgetCache


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
