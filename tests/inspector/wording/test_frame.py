"""The frame's words in both languages: the same names and arguments, and no English word in the Chinese ones."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import models
from inspector import examples
from inspector.practice.index import TASKS
from inspector.self_checks import Exactness
from inspector.wording import in_language, reader
from models.tokenizers import Cut
from models.transformer import switches
from tests.inspector.wording.chinese import OF_PRACTICE, english_words

GIVEN = Exactness(6, 6, 1e-7, True, None)
SAMPLES: Mapping[str, tuple[Any, ...]] = {
    "str": ("甲",),
    "str | None": ("甲", None),
    "int": (3_000_000,),
    "int | None": (None, 2),
    "float": (0.25,),
    "bool": (True, False),
    "object": ("甲",),
    "float | None": (None, 0.5),
    "tuple[str, ...]": (("甲",),),
    "Sequence[str]": (("甲", "乙"),),
    "Sequence[int]": ((0, 2),),
    "Callable[[Sequence[int]], str]": (lambda layers: "甲",),
    "Mapping[str, Any]": ({"heads": 3, "scale": "none"}, {"causal": True, "window": None, "mask_fill": 0.5}),
    "Card": (*models.catalogue(), replace(models.catalogue()[0], id="甲/乙", title="甲/乙")),
    "Cut": (Cut(1, 2, "tokens", "x"), Cut(1, 2, "characters", "x")),
    "Exactness": (
        GIVEN,
        replace(GIVEN, finite=False),
        replace(GIVEN, given=True, fused=True),
        replace(GIVEN, sinks=True, to_padding=0.5),
        replace(GIVEN, sigmoid=True, future=0.1, lets_through=True),
        replace(GIVEN, future=0.1),
    ),
}
"""An example or some of every kind of argument, all without a Latin word of their own."""
KEYS = {
    "example": {"name": tuple({**examples.offered("smollm2")})},
    "group": {"name": tuple(in_language("en", "switches").GROUPS)},
    "model": {"name": tuple(card.title for card in models.catalogue())},
    "step": {"work": ("Reading the text", "Another work"), "unit": ("layer", "step")},
    "placed": {"where": ("float32 on cpu", "bfloat16, spread over cuda:0, cpu and disk")},
    "mistake": {"name": tuple({one.said: "" for task in TASKS for one in task.mistakes})},
    "case": {"name": tuple({one.name: "" for task in TASKS for one in (*task.made(), *task.recorded())})},
    "collection": {"kind": ("tuple", "list")},
    "unreadable": {"why": tuple(in_language("en", "practice_verdict").UNREADABLE), "of": (("甲", "乙"),)},
    "ended": {"signal": ("", "SIGXCPU", "SIGKILL", "甲")},
    "raised": {
        "kinds": (("EOFError",), ("SystemExit",), ("MemoryError",), ("NotImplementedError",), ("甲",), ("甲",)),
        "said": ("甲", "甲", "甲", "", "甲", ""),
    },
    "offered": {"note": ("MiniLM is not here. Fetch it with `x`. Until then mini-bert is the default.",)},
}
"""The English names that some functions take, by the function and the argument."""


def names(module: ModuleType) -> list[str]:
    """Name what a file of words says itself."""
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    functions = [name for name, value in public.items() if getattr(value, "__module__", "") == module.__name__]
    constants = [name for name in public if name.isupper() and name != "TYPE_CHECKING"]
    return sorted([*constants, *(name for name in functions if inspect.isfunction(public[name]))])


def texts(value: object) -> Iterator[str]:
    """Yield the texts in a constant; names in a mapping are not shown."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts(inner)
    else:
        for inner in value:
            yield from texts(inner)


