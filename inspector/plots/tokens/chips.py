"""Tokens as boxes over the text that they stand for: pieces of a word touch, words stand apart."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.vocabularies import CutText

Kind = Literal["even", "odd", "unknown", "new"]
WIDE, NARROW = 60, 26  # units of a line, a unit the width of a Latin letter: in a wide window and on a phone
MOST_LINES = 3
_ROW = 25  # pixels
_ROOM = 6  # units beyond the mean that a line may take, for a word that ends there
_HALF = 0.42  # of a row: half a box's height
_BEFORE = 1.2  # units before the text, where the mark of a space stands that a tokenizer puts before it
_WORDS: dict[Kind, str] = {"unknown": "unknown", "new": "made by this merge"}


@dataclass(frozen=True)
class Box:
    """A token, or its part on a line: from one place to another in units, what stands in it, and what hover tells."""

    row: float
    first: float
    last: float
    written: str
    told: str
    kind: Kind


def units(text: str) -> int:
    """Measure a text in widths of a Latin letter: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def ways(
    cut: Mapping[str, CutText], *, framed: Sequence[str] = (), width: int = WIDE, mode: Mode = "light"
) -> go.Figure:
    """Draw one text in several vocabularies, a row each, so that a token stands under the characters that it holds.

    cut: ways to cut the same text, by their names; framed: names of the rows that are framed. An unknown token is a
    question mark in a dashed box. The text is written in MOST_LINES lines at most, each of `width` units; `drawn` says
    how much of it that is.
    """
    text = next(iter(cut.values())).text
    lines = _lines(text, width)
    boxes: list[Box] = []
    ticks: dict[float, str] = {}
    for at, (first, last) in enumerate(lines):
        for number, (name, way) in enumerate(cut.items()):
            row = at * (len(cut) + 0.7) + number
            ticks[row] = name
            boxes += _of_line(way, row, first, last)
    longest = max(units(text[first:last]) for first, last in lines)
    wide = max(longest, width // 2)
    figure = _figure(boxes, ticks, width=wide, title="One text, many vocabularies", mode=mode)
    for row, name in ticks.items():
        if name in framed:
            ends = {"x0": -_BEFORE - 0.1, "x1": wide + 0.2, "y0": row - 0.5, "y1": row + 0.5}
            figure.add_shape(type="rect", **ends, line={"color": theme.TEXT[mode], "width": 1.5})
    return figure


def drawn(text: str, *, width: int) -> int:
    """Count the characters that `ways` draws of a text."""
    return _lines(text, width)[-1][1]


def words(
    spelled: Sequence[tuple[str, Sequence[str], int]], *, newest: str, width: int, mode: Mode = "light"
) -> go.Figure:
    """Draw words as their pieces, one after another, with how often each stands in the corpus.

    spelled: word, pieces and count. newest: the piece that the last merge made, "" for none.
    """
    boxes: list[Box] = []
    row, at = 0, 0.0
    for word, pieces, count in spelled:
        times = f"×{count}" if count > 1 else ""
        needed = sum(max(units(piece), 1.2) for piece in pieces) + units(times) + 1.2
        if at and at + needed > width:
            row, at = row + 1, 0.0
        for number, piece in enumerate(pieces):
            wide = max(units(piece), 1.2)
            if at and at + wide > width:  # a word longer than a line goes on in the next
                row, at = row + 1, 0.0
            kind: Kind = "new" if piece == newest else "odd" if number % 2 else "even"
            boxes.append(Box(row, at, at + wide, piece, f"{piece} in {word}", kind))
            at += wide
        if times:
            boxes.append(Box(row, at + 0.1, at + 0.1 + units(times), times, "", "even"))
        at += units(times) + 1.2
    return _figure(boxes, {}, width=width, title="The corpus's words after this merge", mode=mode)


def _lines(text: str, width: int) -> list[tuple[int, int]]:
    """Break a text into lines of at most `width` units and about one length, behind a blank where there is one."""
    needed = units(text)
    width = min(width, math.ceil(needed / math.ceil(needed / width)) + _ROOM)
    lines: list[tuple[int, int]] = []
    first = 0
    while first < len(text) and len(lines) < MOST_LINES:
        last, room = first, width
        while last < len(text) and (room := room - units(text[last])) >= 0:
            last += 1
        blank = text.rfind(" ", first + 1, last)
        if last < len(text) and blank > first + (last - first) // 2:
            last = blank + 1
        lines.append((first, last))
        first = last
    return lines


def _of_line(way: CutText, row: float, first: int, last: int) -> list[Box]:
    """Make the boxes of a line's characters first to last - 1; tokens of one character share its place."""
    places = [0]
    for letter in way.text[first:last]:
        places.append(places[-1] + units(letter))
    boxes: list[Box] = []
    at = 0
    for span, group in groupby(zip(way.spans, way.tokens, way.known, strict=True), key=lambda token: token[0]):
        sharing = list(group)
        for number, (_, token, known) in enumerate(sharing):
            kind: Kind = "unknown" if not known else "odd" if at % 2 else "even"
            at += 1
            begin, end = span
            own = way.text[begin:end]
            begin += len(own) - len(own.lstrip()) if own.strip() else 0  # the space before a word is a gap
            if end <= first or begin >= last:
                continue
            begin, end = max(begin, first), min(end, last)
            left, right = places[begin - first], places[end - first]
            told = f"{token}, token {at - 1}"
            if token == "▁" and span[0] == 0 and own.strip():  # put before the text
                boxes.append(Box(row, -_BEFORE, -0.2, token, told, kind))
                continue
            shared = [one for one in sharing if one[1] != "▁" or span[0] or not own.strip()]
            place = shared.index(sharing[number]) if len(shared) == 1 else number - (len(sharing) - len(shared))
            wide = (right - left) / len(shared)
            written = "?" if not known else "·" if own.isspace() else way.text[begin:end] if len(shared) == 1 else ""
            boxes.append(Box(row, left + place * wide, left + (place + 1) * wide, written, told, kind))
    return boxes


def _figure(boxes: Sequence[Box], ticks: Mapping[float, str], *, width: float, title: str, mode: Mode) -> go.Figure:
    figure = go.Figure()
    fill = {"even": theme.SEQUENTIAL[mode][1], "odd": theme.SEQUENTIAL[mode][3]}
    rose = theme.PART[mode]["prediction"]
    looks: dict[Kind, dict[str, Any]] = {
        "even": {"fillcolor": fill["even"], "line": {"color": theme.MUTED[mode], "width": 0.6}},
        "odd": {"fillcolor": fill["odd"], "line": {"color": theme.MUTED[mode], "width": 0.6}},
        "unknown": {"fillcolor": "rgba(0,0,0,0)", "line": {"color": rose, "width": 1.4, "dash": "dot"}},
        "new": {"fillcolor": "rgba(0,0,0,0)", "line": {"color": rose, "width": 2.2}},
    }
    for kind, look in looks.items():
        these = [box for box in boxes if box.kind == kind and box.told]
        if not these:
            continue
        figure.add_scatter(
            x=np.array([(box.first, box.last, box.last, box.first, box.first, np.nan) for box in these]).ravel(),
            y=np.add.outer([box.row for box in these], _RECTANGLE).ravel(),
            mode="lines",
            fill="toself",
            hoverinfo="skip",
            showlegend=kind in _WORDS,
            name=_WORDS.get(kind, ""),
            **look,
        )
    colours = [theme.TEXT[mode] if box.told else theme.MUTED[mode] for box in boxes]
    figure.add_scatter(  # arrays, and one colour where it is one: plotly looks at every entry of a list
        x=np.array([(box.first + box.last) / 2 for box in boxes]),
        y=np.array([box.row for box in boxes]),
        mode="text",
        text=[theme.literal(box.written) for box in boxes],
        textfont={
            "family": theme.TOKEN_FONT,
            "size": 12,
            "color": colours if len(set(colours)) > 1 else colours[0],
        },
        customdata=[theme.literal(box.told or box.written) for box in boxes],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    rows = max(box.row for box in boxes)
    axis = {"showgrid": False, "showline": False, "ticks": "", "fixedrange": True}
    return figure.update_layout(
        template=theme.template(mode),
        title_text=title,
        xaxis={**axis, "showticklabels": False, "range": [-_BEFORE - 0.2, width + 0.3]},
        yaxis={
            **axis,
            "range": [rows + 0.6, -0.6],
            "tickvals": list(ticks),
            "ticktext": [theme.literal(name) for name in ticks.values()],
            "tickfont": {"size": 13, "color": theme.TEXT[mode]},
            "showticklabels": bool(ticks),
        },
        legend=theme.LEGEND_ABOVE,
        margin={"t": 56, "b": 8, "l": 8, "r": 8},
        height=72 + round(_ROW * (rows + 1.2)),
    )


_RECTANGLE = (-_HALF, -_HALF, _HALF, _HALF, -_HALF, float("nan"))
