"""The source of one number: a component's formula with the model's own sizes, the count, and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.costs import clocked
from inspector.costs.derivation import Amount, explain
from inspector.plots import costs as draw
from inspector.sections.costs import counts
from inspector.sections.picks import Option
from inspector.sections.section import Block, Check, Note, Number, Numbers, Paragraph, Section
from inspector.wording import costs as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs.derivation import DerivedNumber
    from inspector.sections.subject import Subject

BARS = "by-component"  # the chart whose bars are clicked


def of(subject: Subject, *, amount: Amount, stream: str) -> Section:
    """Let the reader choose a component of a stream, by a click on its bar or here, and derive its number."""
    table = counts.of(subject).table
    own = table[table["stream"] == stream]
    rows = own.assign(name=draw.names(own))
    rows = rows[(rows["kind"] == "matmul") & (rows[amount] > 0)]
    names = {name: name for name in (words.NO_COMPONENT, *dict.fromkeys(rows["name"]))}
    pick = replace(COMPONENT, options=lambda subject: names)
    return replace(PART, answer=partial(_derived, rows=rows, amount=amount), picks=(pick,))


def _derived(subject: Subject, *, component: str, rows: pd.DataFrame, amount: Amount) -> Iterator[Block]:
    if component == words.NO_COMPONENT:
        yield Note(words.CLICK)
        return
    found, sizes, counted = counts.of(subject), subject.configuration, None
    if amount == "flops":
        try:
            counted = counts.counted(subject)
        except ValueError as error:
            yield Note(words.NO_COUNT.format(str(error).rstrip(".")))
    both = {"encoder", "decoder"} <= set(found.table["stream"])
    own = rows[rows["name"] == component]
    number = explain(
        own,
        sizes.config,
        amount=amount,
        model=counted,
        closed=found.closed,
        lengths=sizes.lengths if both else (sizes.tokens,),
        streams=found.table["stream"].nunique(),
    )
    yield Paragraph(words.derivation(number))
    yield Note(words.derived_from(number))
    if amount == "flops":
        yield from _three_ways(subject, number, part=str(own["part"].iloc[0]))


def _three_ways(subject: Subject, found: DerivedNumber, *, part: str) -> Iterator[Block]:
    """Yield formula, count and clock beside each other, and whether the first two agree."""
    said = []
    if found.formula is not None:
        said.append(Number(words.FORMULA, f"{found.formula:,}", words.FORMULA_MEANS))
    if found.count is not None:
        said.append(Number(words.COUNT, f"{found.count:,}", words.COUNT_MEANS))
    measured = counts.measured(subject)
    if measured is None:
        timed = None
    else:
        timed = clocked.of_component(found.component, part, measured, tokens=subject.configuration.tokens)
    if timed is not None:
        name, milliseconds, rate = timed
        said.append(Number(words.CLOCK, words.a_layer(milliseconds), words.clock_means(name, rate)))
    if said:
        yield Numbers(tuple(said))
    if measured is None:
        yield Note(words.NO_CLOCK)
    if found.formula is None or found.count is None:
        return
    difference = abs(found.formula - found.count)
    yield Check(words.DIFFER.format(difference) if difference else words.AGREE, holds=not difference)


COMPONENT = Option(
    "component",
    words.COMPONENT,
    lambda subject: {words.NO_COMPONENT: words.NO_COMPONENT},
    look="list",
    width=280,
    help=words.COMPONENT_HELP,
)
PART = Section("derived", "", _derived, (COMPONENT,), about="configuration")
