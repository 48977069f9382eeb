"""The lab's two sides while they learn: loss and accuracy by step, and their layers by depth and by step."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector.plots import theme
from inspector.plots.theme import Mode

_LOG = 20  # times the smallest value that the largest must be for an axis of powers of ten
_STYLES = {"A": ("attention", "solid"), "B": ("ffn", "dash")}  # indigo and amber, as in every comparison


def curves(table: pd.DataFrame, *, steps: int, unit: str = "digit", mode: Mode = "light") -> go.Figure:
    """Loss (nats per digit), share of digits right and share of texts without a mistake, A solid and B dashed.

    table: of `lab.curves`; where it has induction scores they are a fourth panel. With several seeds each is a thin
    line and their mean, over the steps that all of them have, a thick one. steps: how many there will be, so that the
    axis stands still while the curves grow. unit: what texts are made of.
    """
    panels = {"loss": f"loss, nats per {unit}", "token_accuracy": f"{unit}s right", "exact_accuracy": "texts right"}
    if "induction" in table and table["induction"].notna().any():
        panels["induction"] = "induction score"
    figure = make_subplots(rows=len(panels), shared_xaxes=True, vertical_spacing=0.06)
    for side, (part, dash) in _STYLES.items():
        rows = table[table["side"] == side]
        for row, (value, _) in enumerate(panels.items(), start=1):
            wide = rows.pivot_table(index="step", columns="seed", values=value, dropna=False)
            line = {"color": theme.PART[mode][part], "dash": dash}
            several = wide.shape[1] > 1
            for seed in wide.columns if several else ():
                figure.add_scatter(
                    x=wide.index,
                    y=wide[seed],
                    row=row,
                    col=1,
                    mode="lines",
                    opacity=0.45,
                    line={**line, "width": 1},
                    showlegend=False,
                    hovertemplate=f"{side}, seed {seed}, step %{{x}}: %{{y:.3g}}<extra></extra>",
                )
            mean = wide.mean(axis=1, skipna=False).dropna()
            figure.add_scatter(
                x=mean.index,
                y=mean,
                row=row,
                col=1,
                name=f"{side}, mean of {wide.shape[1]} seeds" if several else side,
                legendgroup=side,
                showlegend=row == 1,
                mode="lines",
                line={**line, "width": 2.5},
                hovertemplate=f"{side}{' mean' if several else ''}, step %{{x}}: %{{y:.3g}}<extra></extra>",
            )
    for row, (value, title) in enumerate(panels.items(), start=1):
        figure.update_yaxes(title_text=title, row=row, col=1)
        if value == "loss":
            figure.update_yaxes(rangemode="tozero", row=row, col=1)
        else:
            figure.update_yaxes(range=[-0.03, 1.03], tickformat="" if value == "induction" else ".0%", row=row, col=1)
    figure.update_xaxes(range=[0, steps])
    figure.update_xaxes(title_text="step", row=len(panels), col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title_text="A and B while they learn",
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=520 if len(panels) == 3 else 640,
    )


def places(table: pd.DataFrame, *, unit: str = "digit", guessed: float, mode: Mode = "light") -> go.Figure:
    """Share of texts in which each place of the answer is right, A solid and B dashed, means over seeds.

    table: of `lab.places`, of one tested length; guessed: the share that naming symbols at random gets right, dotted.
    """
    figure = go.Figure()
    for side, (part, dash) in _STYLES.items():
        means = table[table["side"] == side].groupby("place")["right"].mean()
        figure.add_scatter(
            x=means.index,
            y=means,
            name=side,
            mode="lines+markers",
            line={"color": theme.PART[mode][part], "dash": dash, "width": 2.5},
            hovertemplate=f"{side}, place %{{x}} of the answer: %{{y:.1%}}<extra></extra>",
        )
    figure.add_hline(y=guessed, line={"color": theme.MUTED[mode], "dash": "dot", "width": 1.5})
    figure.add_annotation(
        text="named at random",
        font={"color": theme.MUTED[mode]},
        showarrow=False,
        x=1,
        xref="paper",
        xanchor="right",
        y=guessed,
        yanchor="bottom",
    )
    figure.update_yaxes(title_text=f"{unit} right", range=[-0.03, 1.03], tickformat=".0%")
    figure.update_xaxes(title_text="place in the answer", tick0=1, dtick=1 + table["place"].nunique() // 17)
    return figure.update_layout(
        template=theme.template(mode),
        title_text=f"Each {unit} of the answer by its place",
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=320,
    )


def depth(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Length of the gradient in each layer and size of the residual stream after it, before training and at the end.

    table: of `lab.layers`, means over seeds; A indigo, B amber; before the first step dotted, at the last measured step
    in the side's own line style.
    """
    panels = {"gradient": "gradient of the layer", "size": "residual stream after it"}
    figure = make_subplots(rows=len(panels), shared_xaxes=True, vertical_spacing=0.08)
    for side, (part, dash) in _STYLES.items():
        rows = table[table["side"] == side]
        moments = sorted({rows["step"].min(), rows["step"].max()}) if len(rows) else []
        for step in moments:
            means = rows[rows["step"] == step].groupby("place")[[*panels]].mean()
            for row, value in enumerate(panels, start=1):
                figure.add_scatter(
                    x=means.index,
                    y=means[value],
                    row=row,
                    col=1,
                    name=f"{side}, before training" if step == 0 else f"{side}, step {step}",
                    legendgroup=f"{side} {step}",
                    showlegend=row == 1,
                    mode="lines+markers",
                    opacity=0.7 if step == 0 else 1,
                    line={"color": theme.PART[mode][part], "dash": "dot" if step == 0 else dash},
                    hovertemplate=f"{side}, step {step}, layer %{{x}}: %{{y:.3g}}<extra></extra>",
                )
    for row, (value, title) in enumerate(panels.items(), start=1):
        positive = table[value][table[value] > 0]
        wide = len(positive) > 0 and positive.max() > _LOG * positive.min()
        figure.update_yaxes(title_text=title, row=row, col=1)
        if wide:
            figure.update_yaxes(type="log", exponentformat="power", row=row, col=1)
        else:
            figure.update_yaxes(rangemode="tozero", row=row, col=1)
    figure.update_xaxes(tick0=0, dtick=1 + table["place"].nunique() // 10)
    figure.update_xaxes(title_text="layer", row=len(panels), col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Gradient and residual stream by depth",
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=520,
    )


def drift(table: pd.DataFrame, *, steps: int, mode: Mode = "light") -> go.Figure:
    """Mean and deviation of the FFN's inner units by step, and the share of units that are off for every token.

    table: of `lab.layers`, means over seeds, of the first layer (thin) and the last (thick).
    """
    panels = {"mean": "mean", "deviation": "deviation", "off": "units that are off"}
    figure = make_subplots(rows=len(panels), shared_xaxes=True, vertical_spacing=0.08)
    for side, (part, dash) in _STYLES.items():
        rows = table[table["side"] == side]
        for place in sorted({rows["place"].min(), rows["place"].max()}) if len(rows) else ():
            of_layer = rows[rows["place"] == place]
            means = of_layer.groupby("step")[[*panels]].mean()
            name = f"{side}, {of_layer['layer'].iloc[0]}"
            for row, value in enumerate(panels, start=1):
                figure.add_scatter(
                    x=means.index,
                    y=means[value],
                    row=row,
                    col=1,
                    name=name,
                    legendgroup=name,
                    showlegend=row == 1,
                    mode="lines",
                    line={"color": theme.PART[mode][part], "dash": dash, "width": 1.2 if place == 0 else 2.5},
                    hovertemplate=f"{name}, step %{{x}}: %{{y:.3g}}<extra></extra>",
                )
    for row, title in enumerate(panels.values(), start=1):
        figure.update_yaxes(title_text=title, row=row, col=1)
    figure.update_yaxes(range=[-0.03, 1.03], tickformat=".0%", row=len(panels), col=1)
    figure.update_xaxes(range=[0, steps])
    figure.update_xaxes(title_text="step", row=len(panels), col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Inner units of the FFN, before the activation",
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=520,
    )
