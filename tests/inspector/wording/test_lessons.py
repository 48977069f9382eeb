"""The page Lessons in two languages: the same names, Chinese in each of the Chinese ones, no English word in them."""

from __future__ import annotations

import inspect
import re

import pytest

from inspector.wording.chinese import lessons as chinese
from inspector.wording.english import lessons as english
from tests.inspector.wording.chinese import english_words

HAN = re.compile(r"[一-鿿]")
SAMPLES = {
    "str": "甲",
    "int": 3,
    "int | None": 3,
    "float": 0.25,
    "object": 0.25,
    "bool": True,
    "Sequence[str]": ("甲",),
}
FILES = {"TOML", "JSON", "docs", "lessons", "md", "KB", "Python"}
"""Names of formats and files, which stay as they are."""


def names(module: object) -> list[str]:
    return sorted(
        name
        for name, value in vars(module).items()
        if name.isupper() or (inspect.isfunction(value) and not name.startswith("_"))
    )


def said(module: object, name: str) -> list[str]:
    value = getattr(module, name)
    if inspect.isfunction(value):
        return [value(**{key: SAMPLES[one.annotation] for key, one in inspect.signature(value).parameters.items()})]
    return [*value.values()] if isinstance(value, dict) else [value]


@pytest.mark.parametrize("name", names(english))
def test_a_name_says_the_same_in_both(name: str) -> None:
    assert names(english) == names(chinese)
    one, other = getattr(english, name), getattr(chinese, name)
    if inspect.isfunction(one):
        assert inspect.signature(one) == inspect.signature(other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
    for text in said(chinese, name):
        assert HAN.search(text)
        assert set(english_words(text)) <= FILES, text
    for text in said(english, name):
        assert not HAN.search(text.replace("甲", ""))
