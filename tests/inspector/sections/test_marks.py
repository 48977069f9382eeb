"""Marks of what a section's sentence is about, in the charts below it: made by the section itself, for every host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from inspector.plots.chart import Chart
from inspector.plots.still import still
from inspector.sections.section import Figure, Mark, Row, Section, Sentence
from inspector.sections.subject import Subject

TABLE = pd.DataFrame({"layer": [0, 1, 0, 1], "share": [0.25, 0.5, 0.1, 0.2], "part": ["a", "a", "b", "b"]})
SENTENCE = Sentence("Layer 1 adds 50 %.", about=(Mark("planted", {"layer": 1, "part": "a"}),))


def drawn(chart: Chart, *, id: str = "planted", row: bool = False) -> list[Any]:
    """Draw the figure of a section whose sentence is about the planted one."""
    figure = Figure(id, "Shares", chart, "Share by layer, as a chart")
    block = Row((figure, (figure,))) if row else figure
    *_, shown = Section("planted", "Planted", lambda subject: iter((SENTENCE, block))).blocks(Subject(None))
    last = shown.columns[1][0] if row else shown
    still(last.draw(mode="light"), mode="light")  # as a file, too
    return list(last.draw(mode="dark").data)


@pytest.mark.parametrize("row", [False, True])
def test_the_bar_that_is_told_is_framed_and_no_other(row: bool) -> None:
    first, second = drawn(Chart(TABLE, "layer", "share", "bars", by="part"), row=row)
    assert first.marker.line.width[1] > first.marker.line.width[0] == second.marker.line.width


def test_two_rows_that_are_told_are_both_marked() -> None:
    about = (*SENTENCE.about, Mark("planted", {"layer": 0, "part": "b"}))
    figure = Figure("planted", "Shares", Chart(TABLE, "layer", "share", by="part"), "Share by layer, as a chart")
    blocks = Section("planted", "Planted", lambda subject: iter((replace(SENTENCE, about=about), figure)))
    *_, shown = blocks.blocks(Subject(None))
    outlined = [trace for trace in shown.draw(mode="light").data if trace.marker.line.width]
    assert [(list(trace.x), list(trace.y)) for trace in outlined] == [([1], [0.5]), ([0], [0.1])]


def test_a_chart_that_the_sentence_does_not_speak_of_is_as_it_was() -> None:
    plain = Chart(TABLE, "layer", "share", "bars", by="part")
    for other in (drawn(plain, id="other"), drawn(Chart(TABLE.drop(columns="part"), "layer", "share", "bars"))):
        assert all(trace.marker.line.width == 0 for trace in other)
