"""The lab's two sides while they learn: loss and accuracy by step, and their layers by depth and by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan

import pandas as pd

from inspector.plots.chart import Chart, Panels

_LOG = 20  # times the smallest value that the largest must be for an axis of powers of ten
_PARTS, _STYLES = {"A": "attention", "B": "ffn"}, {"A": 0, "B": 1}  # indigo and amber, as in every comparison
_SHARE = (-0.03, 1.03)
_POINT = 12  # pixels


def curves(
    table: pd.DataFrame, *, steps: int, unit: str = "digit", tested: Mapping[str, float] | None = None
) -> Panels:
    """Loss (nats per digit), share of digits right and share of texts without a mistake, A solid and B dashed.

    table: of `lab.curves`; where it has induction scores they are a fourth panel. With several seeds each is a thin
    line and their mean, over the steps that all of them have, a thick one. steps: how many there will be, so that the
    axis stands still while the curves grow. unit: what texts are made of. tested: by side, the share of texts right in
    the tests after the training, drawn as a point where the curve ends.
    """
    panels = {"loss": f"loss, nats per {unit}", "token_accuracy": f"{unit}s right", "exact_accuracy": "texts right"}
    if "induction" in table and table["induction"].notna().any():
        panels["induction"] = "induction score"
    seeds = table.groupby("side")["seed"].nunique()
    lines = table.assign(line=[f"{side}{seed}" for side, seed in zip(table["side"], table["seed"], strict=True)])
    thin = lines[lines["side"].map(seeds) > 1].assign(opacity=0.45)
    names = {side: f"{side}, mean of {count} seeds" if count > 1 else side for side, count in seeds.items()}
    names |= dict.fromkeys(thin["line"], "")
    charts = []
    for value, title in panels.items():
        means = [_mean(rows, value) for _, rows in table.groupby("side")]
        rows = pd.concat([thin, *means]).sort_values("side", kind="stable") if means else _nothing(value, steps)
        side = dict(zip(rows["line"], rows["side"], strict=True))
        chart = Chart(
            rows,
            "step",
            value,
            "curves",
            by="line",
            names=names,
            parts={line: _PARTS[of] for line, of in side.items()},
            styles={line: _STYLES[of] for line, of in side.items()},
            sizes={**dict.fromkeys(side, 1), "A": 2.5, "B": 2.5},
            opacity="opacity",
            hover={"seed": "seed"},
            x_title="step",
            y_title=title,
            x_range=(0, steps),
        )
        if value == "loss":
            charts.append(replace(chart, from_zero=True))
            continue
        if value == "exact_accuracy" and tested:
            chart = _with_tests(chart, tested)
        charts.append(replace(chart, y_range=_SHARE, y_format="" if value == "induction" else ".0%"))
    return Panels(charts, "A and B while they learn", height=460 if len(panels) == 3 else 580)


def _nothing(value: str, steps: int) -> pd.DataFrame:
    """Make the lines of A and B before the first step, which have no point: axes and legend are there."""
    ends = pd.DataFrame([(side, step) for side in _PARTS for step in (0, steps)], columns=["side", "step"])
    return ends.assign(**{"line": ends["side"], value: nan, "seed": "", "opacity": 1.0})


def _with_tests(chart: Chart, tested: Mapping[str, float]) -> Chart:
    """Add a point for each side's test where its curves end."""
    rows = chart.table
    ends = [rows.loc[rows["side"] == side, "step"].max() for side in tested]
    points = pd.DataFrame({"side": tested.keys(), "step": ends, chart.y: tested.values(), "seed": "tested"})
    lines = [f"{side} tested" for side in tested]
    return replace(
        chart,
        table=pd.concat([rows, points.assign(line=lines, opacity=1.0)]),
        names={**chart.names, **dict.fromkeys(lines, "")},
        parts={**chart.parts, **{line: _PARTS[line[0]] for line in lines}},
        styles={**chart.styles, **{line: _STYLES[line[0]] for line in lines}},
        marks=dict.fromkeys(lines, "points"),
        sizes={**chart.sizes, **dict.fromkeys(lines, _POINT)},
    )


