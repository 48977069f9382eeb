"""The open head of a stream, a number of all its heads as a map, and side B's head beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import scores
from inspector.components.matrix import Panel
from inspector.sections.picks import Head, Pick
from inspector.sections.section import Map, Note, Row
from inspector.wording import phrases
from inspector.wording import scores as words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspector.plots.theme import Scale
    from inspector.sections.subject import Subject
    from inspector.trace import AttentionRecord, AttentionSite

HEAD = Head()
SHOWN = 512  # tokens of a longer text whose maps are drawn
OPEN = Head(drawn=False)  # read by sections that speak of the open head and offer no other


@dataclass(frozen=True, eq=False)
class OpenHead:
    """A head of the subject's stream; row: of its attention among the stream's."""

    subject: Subject
    row: int
    number: int

    @classmethod
    def of(cls, subject: Subject, chosen: tuple[int, int, int]) -> OpenHead:
        """Find the head (layer, head, call) that is chosen."""
        layer, head, call = chosen
        places = [(site.layer, site.call) for site in subject.trace.sites_of(subject.stream)]
        return cls(subject, places.index((layer, call)), head)

    @property
    def sites(self) -> Sequence[AttentionSite]:
        """The attentions of the stream."""
        return self.subject.trace.sites_of(self.subject.stream)

    @property
    def site(self) -> AttentionSite:
        """The head's attention."""
        return self.sites[self.row]

    @property
    def at(self) -> tuple[int, int, int]:
        """Layer, head and call."""
        return self.site.layer, self.number, self.site.call

    @property
    def record(self) -> AttentionRecord:
        """The queries and keys of the head alone."""
        return self.subject.trace.record_of_head(self.site.layer, self.number, self.site.stream, call=self.site.call)

    @property
    def width(self) -> int:
        """The width of the head, d_k; 0 where queries were not seen."""
        return int(self.record.query.shape[-1])

    @property
    def name(self) -> str:
        """The head in words: "Layer 1, head 7"."""
        return words.head(layer=self.site.layer, head=self.number, call=self.site.call)

    @property
    def code(self) -> str:
        """The Python lines after which `record` is the head's."""
        call = f", call={self.site.call}" if self.site.call else ""
        named = f"{self.site.layer}, {self.number}, {self.site.stream!r}{call}"
        return f"{self.subject.code}record = trace.record_of_head({named})\n"

    def row_of(self, table: pd.DataFrame) -> pd.Series:
        """Return the head's row of a table of the stream's heads."""
        place = (table["layer"] == self.site.layer) & (table["head"] == self.number)
        if "call" in table:
            place &= table["call"] == self.site.call
        row: pd.Series = table[place].iloc[0]
        return row

    def beside(self) -> OpenHead | None:
        """Return the same head of side B, or the last there is; None without a side B that has the stream."""
        other = self.subject.beside
        if other is None or not (sites := other.trace.sites_of(other.stream)):
            return None
        row = min(self.row, len(sites) - 1)
        return OpenHead(other, row, min(self.number, sites[row].heads - 1))

    def sigmoid(self) -> Iterator[Note]:
        """Yield what a section that names a softmax means where the weights are a sigmoid's."""
        if not self.record.function.normalised:
            yield Note(words.SIGMOID)


def name_of(row: pd.Series) -> str:
    """Name the head of a row of a table."""
    return words.head(layer=int(row["layer"]), head=int(row["head"]), call=int(row.get("call", 0)))


def measured(subject: Subject) -> pd.DataFrame:
    """Measure the scores of every head of the stream, once for the text."""
    trace = subject.trace

    def make() -> pd.DataFrame:
        with subject.progress(words.MEASURING) as on_layer:
            return scores.measure(trace, on_layer=on_layer)

    return of_stream(subject.of_text("scores", make), subject)


