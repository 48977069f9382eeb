"""A number of every head as a map, and all numbers as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from inspector.sections.picks import Option
from inspector.sections.scores.open_head import HEAD, OpenHead, code_of_stream, heads_map, measured, name_of
from inspector.sections.section import Block, Mark, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import scores as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject


def answer(subject: Subject, *, measure: str, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield how q . k varies, the map of one number, and the table of all."""
    opened, table = OpenHead.of(subject, head), measured(subject)
    terms = ("q · k", "d_k") if np.isfinite(table["ratio"]).all() else ("attention",)
    value, shown = float(opened.row_of(table)[measure]), words.MEASURES[measure]
    if np.isnan(value):
        yield Sentence(varies(table), terms)
    else:
        about = Mark(f"scores-{measure}", {"layer": opened.site.layer, "head": opened.number})
        yield Sentence(f"{varies(table)} {words.of_head(opened.name, measure=measure, value=value)}", terms, (about,))
    other = opened.beside()
    against = None if other is None else measured(other.subject)
    if against is not None:
        yield Paragraph(words.beside(f"{varies(against)} {saturated(against)}"))
    code = subject.code + code_of_stream("inspector.scores.measure(trace)", subject)
    drawn = heads_map(
        opened, table, measure, quantity=shown.name, code=code, top=shown.top, scale=shown.scale, beside=against
    )
    told = (
        Note(shown.meaning),
        Paragraph(saturated(table)),
        Note(f"{ratios(table)} {words.COUNTED}".lstrip()),
    )
    yield from (Row((drawn, told), widths=(5, 4)),) if against is None else (drawn, *told)
    yield Table("scores", table, words.ALL_HEADS, height=420)
    if against is not None:
        yield Table("scores-b", against, f"{words.ALL_HEADS}{words.BESIDE}", height=420)
    yield from opened.sigmoid()


def saturated(table: pd.DataFrame) -> str:
    """Say which head's rows are left to one key most; table: of `scores.measure`."""
    shares = table["saturated"].to_numpy()
    most = int(np.nanargmax(shares)) if np.isfinite(shares).any() else 0
    return words.saturated(
        share=float(shares[most]), heads=int((shares == shares[most]).sum()), head=name_of(table.iloc[most])
    )


def varies(table: pd.DataFrame) -> str:
    """Say what the scale makes of q . k in a stream's heads; table: of `scores.measure`."""
    variance = (table["ratio"] * table["d_k"]).to_numpy()
    if not np.isfinite(variance).all():
        return words.NOT_SEEN
    after = table["scaled"].to_numpy()
    return words.scaled(
        heads=len(table),
        before=float(np.median(variance)),
        after=float(np.median(after)) if np.isfinite(after).all() else None,
        root=bool(np.allclose(table["scale"], table["d_k"] ** -0.5, rtol=1e-6)),
        unscaled=bool((table["scale"] == 1).all()),
    )


def ratios(table: pd.DataFrame) -> str:
    """Say how the variance of q . k differs over a stream's heads, "" where it is not known of all."""
    ratio = table["ratio"].to_numpy()
    if not np.isfinite(ratio).all():
        return ""
    low, high = float(ratio.min()), float(ratio.max())
    return words.ratios(heads=len(table), d_k=int(table["d_k"].iloc[0]), low=low, high=high)


def _measures(subject: Subject) -> dict[str, str]:
    """List the numbers that are known of any head."""
    table = measured(subject)
    return {id: shown.name for id, shown in words.MEASURES.items() if not table[id].isna().all()}


MEASURE = Option("measure", words.NUMBER_OF_HEAD, _measures, look="list", width=220)
SECTION = Section("every", words.EVERY, answer, (MEASURE, HEAD), compares=True, long=True)
