"""The sections on the text's own norms: what each step changes, and outlier dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import normalization
from inspector.components.matrix import Panel
from inspector.plots import norm_change as draw
from inspector.readings import norms as norm_readings
from inspector.readings import other_norms as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import session
from inspector.wording.english import norms as norm_words
from inspector.wording.english import other_norms as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.readings.norms import PlaceInStream
    from inspector.trace import Trace

PYTHON = """import inspector, models

trace = inspector.record(models.load({model!r}), {text!r})
table = inspector.normalization.{table}
"""


def change(trace: Trace, statistics: pd.DataFrame, places: Mapping[int, PlaceInStream]) -> None:
    """Draw the shares of the steps, and all tokens by depth."""
    names = {number: norm_words.brief(where) for number, where in places.items()}
    table = session.cached((trace.key, "norm change"), lambda: normalization.change(trace))
    table = table[table["norm"].isin(names)]
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Centring, scaling, gamma, beta", anchor=False)
        if len(table):
            st.markdown(words.steps(read.steps(table, norms=len(names))))
            chart.show(
                partial(draw.shares, table, names=names),
                alt="share of centring, scaling, gamma and beta in what each norm changes",
                key="norm-shares",
                python=PYTHON.format(model=trace.model, text=trace.text, table="change(trace)"),
                table=table,
            )
        else:
            st.caption("All norms have a gate, which multiplies by more than these steps.")
        st.caption(
            "A token goes from x to x − m, to n = (x − m) / s, to γ n, to γ n + β. A step's share is its length over "
            "the sum of the four lengths, so it says how far, not in which direction."
        )
    with right:
        st.subheader("All tokens by depth", anchor=False)
        chart.show(
            partial(draw.by_depth, statistics, names=list(names.values())),
            alt="mean, deviation and root mean square of all tokens before and after each norm",
            key="norms-by-depth",
            python=PYTHON.format(model=trace.model, text=trace.text, table="statistics(trace)"),
        )


def outliers(
    trace: Trace,
    statistics: pd.DataFrame,
    places: Mapping[int, PlaceInStream],
    *,
    stream: str,
    size: norm_readings.Size,
) -> None:
    """Draw the largest dimensions before each norm, and name the tokens that stand out."""
    st.subheader("Outlier dimensions", anchor=False)
    table = session.cached((trace.key, "outliers", stream), lambda: normalization.outliers(trace, stream=stream))
    found = read.outlier(table)
    st.markdown(words.outlier(found, norm=norm_words.name(places[found.norm])))
    wide = table.pivot_table(index="norm", columns="dimension", values="times")
    matrix.show(
        Panel(
            wide.to_numpy(dtype=np.float32),
            rows=[norm_words.brief(places[int(number)]) for number in wide.index],
            columns=[str(dimension) for dimension in wide.columns],
        ),
        row_title="norm",
        column_title="dimension",
        quantity="times the median",
        numbered="rows",
        scale="sqrt",
        name="layernorm-outliers",
        key="outliers",
        python=PYTHON.format(model=trace.model, text=trace.text, table=f"outliers(trace, stream={stream!r})"),
    )
    st.caption(
        "The largest |x| of a dimension over all tokens before a norm, divided by the median of |x| there; the "
        f"{wide.shape[1]} largest dimensions, by their index. The same index in many rows is the same dimension."
    )
    named = read.far(statistics, size=size)
    quantity = {"std": "standard deviation", "rms": "root mean square"}[size]
    st.markdown(words.far(named, norms=len(places), size=quantity))