def said(module: ModuleType, name: str) -> list[str]:
    """Collect what a name of a file can say: its texts, or the sentences for examples of its arguments."""
    value = getattr(module, name)
    if not inspect.isfunction(value):
        return list(texts(value))
    if (module.__name__.rpartition(".")[2], name) == ("switches", "value"):
        return [value(field, of) for field, kinds in switches.KINDS.items() for of in values(field, kinds)]
    parameters = inspect.signature(value).parameters
    choices = {key: KEYS.get(name, {}).get(key) or SAMPLES[kind.annotation] for key, kind in parameters.items()}
    most = max(map(len, choices.values()))
    return [value(**{key: of[number % len(of)] for key, of in choices.items()}) for number in range(most)]


def values(field: str, kinds: tuple[Any, ...]) -> Iterator[object]:
    """Yield the values of a switch that a reader can choose."""
    for kind in kinds:
        yield from (True, False) if kind is bool else (3,) if kind is int else (0.5,) if kind is float else ()
        if isinstance(kind, str):
            yield kind
    if type(None) in kinds:
        yield None


def the_files() -> list[tuple[str, str]]:
    return [(file, name) for file in reader.FRAME for name in names(in_language("en", file))]


@pytest.mark.parametrize("file", reader.FRAME)
def test_both_languages_have_the_same_names(file: str) -> None:
    assert names(in_language("zh", file)) == names(in_language("en", file))


@pytest.mark.parametrize(("file", "name"), the_files())
def test_a_name_is_of_one_kind_in_both(file: str, name: str) -> None:
    one, other = (getattr(in_language(language, file), name) for language in ("en", "zh"))
    if inspect.isfunction(one):
        assert inspect.signature(one) == inspect.signature(other)
    elif isinstance(one, Mapping):
        assert list(one) == list(other)
    else:
        assert type(one) is type(other)


@pytest.mark.parametrize(("file", "name"), the_files())
def test_chinese_has_no_english_word(file: str, name: str) -> None:
    found = said(in_language("zh", file), name)
    also = OF_PRACTICE if file.startswith("practice") else frozenset()
    assert {text: words for text in found if (words := english_words(text, also))} == {}


@pytest.mark.parametrize(("file", "name"), the_files())
def test_english_has_no_chinese_word(file: str, name: str) -> None:
    if (file, name) != ("shell", "OTHER_LANGUAGE"):  # which is read by whoever looks for it
        texts = [re.sub("[甲乙]", "", text) for text in said(in_language("en", file), name)]
        assert not [text for text in texts if re.search(r"[一-鿿]", text)]


def test_a_planted_english_word_is_found() -> None:
    assert english_words("模型 Model：MiniLM，head 3 个 token") == ["Model", "head"]
    planted = SimpleNamespace(__name__="inspector.wording.chinese.shell", LOAD={"a": ("加载", "Load it")})
    assert [english_words(text) for text in said(planted, "LOAD")] == [[], ["Load", "it"]]


def test_every_reason_against_a_second_run_is_translated() -> None:
    english, chinese = in_language("en", "exactness"), in_language("zh", "exactness")
    for reason, translated in ((english.LONG, chinese.LONG), (english.NO_MODEL, chinese.NO_MODEL)):
        assert translated in chinese.caption(replace(GIVEN, not_held=reason))


def test_every_model_of_the_catalogue_has_a_chinese_name_and_summary() -> None:
    chinese = in_language("zh", "shell")
    for card in models.catalogue():
        assert re.search(r"[一-鿿]", chinese.model(card.title))
        assert card.title not in chinese.summary(card)
        figures = re.findall(r"\d[\d,.]*", card.summary.replace("SmolLM2", ""))
        assert all(figure.strip(".,") in chinese.summary(card) for figure in figures)


def test_the_reader_is_asked_at_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    spoken = ["en"]
    monkeypatch.setattr(reader, "_language", lambda: spoken[0])
    words = reader.shell
    assert words.INSPECT == "Inspect"
    spoken[0] = "zh"
    assert words.INSPECT == "检视"
    with pytest.raises(AttributeError):
        reader.attention  # noqa: B018
