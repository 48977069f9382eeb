"""Words of two atlases beside each other on the page Atlas."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Literal

from inspector.atlas import measures
from inspector.atlas.reading.head_relations import BEST
from inspector.plots.atlas.units import written
from inspector.text import signed
from inspector.wording.english import atlas_card
from inspector.wording.english.atlas import FROM_GOVERNOR
from inspector.wording.english.phrases import count_of, percent

if TYPE_CHECKING:
    from inspector.atlas import Atlas

BESIDE, NOTHING = "Beside it", "no second atlas"
NO_NUMBER = "The atlas beside it has no such number: no grid of it is drawn. Choose another number, or another atlas."
Than = Literal["more", "less", "alike"]


def named(model: str, atlas: Atlas) -> str:
    """Name an atlas in the list: by its texts, and by its model where that is another one."""
    texts = f"{atlas.manifest.corpus} ({count_of(atlas.counted.read, 'text')})"
    return f"{model}: {texts}" if model else texts


def title(model: str, *, stream: str) -> str:
    """Head a grid. stream: "" where both models have only one."""
    return f"{model}, {stream}" if stream else model


def opening(name: str, key: str, value: float, beside: float, *, than: Than, models: tuple[str, str] | None) -> str:
    """Say whether a head does more of what is asked for than the head beside it, with both numbers.

    value, beside: of the two heads, NaN where there is none. models: of both, where they differ: then the head beside
    is the one that does most in its model; None where it is the same head over other texts.
    """
    head = f"{name[0].upper()}{name[1:]}"
    head += f" of {models[0]}" if models else ""
    other = f"{models[1]}'s top head" if models else "over the other texts"
    if isnan(value):
        has = "has" if models else "it has"
        return f"{head} has no text with this number; {other} {has} {_written(key, beside)}."
    begins = f"{head} {_does(key, value)}"
    if isnan(beside):
        return f"{begins}; over the other texts it has no such number."
    if _written(key, value) == _written(key, beside):
        return f"{begins}, as {_MUCH[_counts(key)]} as {other}: {_written(key, beside)}."
    more = _MORE[_counts(key)] if value > beside else _LESS[_counts(key)]
    if than == "alike":
        return f"{begins}, not surely {more} than {other}: {_written(key, beside)}."
    if models and than == "more":
        return f"{begins}, {more} than any of {models[1]}'s: at most {_written(key, beside)}."
    return f"{begins}, {more} than {other}: {_written(key, beside)}."


_MUCH = {True: "often", False: "much"}
_MORE = {True: "more often", False: "more"}
_LESS = {True: "less often", False: "less"}


def _counts(key: str) -> bool:
    """Return True where a number says how often, not how much."""
    return " " in key


def _does(key: str, value: float) -> str:
    if key == BEST:
        return f"is {atlas_card.points(value)} above the best fixed offset"
    relation, _, direction = key.rpartition(" ")
    if relation:
        side = "" if direction == "governor" else FROM_GOVERNOR
        return f"finds the governor of {relation} in {_written(key, value)} of cases{side}"
    measure = measures.find(key)
    return atlas_card.does(measure, written(value, measure.unit))


def _written(key: str, value: float) -> str:
    if key == BEST:
        return signed(value)
    return percent(value) if _counts(key) else written(value, measures.find(key).unit)


def of_texts(corpora: tuple[str, str], texts: tuple[int, int], *, same: bool, same_model: bool) -> str:
    """Say on which texts the two atlases were measured. corpora: their names; texts: how many of each."""
    tokens = "" if same_model else " Each model has its own tokens."
    if same:
        return f"Both atlases are of the same {count_of(texts[0], 'text')}.{tokens}"
    of_first, of_second = (
        f"{corpus} ({count_of(count, 'text')})" for corpus, count in zip(corpora, texts, strict=True)
    )
    return f"The texts differ, {of_first} and {of_second}: a part of the difference may be theirs.{tokens}"
