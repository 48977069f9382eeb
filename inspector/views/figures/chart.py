"""A chart of lines or bars on a page: no toolbar over it, no title twice, and the menu of its files at its title."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from inspector import text
from inspector.plots.theme import MUTED, Mode, literal
from inspector.sections.section import File
from inspector.views.components.snapshot import snapshot
from inspector.views.figures import save
from inspector.views.shell import appearance

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_TOP = 12  # pixels over the plot where nothing stands there
_ROW = 28  # and for a legend or a line of words
_BUTTONS = 360  # pixels for those that save a picture which the browser makes
_CONFIG = {"displayModeBar": False, "responsive": True}


class Draw(Protocol):
    """A figure of `inspector.plots` with all but the mode given, as functools.partial makes it."""

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the figure in this mode."""


def show(
    draw: Draw,
    *,
    alt: str,
    key: str,
    heading: str = "",
    sentence: str = "",
    name: str = "",
    python: str = "",
    table: pd.DataFrame | None = None,
    on_pick: Callable[[], None] | None = None,
    labels: save.Labels = save.ENGLISH,
) -> None:
    """Show a chart as wide as its place, under its title line.

    The figure's title is left to the heading over it, its subtitle stays. alt: is read aloud where the picture cannot
    be seen. heading, sentence: above the chart. name: of the files, the key where it is empty. python: the lines that
    give the same numbers. table: what the CSV holds; the chart's points where it is None. on_pick: called before the
    run that follows a click on a point, which the session then holds under `key`. labels: the words of the menu, in
    another language.
    """
    figure = _untitled(draw(mode=appearance.mode()), appearance.mode())

    def numbers(_: Mode) -> pd.DataFrame:
        from inspector.plots.slide import points

        return points(figure) if table is None else table

    name = name or key
    title = save.title_of(heading=heading, sentence=sentence)
    dialog = st.dialog(labels.slide, width="large")(_slide)
    with st.container(gap="xsmall" if heading or sentence else None):
        save.menu(
            [File(f"{name}.csv", numbers, labels.csv_help)],
            slides=[save.Slide(key, partial(dialog, draw, title=title, alt=alt, key=key, name=name, labels=labels))],
            key=key,
            heading=heading,
            sentence=sentence,
            about=text.plain(alt),
            python=python,
            pictures=partial(snapshot, key, name=name, key=f"{key}-snapshot"),
            labels=labels,
        )
        st.plotly_chart(
            figure,
            width="stretch",
            theme=None,
            key=key,
            alt=alt,
            config=_CONFIG,
            on_select=on_pick or "ignore",
            selection_mode="points",
        )


def plain(figure: go.Figure, *, alt: str, key: str) -> None:
    """Show a figure as wide as its place, without title and files; `alt` is read aloud."""
    figure = _untitled(figure, appearance.mode())
    st.plotly_chart(figure, width="stretch", theme=None, key=key, alt=alt, config=_CONFIG)


def _untitled(figure: go.Figure, mode: Mode) -> go.Figure:
    """Take the title off, for the page's heading says it, and put the subtitle in its place."""
    layout = figure.layout
    title, margin, legend = layout.title, layout.margin, layout.legend
    words = title.subtitle.text or ""
    above = legend.y == 1 and legend.orientation == "h" and layout.showlegend is not False
    top = _TOP + _ROW * (bool(words) + bool(above))
    if layout.height is not None:
        layout.height += top - (56 if margin.t is None else margin.t)
    # Set one by one: `update_layout` takes a third longer, of each chart of a page.
    title.text, title.subtitle.text = words, ""
    title.font.size, title.font.color = 13, MUTED[mode]
    title.pad.t, title.pad.l = 4, 0
    margin.t = top
    return figure


def _slide(draw: Draw, *, title: str, alt: str, key: str, name: str, labels: save.Labels) -> None:
    """Draw the chart in large type with the title of its heading, or its own, and the buttons that save it so."""
    from inspector.plots.slide import enlarged

    with save.bar():
        mode = save.background(key, labels)
        with st.container(width=_BUTTONS):
            snapshot(f"{key}-large", name=f"{name}-slide", key=f"{key}-large-snapshot", screen=labels.full_screen)
    figure = draw(mode=mode)
    if title:
        figure.update_layout(title_text=literal(title))
    st.plotly_chart(enlarged(figure), width="content", theme=None, key=f"{key}-large", alt=alt, config=_CONFIG)
