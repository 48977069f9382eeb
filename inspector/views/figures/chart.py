"""A chart of lines or bars on a page: no toolbar over it, no title twice, and the menu of its files at its title."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import plotly.graph_objects as go
import streamlit as st

from inspector import text
from inspector.plots.chart import Chart, Panels
from inspector.plots.theme import MUTED, Mode, literal
from inspector.sections.section import File
from inspector.views.components.snapshot import snapshot
from inspector.views.figures import save
from inspector.views.shell import appearance

if TYPE_CHECKING:
    import pandas as pd

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
    figure = _on_page(draw, appearance.mode())

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
    figure = _on_page(lambda mode: figure, appearance.mode())
    st.plotly_chart(figure, width="stretch", theme=None, key=key, alt=alt, config=_CONFIG)


def _on_page(draw: Draw, mode: Mode) -> go.Figure:
    """Draw a figure without its title, for the page's heading says it, and with the subtitle in its place.

    Plotly would validate a chart's content for ten milliseconds at each run; a test does for each chart of a section.
    """
    content = draw.content(mode=mode) if isinstance(draw, Chart | Panels) else draw(mode=mode).to_dict()
    layout = content["layout"]
    title, margin, legend = (layout.get(part, {}) for part in ("title", "margin", "legend"))
    words = title.get("subtitle", {}).get("text") or ""
    above = legend.get("y") == 1 and legend.get("orientation") == "h" and layout.get("showlegend") is not False
    top = _TOP + _ROW * (bool(words) + bool(above))
    if "height" in layout:
        layout["height"] += top - margin.get("t", 56)
    font, pad = title.get("font", {}) | {"size": 13, "color": MUTED[mode]}, title.get("pad", {}) | {"t": 4, "l": 0}
    layout["title"] = title | {"text": words, "font": font, "pad": pad, "subtitle": {"text": ""}}
    layout["margin"] = margin | {"t": top}
    return go.Figure(content["data"], layout, _validate=False)


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
