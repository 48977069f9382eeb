"""The page Questions in two languages: the same names, and Chinese in every one of the Chinese ones."""

from __future__ import annotations

import inspect
import re

import pytest

from inspector.wording.chinese.questions import page as chinese
from inspector.wording.english.questions import page as english

NAMES = sorted(name for name in vars(english) if not name.startswith("_") and name not in ("annotations",))
OWN = [name for name in NAMES if getattr(vars(english)[name], "__module__", english.__name__) == english.__name__]
GIVEN = ("heading", "of_model", "published", "quoted")  # only put together what they are given


def test_both_languages_have_the_same_names():
    assert sorted(name for name in vars(chinese) if not name.startswith("_") and name != "annotations") == NAMES


@pytest.mark.parametrize("name", [name for name in OWN if callable(vars(english)[name])])
def test_a_sentence_takes_the_same_in_both(name: str):
    one, other = getattr(english, name), getattr(chinese, name)
    assert inspect.signature(one) == inspect.signature(other)
    example = {
        **{"str": "x", "int": 3, "bool": True, "float | None": 1.5, "tuple[str, ...]": ("Writing",)},
        "Mapping[str, int]": {"true": 1, "instead": 2, "failed": 3},
    }
    given = {key: example[kind.annotation] for key, kind in inspect.signature(one).parameters.items()}
    assert not re.search(r"[一-鿿]", one(**given))
    assert name in GIVEN or re.search(r"[一-鿿]", other(**given))


@pytest.mark.parametrize("name", [name for name in OWN if not callable(vars(english)[name])])
def test_every_word_is_translated(name: str):
    one, other = getattr(english, name), getattr(chinese, name)
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    one, other = ([one], [other]) if isinstance(one, str) else (one, other)
    assert len(one) == len(other)
    assert not any(re.search(r"[一-鿿]", words) for words in one)
    assert all(re.search(r"[一-鿿]", words) for words in other)
