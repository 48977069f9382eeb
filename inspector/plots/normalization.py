"""LayerNorm as figures: what it does to each token, norm by norm, and its gamma and beta."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from inspector.normalization import OUTLIER_SIGMAS, Size
from inspector.plots.chart import Chart, Panels

Form = Literal["dimension", "sorted", "histogram"]
AROUND = {"before": "residual", "after": "norm"}
"""Before a norm and after: the colour of each."""
_PARTS = {"attention": "attention", "ffn": "FFN", "cross": "cross-attention"}
_STATISTICS = {"mean": "mean", "std": "standard deviation", "rms": "root mean square"}
_MOST_LABELS = 8  # outliers named in a panel, the farthest first; all are marked
_BINS = 40


def by_token(statistics: pd.DataFrame, *, position: int, size: Size = "std") -> Panels:
    """Draw one token's way through all norms: the size of its vector and its mean, before and after each norm.

    statistics: of `normalization.statistics`. size: "std", the deviation over the dimensions, by which a LayerNorm
    divides, or "rms", the root mean square, by which an RMSNorm divides. Raises ValueError for a position that the text
    does not have.
    """
    rows = statistics[statistics["position"] == position].sort_values("norm")
    if rows.empty:
        raise ValueError(f"there is no token {position}: the text has tokens 0 to {statistics['position'].max()}")
    rows = rows.assign(place=range(len(rows)))
    charts = [
        Chart(
            pd.concat(rows.assign(when=when, value=rows[f"{statistic}_{when}"]) for when in AROUND),
            "place",
            "value",
            by="when",
            parts=AROUND,
            styles={"before": 1},
            places=labels(rows),
            x_title="norm, in call order",
            y_title=_STATISTICS[statistic],
            from_zero=statistic == size,
        )
        for statistic in (size, "mean")
    ]
    return Panels(charts, f"{rows['token'].iloc[0]} through the norms", height=500)


def parameters(table: pd.DataFrame, *, norm: int, form: Form = "dimension", title: str = "") -> Panels:
    """Draw gamma and beta of one norm, those that it has: by dimension, in the order of their size, or as counts.

    table: of `normalization.parameters`. title: what the norm is called, its label where it is empty. Raises ValueError
    for a norm that is not in the table or has learned nothing.
    """
    rows = table[table["norm"] == norm]
    if rows.empty:
        raise ValueError(f"there is no norm {norm}: the model has norms 0 to {table['norm'].max()}")
    there = [parameter for parameter in ("gamma", "beta") if rows[parameter].notna().all()]
    if not there:
        raise ValueError(f"norm {norm} has learned nothing: it has neither gamma nor beta")
    draw = {"dimension": _by_dimension, "sorted": _sorted, "histogram": _histogram}[form]
    charts = [
        replace(draw(rows, name), parts={name: "norm", "dimensions": "norm", "dimension": "norm", "outlier": "text"})
        for name in there
    ]
    title = f"{' and '.join(there).capitalize()} of {title or labels(rows)[0]}"
    if form != "dimension":
        return Panels(charts, title, beside=True, height=320)
    told = "shaded: within 3 standard deviations of the mean"
    return Panels(charts, title, told, height=160 + 160 * len(there))


def _by_dimension(rows: pd.DataFrame, name: str) -> Chart:
    """Draw the values over the band of 3 deviations around their mean.

    Outliers beyond the band (Kovaleva et al. 2021) are marked, the farthest labelled with their dimension.
    """
    values = rows[name].to_numpy(dtype=float)
    mean, reach = values.mean(), OUTLIER_SIGMAS * values.std()
    away = np.abs(values - mean)
    beyond = (away > reach) & rows["outlier"].to_numpy()
    named = beyond & np.isin(np.arange(len(values)), np.argsort(-away)[:_MOST_LABELS])
    points = rows.assign(
        of=np.where(beyond, "outlier", "dimension"),
        label=np.where(named, rows["dimension"].astype(str), ""),
        low=np.where(beyond, np.nan, mean - reach),
        high=np.where(beyond, np.nan, mean + reach),
    )
    return Chart(
        points.sort_values("of", kind="stable"),
        "dimension",
        name,
        "points",
        by="of",
        styles={"outlier": 1},
        sizes={"dimension": 4, "outlier": 9},
        band=("low", "high"),
        text="label",
        x_title="dimension",
        y_title=name,
    )


def _sorted(rows: pd.DataFrame, name: str) -> Chart:
    rows = rows.sort_values(name).assign(rank=range(len(rows)))
    hover = {"dimension": "dimension"}
    return Chart(rows, "rank", name, "curves", hover=hover, x_title="rank, smallest first", y_title=name)


def _histogram(rows: pd.DataFrame, name: str) -> Chart:
    counts, edges = np.histogram(rows[name].to_numpy(dtype=float), bins=_BINS)
    bins = pd.DataFrame({name: (edges[:-1] + edges[1:]) / 2, "dimensions": counts, "width": np.diff(edges)})
    chart = Chart(bins, name, "dimensions", "bars", bar_width="width", x_title=name, y_title="dimensions")
    return replace(chart, x_format=".3g")


def labels(table: pd.DataFrame) -> list[str]:
    """A short name of every norm of the table in call order: "embedding", "layer 0 attention", "layer 0 FFN"."""
    norms = table.drop_duplicates("norm").sort_values("norm")
    return [
        part if layer is pd.NA else f"layer {layer} {_PARTS.get(part, part)}"
        for layer, part in zip(norms["layer"], norms["part"], strict=True)
    ]
