"""What each head is worth, as a cell for each head, layers down and heads across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from inspector.components.pack import grid_bytes
from inspector.plots import theme

Measure = Literal["moved", "surprise"]


def top(measured: pd.DataFrame, by: Measure) -> float:
    """The value that has the last colour: the largest, without its sign."""
    return float(measured[by].abs().max()) if len(measured) else 0.0


def cells(
    measured: pd.DataFrame,
    *,
    by: Measure,
    layers: int,
    heads: int,
    crossed: Collection[tuple[int, int]],
    names: Sequence[str] | None = None,
) -> bytes:
    """The grid's message: a cell of one colour for each head of a stream; heads that were not measured yet are blank.

    measured: rows of inspector.importance, a stream's, whose "layer" is the row of the grid. by: "moved", from 0 (the
    background) up, on the sequential scale; "surprise", which may be below 0, on the diverging one: indigo where true
    tokens surprise more without it. crossed: heads that are dropped, as (row, head). names: of the rows, where they are
    not "layer 0" and so on.
    """
    signed, most = by == "surprise", top(measured, by) or 1.0
    levels = np.full((layers, heads), 0.5 if signed else 0.0)
    notes = [["not measured yet"] * heads for _ in range(layers)]
    for row in measured.itertuples():
        value = float(getattr(row, by))
        levels[row.layer, row.head] = 0.5 + value / most / 2 if signed else value / most
        more = "" if np.isnan(row.surprise) else f", {bits(row.surprise)}"
        notes[row.layer][row.head] = f"without it 1 − cosine {theme.number(row.moved)}{more}"
    return grid_bytes(
        np.rint(255 * levels).astype(np.uint8)[..., None, None],
        tokens=1,
        colours=theme.DIVERGING if signed else theme.SEQUENTIAL,
        scale="sqrt",  # which takes the bytes as they are
        notes=notes,
        names=names,
        crossed=crossed,
    )


def bits(value: float) -> str:
    """A change of surprise with its sign and unit."""
    return f"{'−' if value < 0 else '+'}{theme.number(abs(value))} bits"