def _mean(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """Average one side's seeds, over the steps that all of them have."""
    wide = rows.pivot_table(index="step", columns="seed", values=value, dropna=False)
    mean = wide.mean(axis=1, skipna=False).dropna().rename(value).reset_index()
    side = rows["side"].iloc[0]
    return mean.assign(side=side, line=side, opacity=1.0, seed="mean" if wide.shape[1] > 1 else wide.columns[0])


def places(table: pd.DataFrame, *, unit: str = "digit", guessed: float) -> Chart:
    """Share of texts in which each place of the answer is right, A solid and B dashed, means over seeds.

    table: of `lab.places`, of one tested length; guessed: the share that naming symbols at random gets right, dotted.
    """
    return Chart(
        table.groupby(["side", "place"])["right"].mean().reset_index(),
        "place",
        "right",
        by="side",
        parts=_PARTS,
        styles=_STYLES,
        sizes=dict.fromkeys(_PARTS, 2.5),
        x_title="place in the answer",
        y_title=f"{unit} right",
        title=f"Each {unit} of the answer by its place",
        y_marks={"named at random": guessed},
        y_range=_SHARE,
        y_format=".0%",
    )


def depth(table: pd.DataFrame) -> Panels:
    """Length of the gradient in each layer and size of the residual stream after it, before training and at the end.

    table: of `lab.layers`, means over seeds; A indigo, B amber; before the first step dotted, at the last measured step
    in the side's own line style.
    """
    panels = {"gradient": "gradient of the layer", "size": "residual stream after it"}
    ends = table.groupby("side")["step"].transform
    means = table[(table["step"] == ends("min")) | (table["step"] == ends("max"))]
    means = means.groupby(["side", "step", "place"])[[*panels]].mean().reset_index()
    names = [
        f"{side}, before training" if step == 0 else f"{side}, step {step}"
        for side, step in zip(means["side"], means["step"], strict=True)
    ]
    means = means.assign(line=names, opacity=means["step"].eq(0).map({True: 0.7, False: 1.0}))
    charts = []
    for value, title in panels.items():
        positive = table[value][table[value] > 0]
        wide = len(positive) > 0 and positive.max() > _LOG * positive.min()
        chart = Chart(
            means,
            "place",
            value,
            by="line",
            parts={name: _PARTS[name[0]] for name in names},
            styles={name: 2 if "before" in name else _STYLES[name[0]] for name in names},
            opacity="opacity",
            x_title="layer",
            y_title=title,
            y_log=wide,
            from_zero=not wide,
        )
        charts.append(chart)
    return Panels(charts, "Gradient and residual stream by depth", height=500)


def drift(table: pd.DataFrame, *, steps: int) -> Panels:
    """Mean and deviation of the FFN's inner units by step, and the share of units that are off for every token.

    table: of `lab.layers`, means over seeds, of the first layer (thin) and the last (thick).
    """
    panels = {"mean": "mean", "deviation": "deviation", "off": "units that are off"}
    ends = table.groupby("side")["place"].transform
    means = table[(table["place"] == ends("min")) | (table["place"] == ends("max"))]
    means = means.groupby(["side", "place", "layer", "step"])[[*panels]].mean().reset_index()
    means = means.assign(line=means["side"] + ", " + means["layer"])
    first = set(means["line"][means["place"] == 0])
    charts = [
        Chart(
            means,
            "step",
            value,
            "curves",
            by="line",
            parts={line: _PARTS[line[0]] for line in means["line"]},
            styles={line: _STYLES[line[0]] for line in means["line"]},
            sizes={line: 1.2 if line in first else 2.5 for line in means["line"]},
            x_title="step",
            y_title=title,
            x_range=(0, steps),
            y_range=_SHARE if value == "off" else None,
            y_format=".0%" if value == "off" else "",
        )
        for value, title in panels.items()
    ]
    return Panels(charts, "Inner units of the FFN, before the activation", height=500)
