"""Teacher forcing: one pass over a given text beside the same text step by step, as a difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Count
from inspector.sections.section import (
    Block,
    Figure,
    Mark,
    Need,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.sections.time import steps
from inspector.text import number, plain
from inspector.wording import time as wording
from models.cards import WRITERS

if TYPE_CHECKING:
    from inspector.sections.subject import Subject
    from inspector.stepwise import ForcedReading

words = wording.forcing

USUAL = 24  # tokens
ROOM = 3.0  # a difference of 0 stands at so small a part of the smallest other one


def answer(subject: Subject, *, forced_tokens: int) -> Iterator[Block]:
    """Yield how far step by step is from one pass, in a model that writes."""
    found = steps.forced(subject, tokens=forced_tokens)
    largest = found.table.loc[found.table[["cached", "uncached"]].max(axis=1).idxmax()]
    about = (Mark("forcing-differences", {"position": int(largest["position"])}),)
    yield Sentence(words.comparing(found, model=plain(names.name(subject.model))), words.TERMS, about)
    figure = Figure(
        "forcing-differences",
        words.DIFFERENCE,
        differences(found),
        words.DIFFERENCE_ALT,
        f"{steps.code(subject)}table = stepwise.compare(loaded, trace, tokens={forced_tokens}).table",
        found.table,
    )
    yield Row((figure, Table("forcing-waiting", words.waiting(forced_tokens), words.WAIT, prose=True)), widths=(3, 2))
    yield Numbers(tuple(Number(*told) for told in words.numbers(found)))
    yield replace(MORE, answer=partial(_more, found=found))
    yield Table("teacher-forcing", found.table, words=words.COLUMNS, height=320)


def _more(subject: Subject, *, found: ForcedReading) -> Iterator[Block]:
    """Yield what teacher forcing means for an RNN, and what the difference is."""
    yield Paragraph(words.RNN)
    yield Note(words.about(found))


def differences(found: ForcedReading) -> Chart:
    """Draw the differences on a logarithmic axis, where 0 stands at the lower edge; the largest has its number."""
    table = found.table
    seen = [way for way in words.LINES if table[way].notna().all() and (found.cache_bytes or way != "cached")]
    rows = table.assign(place=range(len(table))).melt(["place", "position"], seen, "way", "size")
    floor = rows["size"][rows["size"] > 0].min() if rows["size"].any() else 1e-16
    return Chart(
        rows.assign(
            drawn=rows["size"].clip(lower=floor / ROOM),
            told=rows["size"].map(number).where(rows.index == rows["size"].idxmax(), ""),
        ),
        "place",
        "drawn",
        by="way",
        names={way: f"{name}, {'float64' if way == 'exact' else found.dtype}" for way, name in words.LINES.items()},
        parts={"cached": "q", "uncached": "out", "exact": "norm"},
        styles={"uncached": 1, "exact": 2},
        tokens=list(table["token"]),
        hover={"size": words.LARGEST},
        x_title=words.READS,
        y_title=words.OF_LOGIT,
        title=words.TITLE,
        points_at="told",
        y_log=True,
        y_format=".0e",
        height=340,
    )


MORE = Section("forcing_more", wording.MORE, _more, folded=True)
SECTION = Section(
    "forcing",
    words.FORCING,
    answer,
    (Count("forced_tokens", words.READ, steps.room, lambda subject: min(USUAL, steps.room(subject)), first_value=1),),
    needs_model=True,
    waits=words.READING,
    parts=(MORE,),
    need=Need(words.CANNOT, lambda loaded: loaded.write is not None, WRITERS),
)
