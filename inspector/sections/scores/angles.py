"""The order in which a query ranks the keys, by q . k, cosine and distance, and what changes with the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from inspector import scores
from inspector.plots.chart import Chart
from inspector.sections.picks import Option
from inspector.sections.scores.open_head import HEAD, OpenHead, heads_map, name_of
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence, Table
from inspector.text import plain
from inspector.wording import scores as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions import FixedMixing
    from inspector.sections.subject import Subject

MOST = 1024  # tokens of a text that is read again
LONGEST = 512  # keys whose lengths are drawn


def answer(subject: Subject, *, ranks: str, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield the rank correlations of all heads, the open head's key lengths, and what another text changes."""
    opened, table = OpenHead.of(subject, head), _table(subject)
    if (told := agrees(table)) is None:
        yield Note(words.NO_ORDER)
        return
    row = opened.row_of(table)
    terms, ordered = ("q · k", "cosine", "rank correlation"), not isnan(row["cosine"])
    if ordered and ranks != "key_spread":
        about = Mark(f"scores-{ranks}", {"layer": opened.site.layer, "head": opened.number})
        yield Sentence(f"{told} {own_angles(row)}", terms, (about,))
    else:
        yield Sentence(told, terms)
    other = opened.beside()
    against = None if other is None else _table(other.subject)
    if against is not None and (second := agrees(against)) is not None:
        yield Paragraph(words.beside(second))
    code = f"{subject.code}table = inspector.scores.ranks.measure(trace, stream={subject.stream!r})"
    top = None if ranks == "key_spread" else 1.0
    drawn = heads_map(opened, table, ranks, quantity=words.CORRELATIONS[ranks], top=top, code=code, beside=against)
    said = (
        Paragraph(key_lengths(row) if ordered else words.no_order(opened.name)),
        Note(f"{words.spearman(scores.ranks.ROWS)} {lowest(table)}".rstrip()),
    )
    yield from (Row((drawn, said), widths=(5, 4)),) if against is None else (drawn, *said)
    yield _lengths(opened)
    yield Table("scores-ranks", table, words.ALL_HEADS, height=420)
    yield replace(FIXED, answer=partial(_fixed, opened=opened))
    yield from opened.sigmoid()


def _table(subject: Subject) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        with subject.progress(words.RANKING) as on_layer:
            return scores.ranks.measure(subject.trace, stream=subject.stream, on_layer=on_layer)

    return subject.once("ranks", make)


def _lengths(opened: OpenHead) -> Figure:
    table = scores.ranks.lengths(opened.record)[:LONGEST]
    chart = Chart(
        table.assign(place=range(len(table))),
        "place",
        "length",
        "bars",
        parts={"length": "k"},
        tokens=opened.site.keys[:LONGEST],
        x_title=words.KEY,
        y_title=words.LENGTH,
        title=words.LENGTHS,
        height=320,
    )
    return Figure(
        "scores-lengths",
        words.LENGTHS,
        chart,
        words.LENGTHS_ALT,
        f"{opened.code}table = inspector.scores.ranks.lengths(record)",
        table,
    )


def _fixed(subject: Subject, *, opened: OpenHead) -> Iterator[Block]:
    """Yield what another text changes, beside a fully connected layer over the tokens."""
    trace, loaded = subject.trace, subject.loaded
    if subject.stream == "cross":
        yield Note(words.NEEDS_ITSELF)
        return
    if loaded is None or len(opened.site.keys) > MOST:
        yield Note(words.needs_short(MOST))
        return

    def make() -> FixedMixing:
        from inspector import interventions

        with failures.told(words.BACKWARDS, instead=words.ANOTHER_TEXT):
            return interventions.against_fixed(loaded, trace, stream=subject.stream)

    try:
        found = subject.once("against fixed", make)
    except ValueError as error:
        yield Note(plain(f"{str(error).rstrip('.')}.".capitalize()))
        return
    yield Paragraph(fixed(found, opened.row_of(found.table)))


def agrees(table: pd.DataFrame) -> str | None:
    """Say how far the orders agree over all heads, None where no head has any; table: of `scores.ranks.measure`."""
    known = table.dropna(subset=["cosine", "distance"])
    if known.empty:
        return None
    return words.angles(
        heads=len(known), cosine=float(known["cosine"].median()), distance=float(known["distance"].median())
    )


def lowest(table: pd.DataFrame) -> str:
    """Say which head's order differs most from that by distance; table: of `scores.ranks.measure`."""
    known = table.dropna(subset=["cosine", "distance"])
    row = known.loc[known["distance"].idxmin()]
    return words.lowest(name_of(row), heads=len(known), least=float(row["distance"]))


def own_angles(row: pd.Series) -> str:
    """Say how far the orders agree in one head; row: of `scores.ranks.measure`."""
    return words.own_angles(name_of(row), cosine=float(row["cosine"]), distance=float(row["distance"]))


def key_lengths(row: pd.Series) -> str:
    """Say how far the lengths of one head's keys spread; row: of `scores.ranks.measure`."""
    return words.key_lengths(name_of(row), spread=float(row["key_spread"]), longest=float(row["longest"]))


def fixed(found: FixedMixing, row: pd.Series) -> str:
    """Say how far another text changes the weights; row: the open head's of the table."""
    most = found.table.loc[found.table["largest"].idxmax()]
    return words.fixed(
        head=name_of(row),
        largest=float(row["largest"]),
        most=name_of(most),
        over_all=float(most["largest"]),
        tokens=found.tokens,
        parameters=found.parameters,
    )


FIXED = Section("fixed", words.FIXED, _fixed, waits=words.BACKWARDS)
RANKS = Option("ranks", words.NUMBER_OF_HEAD, lambda subject: words.RANKS)
SECTION = Section("angles", words.ANGLES, answer, (RANKS, HEAD), compares=True, long=True, parts=(FIXED,))
