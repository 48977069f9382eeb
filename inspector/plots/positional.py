"""Position tables as figures: some dimensions as curves, the whole table, how alike positions are by their distance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.chart import Chart, Panels
from inspector.text import cut, token_name

Table = NDArray[np.floating[Any]]

FAR = 8  # positions from one number to the next behind the text

_COLOURED = (
    0.995  # share of a table's cells within the colour range; a few outlying dimensions would else pale the rest
)


def curves(tables: Mapping[str, Table], *, dimensions: Sequence[int], tokens: Sequence[str] = ()) -> Panels:
    """Values of some dimensions along the positions, a panel per table [T, D]; panels share the positions' axis.

    tables: by the name that the panel gets, such as {"sinusoidal": ..., "minilm": ...}. Each panel has its own range of
    values: a learned table's are far smaller than the sinusoidal's -1 to 1. Even dimensions, which are sines, are
    solid, odd ones dotted. tokens: those at the first positions, written along the axis. Raises ValueError for a
    dimension that a table does not have.
    """
    for name, table in tables.items():
        wrong = [dimension for dimension in dimensions if not 0 <= dimension < table.shape[1]]
        if wrong:
            raise ValueError(f"{name} has dimensions 0 to {table.shape[1] - 1}, so not {wrong}")
    last = len(theme.POSITIONS["light"]) - 1
    apart = last / max(len(dimensions) - 1, 1)  # violets far apart in lightness: the first stands out most
    charts = [
        Chart(
            pd.DataFrame(table[:, list(dimensions)], columns=list(dimensions))
            .rename_axis("position")
            .reset_index()
            .melt("position", var_name="dimension"),
            "position",
            "value",
            "curves",
            by="dimension",
            parts={dimension: f"positions {round(at * apart)}" for at, dimension in enumerate(dimensions)},
            styles={dimension: 2 for dimension in dimensions if dimension % 2},
            sizes=dict.fromkeys(dimensions, 1.5),
            x_title="position",
            y_title=theme.literal(name),
            ticks=_places(tokens, len(table)),
        )
        for name, table in tables.items()
    ]
    return Panels(charts, "Position encodings by dimension", legend="dimension", height=94 + 200 * len(tables))


def _places(tokens: Sequence[str], count: int) -> dict[float, str]:
    """Name the positions that tokens stand at, and numbers of those behind them; {} without tokens."""
    if not tokens:
        return {}
    shown = tokens[:count]
    step = -(-count // theme.MOST_TICKS)
    names = {place: cut(token_name(shown[place])) for place in range(0, len(shown), step)}
    named: dict[float, str] = {place: theme.literal(name) for place, name in names.items()}
    return {**named, **{place: str(place) for place in range(0, count, FAR) if place >= len(shown)}}


def reach(table: Table) -> float:
    """The end of the colour scale of a position table: 99.5 % of its values are smaller."""
    return float(np.quantile(np.abs(table), _COLOURED)) or 1.0


def similarity_by_distance(tables: Mapping[str, pd.DataFrame], *, quantity: str = "cosine") -> Chart:
    """Mean cosine of two positions against how far apart they are, with a band of one standard deviation.

    quantity: what it is the mean of, where it is no cosine.
    tables: of `positional.similarity_by_distance`, by name. Lines differ by colour and by dash. A wide band says that
    the similarity depends on where the two positions are, a vanishing one that it depends on their distance alone.
    """
    rows = pd.concat(tables, names=["of"]).reset_index("of")
    return Chart(
        rows.assign(low=rows["mean"] - rows["std"], high=rows["mean"] + rows["std"]),
        "distance",
        "mean",
        "curves",
        by="of",
        parts=dict(zip(tables, itertools.cycle(("positions", "residual", "norm", "ffn")))),
        styles={name: at % 4 for at, name in enumerate(tables)},
        sizes=dict.fromkeys(tables, 2.5),
        band=("low", "high"),
        hover={"std": "±"},
        x_title="distance (tokens)",
        y_title="cosine similarity" if quantity == "cosine" else quantity,
        title="Similarity of positions by distance",
        subtitle=f"mean {quantity} of all pairs, band ± 1 standard deviation",
        height=390,
    )
