"""The open head's queries and keys under softmax, sigmoid, linear attention and cosine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from inspector.components.matrix import Panel
from inspector.scores import weightings
from inspector.sections.scores.open_head import HEAD, OpenHead
from inspector.sections.section import Block, Map, Note, Section, Sentence, Table
from inspector.text import number
from inspector.wording import score_functions as words
from inspector.wording import scores

if TYPE_CHECKING:
    from inspector.scores.weightings import Weighting
    from inspector.sections.subject import Subject

PAIRS = (("softmax", "sigmoid"), ("linear", "cosine"))


def answer(subject: Subject, *, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield four maps of the head and their numbers."""
    opened = OpenHead.of(subject, head)

    def make() -> list[Weighting]:
        with subject.progress(words.WEIGHING, unit=words.WEIGHTING) as on_done:
            return weightings.weigh(opened.record, on_done=on_done)

    try:
        found = {one.name: one for one in subject.once(("weightings", head), make)}
    except ValueError as error:
        raise ValueError(f"{str(error).capitalize()}.") from None
    yield Sentence(weighed(found, head=opened.name), words.WEIGHTING_TERMS)
    site, shown = opened.site, weightings.SHOWN
    for pair in PAIRS:
        id = f"weightings-{'-'.join(pair)}"
        panels = [
            Panel(found[name].map, rows=site.queries[:shown], columns=site.keys[:shown], title=words.WAYS[name])
            for name in pair
        ]
        alt = words.weightings_alt(*(words.WAYS[name] for name in pair))
        code = (
            f"{opened.code}maps = {{one.name: one.map for one in inspector.scores.weightings.weigh(record)}}\n"
            f"table = {' , '.join(f'maps[{name!r}]' for name in pair)}"
        ).replace(" , ", ", ")
        yield Map(id, "", tuple(panels), scores.QUERY, scores.KEY, alt, code=code)
    if max(len(site.queries), len(site.keys)) > shown:
        yield Note(words.first(shown))
    yield Table("weightings", _numbers(found), words=words.WEIGHTING_HEADS, folded=False)
    yield Note(words.WEIGHTING_FORMULAS)
    yield Note(words.ABOUT_WEIGHTINGS)


def _numbers(found: Mapping[str, Weighting]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "weighting": [words.WAYS[name] for name in found],
            "entropy": [one.entropy for one in found.values()],
            "largest": [one.largest for one in found.values()],
            "sums": [" to ".join(dict.fromkeys(map(number, one.sums))) for one in found.values()],
        }
    )


def weighed(found: Mapping[str, Weighting], *, head: str) -> str:
    """Say what the other weightings make of a head's queries and keys; found: by name."""
    softmax = found["softmax"]
    if softmax.entropy != softmax.entropy:
        return words.no_choice(head)
    return words.weightings(head, **{name: found[name].largest for name in ("softmax", "linear", "cosine")})


SECTION = Section("weightings", scores.WEIGHTINGS, answer, (HEAD,), long=True)
