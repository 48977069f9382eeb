"""The section Every head: a number of all layers and heads as a picture, and all numbers as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.readings import scores as read
from inspector.views.figures import matrix
from inspector.views.scores.subject import Subject, open_head
from inspector.views.shell import sentence, site_words, widgets
from inspector.wording.english import scores as words

if TYPE_CHECKING:
    from numpy.typing import NDArray

PYTHON = "table = inspector.scores.measure(trace)"


def show(subject: Subject) -> None:
    """Draw the sentence, the picture of one number, and the table of all."""
    table = subject.measured()
    found = read.every(table)
    sentence.show(words.every(found), words.terms(found))
    seen = [name for name in words.MEASURES if not table[name].isna().all()]
    name = widgets.bar("Number of each head", seen, "measure", words=lambda one: words.MEASURES[one].name)
    measure = words.MEASURES[name]
    values = _grid(subject, table[name].to_numpy())
    signed = bool(np.nanmin(values) < 0)
    matrix.show(
        matrix.Panel(
            values,
            rows=[one.capitalize() for one in site_words.layer_names(subject.sites)],
            columns=[f"head {head}" for head in range(values.shape[1])],
        ),
        row_title="layer",
        column_title="head",
        quantity=measure.name,
        numbered="neither",
        top=measure.top,
        diverging=signed,
        name=f"scores-{name}",
        key=f"scores-{name}",
        python=f"{subject.python}{PYTHON}\ntable[{name!r}]",
        on_pick=lambda pick: open_head(subject, row=pick.row, head=pick.column),
    )
    st.caption(measure.meaning)
    st.caption(words.COUNTED)
    with st.expander("All numbers of every head"):
        widgets.table(table, name="scores", height=420)


def _grid(subject: Subject, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lay out a number of each head by layer and head, NaN where a layer has fewer heads than another."""
    counts = [site.heads for site in subject.sites]
    grid = np.full((len(counts), max(counts)), np.nan)
    grid[np.arange(max(counts)) < np.array(counts)[:, None]] = values
    return grid
