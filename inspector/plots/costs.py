"""Figures of what attention costs against the FFN: by layer, and by the length of the text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from inspector.costs import Crossovers
from inspector.plots import theme
from inspector.plots.chart import Chart
from inspector.plots.theme import Mode
from inspector.text import number, quantity

Value = Literal["parameters", "flops", "activation_bytes", "cache_bytes", "milliseconds"]

_UNITS: dict[Value, str] = {"parameters": "", "flops": "FLOP", "activation_bytes": "B", "cache_bytes": "B"}
_AXES: dict[Value, str] = {
    "parameters": "parameters",
    "flops": "FLOPs",
    "activation_bytes": "bytes",
    "cache_bytes": "bytes",
    "milliseconds": "milliseconds",
}
_TITLES: dict[Value, str] = {
    "parameters": "Parameters by layer",
    "flops": "FLOPs by layer, 1 multiply-add = 2",
    "activation_bytes": "Activations by layer (bytes)",
    "cache_bytes": "KV cache by layer (bytes)",
    "milliseconds": "Milliseconds by layer, measured",
}
_GROUPS = {"attention": "attention", "ffn": "FFN", "experts": "experts"}  # what else there is goes by its part
_MERGED = {  # (part, component) -> the segment it belongs to
    **{("attention", name): "q, k, v and out" for name in ("q", "k", "v", "out")},
    **{("attention", name): "scores and mix" for name in ("scores", "mix")},
    **{("ffn", name): "FFN matrices" for name in ("up", "gate", "down")},
    **{("experts", name): "experts" for name in ("up", "gate", "down")},
    ("attention", "q, k, v and out"): "q, k, v and out",  # as the clock names what it times
    ("attention", "softmax alone"): "softmax",
    ("attention", "scores, softmax and mix"): "scores, softmax and mix",
    ("ffn", "matrices and activation"): "FFN",
}
_ELEMENTWISE = {"attention": "attention, element-wise", "ffn": "FFN, element-wise"}  # softmax, scale, activation, bias
_SEGMENTS = {  # in the order of the stack -> the colour
    "q, k, v and out": "q",
    "scores and mix": "scores",
    "softmax": "sequential 2",
    "scores, softmax and mix": "scores",
    "attention, element-wise": "sequential 2",
    "FFN matrices": "ffn",
    "FFN": "ffn",
    "FFN, element-wise": "diverging 4",
}
_LIKE = {"experts": "ffn", "mixer": "attention", "adapter": "router", "index": "k"}  # drawn in the colour of
_ATTENTION = ("q", "k", "v", "scores", "mix", "out")
_ROW = 27  # pixels of a row of bars


def by_component(breakdown: pd.DataFrame, *, value: Value = "flops", stream: str | None = None) -> Chart:
    """Bars of a stream's components, each in a row of its own with its amount and share, summed over the layers.

    breakdown: of `costs.breakdown`. The rows follow the order of computation; what is element-wise in attention, and in
    the FFN, is one row each, and what is neither goes by its part. Without a stream it is the first of the breakdown.
    Raises ValueError for a stream that is not there.
    """
    rows = _of_stream(breakdown, stream)
    order = {"attention": 1, "ffn": 2, "router": 2, "experts": 2}
    place = rows["part"].map(lambda part: order.get(part, 0 if "embedding" in part else 3))
    named = rows.assign(name=names(rows), place=place).sort_values("place", kind="stable")
    sums = named.groupby(["name", "part"], sort=False)[value].sum().reset_index()
    sums = sums[sums[value] > 0]
    total = float(sums[value].sum()) or 1.0
    # The axis says the unit of FLOPs, and a phone is narrow.
    texts = [f"{_amount(amount, value, unit=value != 'flops')}, {_share(amount / total)}" for amount in sums[value]]
    return Chart(
        sums.assign(text=texts, stream=rows["stream"].iloc[0]),
        "name",
        value,
        "bars",
        each="part",
        parts={part: _ink(part) for part in sums["part"]},
        text="text",
        y_title=_AXES[value],
        title=_TITLES[value].replace("by layer", "by component"),
        y_range=(0, 1.75 * float(sums[value].max() if len(sums) else 1)),  # room for the words behind a bar
        y_format=_format(value),
        sideways=True,
        height=100 + _ROW * len(sums),
    )


def names(rows: pd.DataFrame) -> list[str]:
    """Name the bar that each row of costs belongs to, such as "attention: scores"."""
    return [
        f"{_GROUPS[part]}: {component}" if part in _GROUPS and kind != "elementwise" else _ELEMENTWISE.get(part, part)
        for part, component, kind in zip(rows["part"], rows["component"], rows["kind"], strict=True)
    ]


def counted(parameters: pd.DataFrame) -> Chart:
    """Stacked bars of the parameters in each layer, and of those outside; parameters: of `costs.parameters`."""
    names = [
        "outside the layers" if layer is pd.NA else f"{stack} {layer}"
        for stack, layer in zip(parameters["stack"], parameters["layer"], strict=True)
    ]
    places = list(dict.fromkeys(names))
    colours = {"matrices": "attention", "norm": "norm", "embedding": "embedding"}
    rows = parameters.assign(place=[places.index(name) for name in names])
    rows = rows.sort_values("part", key=lambda part: part.map(list(colours).index), kind="stable")
    return Chart(
        rows,
        "place",
        "parameters",
        "bars",
        by="part",
        parts=colours,
        places=places,
        y_title="parameters",
        title="Parameters by layer",
        y_format="~s",
        stacked=True,
        sideways=True,
        height=120 + _ROW * len(places),
    )


def by_layer(breakdown: pd.DataFrame, *, value: Value = "parameters", stream: str | None = None) -> Chart:
    """Stacked bars of a stream's layers: attention's products and its element-wise work, the FFN's, then the rest.

    breakdown: of `costs.breakdown`. What lies outside the layers (embedding, pooler, head) is named with its sum in the
    subtitle, for in a small model its bar would dwarf the layers'. Without a stream it is the first
    of the breakdown. Raises ValueError for a stream that is not there.
    """
    rows = _of_stream(breakdown, stream)
    layers, outside = rows[rows["layer"].notna()], rows[rows["layer"].isna()]
    segments = [
        _MERGED.get((part, component)) or _ELEMENTWISE.get(part, part)
        for part, component in zip(layers["part"], layers["component"], strict=True)
    ]
    merged = layers.assign(segment=segments, layer=layers["layer"].astype(int))
    order = list(dict.fromkeys([*_SEGMENTS, *segments]))
    sums = merged.groupby(["segment", "part", "layer"], sort=False)[value].sum().reset_index()
    sums = sums[sums.groupby("segment")[value].transform("any")]
    sums = sums.sort_values("segment", key=lambda segment: segment.map(order.index), kind="stable")
    beside = ", ".join(
        f"{part} {_amount(total, value, unit=False)}"
        for part, total in outside.groupby("part", sort=False)[value].sum().items()
        if total
    )
    return Chart(
        sums,
        "layer",
        value,
        "bars",
        by="segment",
        parts={segment: _ink(part) for segment, part in zip(sums["segment"], sums["part"], strict=True)} | _SEGMENTS,
        x_title="layer",
        y_title=_AXES[value],
        title=_TITLES[value],
        subtitle=f"outside the layers: {beside}" if beside else "",
        y_format=_format(value),
        below=True,
        stacked=True,
        height=420,
    )


def by_length(
    costs: pd.DataFrame,
    *,
    crossovers: Crossovers,
    tokens: int | None = None,
    text: str = "this text",
    scale: Literal["log", "linear"] = "log",
    mode: Mode = "light",
) -> go.Figure:
    """FLOPs of the layers' attention, its two kinds of products, and the FFN, against the tokens of the text.

    costs: of `costs.by_length`, whose lengths are the curves' points (`lengths` gives good ones). Two vertical lines
    mark where scores and mix alone, and the whole attention sublayer, cost as much as the FFN; a third the length
    of the `text` at hand, `tokens`. A line outside the drawn lengths is left out.
    """
    wide = costs.pivot_table(index="tokens", columns="group", values="flops", aggfunc="sum")
    part = theme.PART[mode]
    wide = wide.reindex(columns=[*_ATTENTION, *wide.columns.difference(_ATTENTION)], fill_value=0)
    core = wide["scores"] + wide["mix"]
    projections = wide[["q", "k", "v", "out"]].sum(axis=1)
    ffn = costs[costs["part"] == "ffn"].groupby("tokens")["flops"].sum()
    lines = [
        _line("attention, all", core + projections, part["attention"], "solid", width=3),
        _line("scores and mix", core, part["scores"], "dash"),
        _line("q, k, v and out", projections, part["q"], "dot"),
        _line("FFN", ffn, part["ffn"], "solid", width=3),
    ]
    decades = {"dtick": 1} if scale == "log" else {}
    first, last = wide.index.min(), wide.index.max()
    along: dict[str, Any] = {"range": [0, last]}
    if scale == "log":
        along = {"range": [np.log10(first), np.log10(last)], "tickvals": _powers(first, last)}
    figure = go.Figure(
        lines,
        layout={
            "template": theme.template(mode),
            "title": {
                "text": "FLOPs by text length",
                "subtitle": {"text": "matrix products of all layers, 1 multiply-add = 2"},
            },
            "xaxis": {"title": {"text": "text length (tokens)"}, "type": scale, "tickformat": ",d", **along},
            "yaxis": {"title": {"text": "FLOPs"}, "type": scale, "tickformat": "~s", **decades},
            "legend": theme.LEGEND_BELOW,
            "margin": {"t": 76},
            "height": 500,
        },
    )
    slope = float(ffn.iloc[-1]) / float(ffn.index[-1])  # the FFN costs the same for every token
    marks = [
        (crossovers.core, "scores and mix = FFN", part["scores"], "dash"),
        (crossovers.sublayer, "attention = FFN", part["attention"], "solid"),
        (tokens, text, theme.MUTED[mode], "dot"),
    ]
    for row, (at, label, colour, dash) in enumerate(marks):
        if at is None or not first <= at <= last:
            continue
        _mark(
            figure,
            at,
            f"{label}: {at:,.0f}",
            row=row,
            scale=scale,
            mode=mode,
            line={"color": colour, "dash": dash},
        )
        if colour != theme.MUTED[mode]:
            figure.add_scatter(
                x=[at],
                y=[slope * at],
                name=label,
                mode="markers",
                marker={"size": 9, "color": theme.BACKGROUND[mode], "line": {"width": 2, "color": colour}},
                hovertemplate="%{x:,.0f} tokens<br>%{y:.3s}FLOP each",
                showlegend=False,
            )
    return figure


def lengths(crossovers: Crossovers, *, tokens: int) -> list[int]:
    """Text lengths for `by_length`: from few tokens to twice the last crossover (or the text), evenly in log."""
    longest = 2 * max(crossovers.core, crossovers.sublayer or 0, tokens)
    return sorted({math.ceil(length) for length in np.geomspace(min(16, tokens) / 2, longest, 60)})


def _powers(first: int, last: int) -> list[int]:
    """Powers of two from `first` to `last`, at most eight, evenly apart: more would not stand beside each other."""
    powers = [2**power for power in range(64) if first <= 2**power <= last]
    return powers[:: -(-len(powers) // 8)] if powers else []


def treemap(breakdown: pd.DataFrame, *, value: Value = "parameters", mode: Mode = "light") -> go.Figure:
    """The whole model as nested areas: stream, layer, part, component, each as large as its amount.

    breakdown: of `costs.breakdown` or a count's `table`. A click opens an area.
    """
    rows = breakdown[breakdown[value] > 0]
    whole = 10**6 if value == "milliseconds" else 1  # areas must add up exactly: nanoseconds
    sums: dict[tuple[str, ...], int] = {}
    parts: dict[tuple[str, ...], str] = {}
    for stream, layer, part, component, amount in zip(
        rows["stream"], rows["layer"], rows["part"], rows["component"], rows[value], strict=True
    ):
        place = "outside the layers" if layer is pd.NA else f"layer {layer}"
        path = ("model", str(stream), place, _GROUPS.get(part, part), str(component))
        for depth in range(1, len(path) + 1):
            sums[path[:depth]] = sums.get(path[:depth], 0) + round(whole * amount)
            parts[path[:depth]] = part if depth > 3 else ""
    quiet = theme.GRID[mode]
    tree = go.Treemap(
        ids=["/".join(path) for path in sums],
        labels=[path[-1] for path in sums],
        parents=["/".join(path[:-1]) for path in sums],
        values=list(sums.values()),
        branchvalues="total",
        customdata=[_amount(amount / whole, value) for amount in sums.values()],
        texttemplate="%{label}<br>%{customdata}",
        hovertemplate="%{id}<br>%{customdata}, %{percentRoot:.1%}<extra></extra>",
        marker={
            "colors": [theme.ink(_ink(part), mode) if part else quiet for part in parts.values()],
            "line": {"width": 1, "color": theme.BACKGROUND[mode]},
            "pad": {"t": 20, "l": 2, "r": 2, "b": 2},
        },
        maxdepth=4,
        tiling={"pad": 1},
        pathbar={"visible": True, "thickness": 24},
    )
    layout = {"template": theme.template(mode), "title": {"text": _TITLES[value].replace(" by layer", " of the model")}}
    return go.Figure(
        tree,
        layout={
            **layout,
            "margin": {"l": 4, "r": 4, "b": 4},
            "height": 560,
            "uniformtext": {"minsize": 10, "mode": "hide"},
        },
    )


def sharing(caches: pd.DataFrame, *, names: Sequence[str]) -> Chart:
    """Bars of the KV cache with as many keys and values as heads, with fewer that heads share, and with one.

    caches: of `kv_cache.shared`; names: of its rows.
    """
    texts = [
        quantity(amount, "B") + (", this model" if own else "")
        for amount, own in zip(caches["bytes"], caches["own"], strict=True)
    ]
    return Chart(
        caches.assign(name=names, text=texts),
        "name",
        "bytes",
        "bars",
        each="own",
        parts={True: "k", False: "out"},
        text="text",
        y_title="bytes",
        title="KV cache by how heads share keys and values",
        y_range=(0, 1.5 * float(caches["bytes"].max())),
        y_format="~s",
        sideways=True,
        height=110 + 40 * len(caches),
    )


_ROOFLINE = {"fused": "SDPA", "ffn": "FFN", "projections": "q, k, v and out"}


def roofline(work: pd.DataFrame, *, peak: float, bandwidth: float) -> Chart:
    """Attainable FLOP/s against FLOPs a byte (Williams et al. 2009), and where each part of a layer stands under it.

    work: columns part, flops, bytes. peak: of the device, in FLOP/s; bandwidth: of its memory, in bytes/s.
    """
    intensity = work["flops"] / work["bytes"]
    ridge = peak / bandwidth
    roof = [min(intensity.min(), ridge) / 3, ridge, max(intensity.max(), ridge) * 3]
    alike: dict[float, list[str]] = {}  # parts at the same place are one dot with both names
    for part, x in zip(work["part"], intensity, strict=True):
        alike.setdefault(float(x), []).append(str(part))
    names = {" and ".join(_ROOFLINE.get(part, part) for part in parts): parts[0] for parts in alike.values()}
    table = pd.DataFrame({"x": [*roof, *alike], "part": ["roof"] * 3 + list(names)})
    colours = {"projections": "q", "fused": "out"}
    return Chart(
        table.assign(y=[min(peak, bandwidth * x) for x in table["x"]]),
        "x",
        "y",
        "points",
        by="part",
        names={"roof": ""},
        parts={"roof": "muted"} | {name: colours.get(part, part) for name, part in names.items()},
        marks={"roof": "curves"},
        sizes=dict.fromkeys(names, 12),
        x_title="FLOPs a byte moved",
        y_title="FLOP/s, at most",
        title="Roofline",
        x_log=True,
        y_log=True,
        x_format="~g",
        y_format="~s",
        below=True,
        height=420,
    )


def _ink(part: str) -> str:
    part = _LIKE.get(part, part)
    return part if part in theme.PART["light"] else "muted"


def _format(value: Value) -> str:
    return "~g" if value == "milliseconds" else "~s"


def _of_stream(breakdown: pd.DataFrame, stream: str | None) -> pd.DataFrame:
    stream = breakdown["stream"].iloc[0] if stream is None else stream
    rows = breakdown[breakdown["stream"] == stream]
    if rows.empty:
        raise ValueError(f"there is no stream {stream!a} in the breakdown; it has {sorted(set(breakdown['stream']))}")
    return rows


def _amount(amount: float, value: Value, *, unit: bool = True) -> str:
    """Write an amount with its unit: SI prefixes, but for times."""
    if value == "milliseconds":
        return number(amount) + (" ms" if unit else "")
    return quantity(amount, _UNITS[value] if unit else "")


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.2g} %"


def _line(name: str, flops: pd.Series, colour: str, dash: str, *, width: float = 2) -> go.Scatter:
    return go.Scatter(
        x=flops.index.to_numpy(),
        y=flops.to_numpy(dtype=float),
        name=name,
        mode="lines",
        line={"color": colour, "dash": dash, "width": width},
        hovertemplate="%{x:,.0f} tokens<br>%{y:.3s}FLOP",
    )


def _mark(figure: go.Figure, at: float, label: str, *, row: int, scale: str, mode: Mode, line: dict[str, str]) -> None:
    """A vertical line with its label beside it, on the side with more room and in a row of its own.

    Curves rise: a label at the left stands over them and a label at the right under them, so that none is covered.
    """
    xs = figure.data[0].x
    place, first, last = (np.log10(x) if scale == "log" else x for x in (at, xs[0], xs[-1]))
    leftward = place > first + 0.4 * (last - first)
    figure.add_shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="y domain", line={"width": 1.5, **line})
    figure.add_annotation(
        x=place,  # on a log axis plotly wants the decade here, but the number itself in the shape above
        y=0.18 - 0.08 * row if leftward else 1 - 0.08 * row,
        yref="y domain",
        text=label,
        font={"size": 13},
        bgcolor=theme.BACKGROUND[mode],
        showarrow=False,
        xanchor="right" if leftward else "left",
        yanchor="bottom" if leftward else "top",
        xshift=-4 if leftward else 4,
    )
