"""Costs layer by layer, and of the whole model as nested areas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs import clocked
from inspector.plots import costs as draw
from inspector.plots.costs import Value
from inspector.sections.costs import counts, shares
from inspector.sections.section import Block, Figure, Note, Paragraph, Section, Table
from inspector.wording import costs as words

if TYPE_CHECKING:
    from inspector.costs.clock import Kernel
    from inspector.sections.subject import Subject

Draws = Callable[[pd.DataFrame, Value, str, str], Iterator[Block]]


def layers(subject: Subject, *, stream: str, counted: Value) -> Iterator[Block]:
    """Yield what each layer of a stream costs."""
    yield from _told(subject, _bars, stream=stream, counted=counted)


def whole(subject: Subject, *, counted: Value) -> Iterator[Block]:
    """Yield what every stream, layer, part and component costs."""
    yield from _told(subject, _areas, stream="", counted=counted)


def _told(subject: Subject, draws: Draws, *, stream: str, counted: Value) -> Iterator[Block]:
    """Draw what is counted, or what the clock has found."""
    if counted != "milliseconds":
        yield from draws(counts.of(subject).table, counted, stream, counts.table_code(subject))
    elif counts.measured(subject) is None:
        yield Paragraph(words.PRESS_MEASURE)
    else:
        yield replace(TIMED, answer=partial(_timed, draws=draws))


def _timed(subject: Subject, *, kernel: Kernel, draws: Draws) -> Iterator[Block]:
    measured = counts.measured(subject)
    assert measured is not None
    found = clocked.by_layer(counts.of(subject).table, measured, kernel=kernel, tokens=subject.configuration.tokens)
    yield from draws(found.table, "milliseconds", found.stream, shares.timed_code(subject, kernel))


def _bars(table: pd.DataFrame, value: Value, stream: str, code: str) -> Iterator[Block]:
    yield Paragraph(of_layers(table, value, stream=stream), words.BY_LAYER.format(words.VALUES[value]))
    bars = draw.by_layer(table, value=value, stream=stream)
    yield Figure("by-layer", "", bars, words.BY_LAYER.format(words.VALUES[value]), code, table)
    yield Table("costs", table, height=360)


def _areas(table: pd.DataFrame, value: Value, stream: str, code: str) -> Iterator[Block]:
    yield Note(words.AREAS, words.OF_WHOLE.format(words.VALUES[value]))
    yield Figure(
        "treemap",
        "",
        partial(draw.treemap, table, value=value),
        words.OF_WHOLE_ALT.format(words.VALUES[value]),
        code,
        table,
    )


def of_layers(table: pd.DataFrame, value: Value, *, stream: str) -> str:
    """Say what a layer of a stream costs; table: of costs, or of times."""
    inside = table[table["layer"].notna() & (table["stream"] == stream)]
    sums = inside.groupby("layer")[value].sum()
    return words.of_layers(value, stream=stream, layers=len(sums), least=float(sums.min()), most=float(sums.max()))


TIMED = Section("timed", "", _timed, (counts.KERNEL,), about="configuration")
LAYERS = Section(
    "layers", words.LAYERS, layers, (counts.STREAM, counts.COUNTED), about="configuration", waits=words.COUNTING,
    parts=(TIMED,),
)  # fmt: skip
WHOLE = Section(
    "whole", words.WHOLE, whole, (counts.COUNTED,), about="configuration", waits=words.COUNTING, parts=(TIMED,)
)
