"""The recorded text, its model, and the open head: the one that is open on the page Attention too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import heads, scores
from inspector.export.python import given
from inspector.views.figures import matrix
from inspector.views.shell import link, open_site, progress, session, site_words, widgets

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    import models
    from inspector.plots.theme import Scale
    from inspector.trace import AttentionRecord, AttentionSite, Trace


@dataclass(frozen=True, eq=False)
class Subject:
    """A recorded text, the stream that is looked at, and its open head.

    sites: the attentions of the stream; row: the open head's among them.
    """

    inspected: session.Inspected
    stream: str
    sites: tuple[AttentionSite, ...]
    row: int
    head: int

    @property
    def trace(self) -> Trace:
        """The recorded text."""
        return self.inspected.trace

    @property
    def loaded(self) -> models.LoadedModel | None:
        """The model; None where that of a saved trace is not at hand."""
        return self.inspected.loaded

    @property
    def site(self) -> AttentionSite:
        """The open head's attention."""
        return self.sites[self.row]

    @property
    def record(self) -> AttentionRecord:
        """The queries and keys of the open head alone."""
        return self.trace.record_of_head(self.site.layer, self.head, self.stream, call=self.site.call)

    @property
    def name(self) -> str:
        """The open head in words: "Layer 1, head 7"."""
        return f"{self.site.name.capitalize()}, head {self.head}"

    @property
    def python(self) -> str:
        """The lines that load the model and record the text."""
        return (
            f"import inspector, models\n\nloaded = models.load({self.trace.model!r})\n"
            f"trace = inspector.record(loaded, {given(self.trace)})\n"
        )

    @property
    def of_head(self) -> str:
        """The arguments that name the open head in Python lines."""
        call = f", call={self.site.call}" if self.site.call else ""
        return f"layer={self.site.layer}, head={self.head}, stream={self.stream!r}{call}"

    @property
    def of_record(self) -> str:
        """The arguments of `trace.record_of_head` that name the open head in Python lines."""
        call = f", call={self.site.call}" if self.site.call else ""
        return f"{self.site.layer}, {self.head}, {self.stream!r}{call}"

    @property
    def causal(self) -> bool:
        """True where queries see no later tokens."""
        return self.site.predicts is not None and self.stream != "cross"

    def row_of(self, table: pd.DataFrame) -> pd.Series:
        """The open head's row of a table of the stream's heads."""
        place = (table["layer"] == self.site.layer) & (table["head"] == self.head)
        if "call" in table:
            place &= table["call"] == self.site.call
        row: pd.Series = table[place].iloc[0]
        return row

    def heads_map(
        self,
        table: pd.DataFrame,
        name: str,
        *,
        quantity: str,
        python: str,
        top: float | None = None,
        scale: Scale = "linear",
        beside: tuple[Subject, pd.DataFrame] | None = None,
    ) -> None:
        """Draw a number of each head by layer and head; a click opens the head.

        name: the table's column. top, scale: of the colours, which are signed where any number is below 0. python: the
        line that makes the table. beside: side B and its table, which stand at the right.
        """
        sides = [(self, table)] if beside is None else [(self, table), beside]
        titles = [""] if beside is None else ["Side A", "Side B"]
        panels = [
            one._panel(numbers[name].to_numpy(), title=title)
            for (one, numbers), title in zip(sides, titles, strict=True)
        ]
        matrix.show(
            *panels,
            row_title="layer",
            column_title="head",
            quantity=quantity,
            numbered="neither",
            top=top,
            diverging=any(bool((panel.values < 0).any()) for panel in panels),
            scale=scale,
            name=f"scores-{name}",
            key=f"scores-{name}",
            python=f"{self.python}{python.format(stream=self.stream)}\ntable[{name!r}]",
            on_pick=lambda pick: self.open(row=pick.row, head=pick.column),
        )

    def _panel(self, numbers: NDArray[np.float64], *, title: str) -> matrix.Panel:
        """Lay out a number of each head by layer and head; NaN where a layer has fewer heads than another."""
        counts = [site.heads for site in self.sites]
        values = np.full((len(counts), max(counts)), np.nan)
        values[np.arange(max(counts)) < np.array(counts)[:, None]] = numbers
        names = [one.capitalize() for one in site_words.layer_names(self.sites)]
        heads = [f"head {head}" for head in range(max(counts))]
        return matrix.Panel(values, rows=names, columns=heads, title=title, marked=(self.row,))

    def open(self, *, row: int, head: int) -> None:
        """Open another head in the run that follows."""
        if row < len(self.sites) and head < self.sites[row].heads:
            open_site.choose(self.sites[row])
            link.assign("head", head)

    def measured(self) -> pd.DataFrame:
        """The numbers of every head of the stream, measured once for the text."""
        trace = self.trace

        def make() -> pd.DataFrame:
            with progress.layers("Measuring the scores") as on_progress:
                return scores.measure(trace, on_layer=on_progress)

        table = session.cached((trace.key, "scores"), make)
        return table[table["stream"] == self.stream].reset_index(drop=True)


def chosen() -> Subject:
    """Record the reader's text, and find the open head; where nothing can be read the page says why and stops."""
    inspected = session.inspected()
    trace = inspected.trace
    stream = widgets.stream(trace.streams)
    sites = trace.sites_of(stream)
    layer, head = heads.most_telling(session.measures(trace).query("stream == @stream"))
    row = open_site.row(sites, default=layer)
    number = link.number("head", default=head, last=sites[row].heads - 1)
    return Subject(inspected, stream, sites, row, head if number is None else number)


def choose_head(subject: Subject) -> None:
    """Draw the choice of layer and head; what is chosen is open on the page Attention too."""
    state, sites = st.session_state, subject.sites
    state["scores.row"], state["scores.head"] = subject.row, subject.head
    names = [name.capitalize() for name in site_words.layer_names(sites)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Layer",
            range(len(sites)),
            format_func=names.__getitem__,
            key="scores.row",
            label_visibility="collapsed",
            on_change=lambda: open_site.choose(sites[state["scores.row"]]),
            width=150,
        )
        st.selectbox(
            "Head",
            range(subject.site.heads),
            format_func="Head {}".format,
            key="scores.head",
            label_visibility="collapsed",
            on_change=lambda: link.assign("head", state["scores.head"]),
            width=130,
        )
