"""A number of every head as a map, and all numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from inspector.sections.picks import Option
from inspector.sections.scores.open_head import HEAD, OpenHead, code_of_stream, heads_map, measured, name_of
from inspector.sections.section import Block, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import scores as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject


def answer(subject: Subject, *, measure: str, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield how q . k varies, the map of one number, and the table of all."""
    opened, table = OpenHead.of(subject, head), measured(subject)
    terms = ("q · k", "d_k") if np.isfinite(table["ratio"]).all() else ("attention",)
    yield Sentence(varies(table), terms)
    other = opened.beside()
    against = None if other is None else measured(other.subject)
    if against is not None:
        yield Paragraph(words.beside(varies(against)))
    shown = words.MEASURES[measure]
    code = subject.code + code_of_stream("inspector.scores.measure(trace)", subject)
    drawn = heads_map(
        opened, table, measure, quantity=shown.name, code=code, top=shown.top, scale=shown.scale, beside=against
    )
    told = (
        Paragraph(words.of_head(opened.name, measure=measure, value=float(opened.row_of(table)[measure]))),
        Note(shown.meaning),
        Note(words.COUNTED),
    )
    yield from (Row((drawn, told), widths=(5, 4)),) if against is None else (drawn, *told)
    yield Table("scores", table, words.ALL_HEADS, height=420)
    if against is not None:
        yield Table("scores-b", against, f"{words.ALL_HEADS}{words.BESIDE}", height=420)
    yield from opened.sigmoid()


def varies(table: pd.DataFrame) -> str:
    """Say how q . k varies in all heads of a stream, and which head's rows are left to one key.

    table: of `scores.measure`.
    """
    ratio, scaled, shares = (table[name].to_numpy() for name in ("ratio", "scaled", "saturated"))
    d_k = int(table["d_k"].iloc[0])
    most = int(np.nanargmax(shares)) if np.isfinite(shares).any() else 0
    full = words.saturated(
        share=float(shares[most]), heads=int((shares == shares[most]).sum()), head=name_of(table.iloc[most])
    )
    if not np.isfinite(ratio).all():
        return f"{words.NOT_SEEN} {full}"
    varies = words.ratios(
        heads=len(table),
        d_k=d_k,
        low=float(ratio.min()),
        median=float(np.median(ratio)),
        high=float(ratio.max()),
        scaled=(float(scaled.min()), float(scaled.max())) if np.isfinite(scaled).all() else None,
        root=bool(np.allclose(table["scale"], 1 / math.sqrt(d_k), rtol=1e-6)),
        unscaled=bool((table["scale"] == 1).all()),
    )
    return f"{varies} {full}"


def _measures(subject: Subject) -> dict[str, str]:
    """List the numbers that are known of any head."""
    table = measured(subject)
    return {id: shown.name for id, shown in words.MEASURES.items() if not table[id].isna().all()}


MEASURE = Option("measure", words.NUMBER_OF_HEAD, _measures)
SECTION = Section("every", words.EVERY, answer, (MEASURE, HEAD), compares=True, long=True)
