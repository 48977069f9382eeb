"""Reads what a question says from its file, `inspector/wording/questions/THEME/NUMBER.toml`.

A file holds, in both languages, the question, the claim and its parts with their checks, the names of the measured
numbers, what papers report, and the numbers of a long experiment that was run once. A field that is not known is an
error, for it would be lost. Nothing here imports what measures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspector.questions.record import kinds, papers
from inspector.questions.record.both import Both
from inspector.questions.record.checks import NumberCheck
from inspector.questions.record.measured import MEASURED
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measure,
    PageLink,
    PublishedNumber,
    Question,
    Run,
    StatedVerdict,
    StoredRun,
)

Fields = dict[str, Any]


def read(path: Path, *, measure: Measure, run: Run) -> Question:
    """Read a question. path: its file, named by its number. measure, run: give its numbers, and its long experiment's.

    Raises ValueError for a file with a field that is not known, KeyError for one that lacks a field.
    """
    fields = tomllib.loads(path.read_text(encoding="utf-8"))
    stated = fields.pop("stated", None)
    whole = fields.pop("whole", None)
    of = fields.pop("of", None)
    question = Question(
        int(path.stem),
        asked=_both(fields.pop("asked")),
        claim=_both(fields.pop("claim")),
        because=_both(fields.pop("because")),
        refuted=_both(fields.pop("refuted")),
        parts=_parts(fields.pop("parts", ())),
        measure=None if stated else measure,
        numbers=_labels(fields.pop("numbers", {})),
        papers=tuple(getattr(papers, name) for name in fields.pop("papers", ())),
        see=PageLink(**see) if (see := fields.pop("see", None)) else None,
        of=None if of is None else getattr(kinds, of),
        whole=None if whole is None else _experiment(whole, run),
        stated=None if stated is None else StatedVerdict(stated.pop("verdict"), _both(stated)),
        published=_published(fields.pop("published", {})),
        formula=fields.pop("formula", ""),
        mixed=fields.pop("mixed", "partly"),
        reads_text=fields.pop("reads_text", True),
    )
    if "setting" in fields:
        question = replace(question, setting=_both(fields.pop("setting")))
    rest = fields | (whole or {})
    if rest:
        raise ValueError(f"{path.name} has fields that no question has: {', '.join(sorted(rest))}.")
    return question


def _both(fields: Fields) -> Both:
    return Both(**fields)


def _parts(parts: Iterable[Fields]) -> tuple[ClaimPart, ...]:
    return tuple(
        ClaimPart(Both(part.pop("en"), part.pop("zh")), tuple(map(_check, part.pop("checks"))), **part)
        for part in parts
    )


def _check(fields: Fields) -> NumberCheck:
    why = fields.pop("why", "")
    return NumberCheck(relation=fields.pop("is"), why=why if isinstance(why, str) else _both(why), **fields)


def _labels(numbers: Mapping[str, Fields]) -> dict[str, Label]:
    return {name: _label(fields) for name, fields in numbers.items()}


def _label(fields: Fields) -> Label:
    unit, of = fields.pop("unit", ""), fields.pop("of", None)
    return Label(
        _both(fields),
        unit if isinstance(unit, str) else _both(unit),
        of=None if of is None else MEASURED[of],
    )


def _published(numbers: Mapping[str, Fields]) -> dict[str, PublishedNumber]:
    return {
        name: PublishedNumber(fields.pop("value"), Both(fields.pop("en"), fields.pop("zh")), **fields)
        for name, fields in numbers.items()
    }


def _experiment(fields: Fields, run: Run) -> LongExperiment:
    stored = fields.pop("stored", None)
    return LongExperiment(
        run=run,
        about=_both(fields.pop("about")),
        parts=_parts(fields.pop("parts", ())),
        numbers=_labels(fields.pop("numbers", {})),
        stored=None if stored is None else StoredRun(**stored),
    )
