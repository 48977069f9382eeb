"""Bars of one number for each layout or case, the first on top, as several sections draw them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from inspector.plots.chart import Chart
from inspector.text import number


def bars(values: Mapping[str, float], *, quantity: str, title: str, named: str = "") -> Chart:
    """Lay out a number for each name; quantity: its name and unit; named: the bar of which the sentence speaks."""
    table = pd.DataFrame({"place": range(len(values)), "value": values.values(), "told": map(number, values.values())})
    table["named"] = [name == named for name in values]
    return Chart(
        table,
        "place",
        "value",
        "bars",
        marked=[{"named": True}] if named else [],
        places=list(values),
        over="told",
        y_title=quantity,
        title=title,
        y_range=(0, 1.12 * max(*values.values(), 1e-12)),
        sideways=True,
        height=120 + 36 * len(values),
    )
