"""The page Practice in two languages: the same names, Chinese in each of the Chinese ones, and every task in both."""

from __future__ import annotations

import inspect
import re

import pytest

from inspector.practice.index import TASKS
from inspector.wording.chinese import practice as chinese
from inspector.wording.english import practice as english

HAN = re.compile(r"[一-鿿]")
NAMES = sorted(name for name in vars(english) if not name.startswith("_") and name not in ("annotations", "Level"))


@pytest.mark.parametrize("name", NAMES)
def test_every_word_is_there_in_both(name: str) -> None:
    one, other = getattr(english, name), getattr(chinese, name)
    if callable(one):
        assert inspect.signature(one) == inspect.signature(other)
        return
    one, other = ([*one.values()], [*other.values()]) if isinstance(one, dict) else (one, other)
    one, other = ([one], [other]) if isinstance(one, str) else (one, other)
    assert len(one) == len(other)
    assert not any(HAN.search(words) for words in one)
    assert all(HAN.search(words) for words in other)


def test_every_task_is_there_in_both() -> None:
    for task in TASKS:
        for text in (task.asked, *task.hints):
            assert not HAN.search(text.en)
            assert HAN.search(text.zh) or not re.search(r"[A-Za-z]{4,} [A-Za-z]{4,}", text.zh), text.zh
        assert len(task.hints) == 3