def of_stream(table: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """Return the rows of the stream, counted anew."""
    return table[table["stream"] == subject.stream].reset_index(drop=True)


def code_of_stream(call: str, subject: Subject) -> str:
    """Write the Python lines that put the stream's rows of what the call gives into `table`."""
    rows = f'table = table[table["stream"] == {subject.stream!r}].reset_index(drop=True)'
    return f"table = {call}\n{rows}"


def heads_map(
    opened: OpenHead,
    table: pd.DataFrame,
    column: str,
    *,
    quantity: str,
    code: str,
    id: str = "",
    heading: str = "",
    top: float | None = None,
    scale: Scale = "linear",
    diverging: bool = False,
    beside: pd.DataFrame | None = None,
    chooses: Mapping[Pick, str] | None = None,
    named: tuple[int, int] | None = None,
) -> Map:
    """Lay out a number of each head by layer and head; a click opens the head.

    The layers stand below each other, or beside each other where there are more of them than heads.

    column: of the table; code: the lines that make the table. top, scale: of the colours, which are signed where
    `diverging`, or any number is below 0. beside: side B's table, whose map stands at the right. chooses: what a click
    chooses besides the head. named: which attention of the stream and which head are framed; the open head where None.
    """
    sides = [(opened, table)]
    if (other := opened.beside()) is not None and beside is not None:
        sides.append((other, beside))
    titles = ("", "") if len(sides) == 1 else (words.SIDE_A, words.SIDE_B)
    panels = tuple(_panel(one, rows, column, title) for (one, rows), title in zip(sides, titles, strict=False))

    index = ["layer", "call"] if "call" in table else "layer"

    def open_at(row: int, head: int) -> Mapping[Pick, object]:
        if row >= len(opened.sites) or head >= opened.sites[row].heads:
            return {}
        site = opened.sites[row]
        return {HEAD: (site.layer, head, site.call), **(chooses or {})}

    if named is not None:
        panels = tuple(replace(panel, named=named) for panel in panels)
    rows = f"{code}\ntable = table.pivot(index={index!r}, columns='head', values={column!r})"
    upright = Map(
        id or f"scores-{column}",
        heading,
        panels,
        words.LAYER,
        words.HEAD,
        words.heads_alt(quantity),
        quantity=quantity,
        numbered="neither",
        top=top,
        diverging=diverging or any(bool((panel.values < 0).any()) for panel in panels),
        scale=scale,
        code=rows,
        chooses=open_at,
    )
    lying = upright.lying()
    return lying if lying is upright else replace(lying, code=f"{rows}.T")


def scores_and_weights(opened: OpenHead, id: str, *, side: str = "", most: int = SHOWN) -> Row:
    """Lay out S, before mask and scale, beside A, of the first `most` tokens; of side B or A where `side` names it."""
    record, subject, site = opened.record, opened.subject, opened.site
    queries, keys, maps = site.queries[:most], site.keys[:most], list[Map]()
    if record.query.shape[-1]:
        maps.append(
            Map(
                f"{id}-s",
                words.SCORES_OF_SIDE.format(side) if side else words.SCORES,
                (Panel(scores.symmetry.product(record, most=most), rows=queries, columns=keys),),
                words.QUERY,
                words.KEY,
                words.SCORES_ALT,
                quantity="q · k",
                diverging=True,
                code=f"{opened.code}table = inspector.scores.symmetry.product(record)",
            )
        )
    weights = subject.trace.window(
        layer=site.layer,
        head=opened.number,
        stream=site.stream,
        call=site.call,
        queries=slice(0, len(queries)),
        keys=slice(0, len(keys)),
    )
    call = f", call={site.call}" if site.call else ""
    named = f"layer={site.layer}, head={opened.number}, stream={site.stream!r}{call}"
    maps.append(
        Map(
            f"{id}-a",
            words.WEIGHTS_OF_SIDE.format(side) if side else words.WEIGHTS,
            (Panel(weights, rows=queries, columns=keys),),
            words.QUERY,
            words.KEY,
            words.WEIGHTS_ALT,
            code=f"{subject.code}table = trace.attention({named})",
        )
    )
    return Row(tuple(maps))


def _panel(opened: OpenHead, table: pd.DataFrame, column: str, title: str) -> Panel:
    """Lay out the numbers by layer and head; NaN where a layer has fewer heads than another."""
    counts = [site.heads for site in opened.sites]
    values = np.full((len(counts), max(counts)), np.nan)
    values[np.arange(max(counts)) < np.array(counts)[:, None]] = table[column]
    rows = [name.capitalize() for name in phrases.layer_names(opened.sites)]
    columns = [words.column(head) for head in range(max(counts))]
    return Panel(values, rows=rows, columns=columns, title=title, named=(opened.row, opened.number))
