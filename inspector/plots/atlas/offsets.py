"""The mean weight of a head on the key at each offset from the query, as a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas.measures import FARTHEST
from inspector.plots.chart import Chart

OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))
_TICKS = OFFSETS[::4]


def bars(weights: NDArray[np.float64], *, title: str) -> Chart:
    """Draw the mean weight at each offset, [33] from -16 to 16; the token itself is drawn paler.

    Raises ValueError where offsets mean nothing, as between two texts.
    """
    if weights.shape != (len(OFFSETS),):
        raise ValueError(f"{weights.shape} weights are not one for each of {len(OFFSETS)} offsets")
    if np.isnan(weights).all():
        raise ValueError("offsets mean nothing between two texts")
    rest = max(0.0, 1.0 - float(np.nansum(weights)))
    table = pd.DataFrame({"offset": OFFSETS, "weight": weights, "place": [_place(offset) for offset in OFFSETS]})
    return Chart(
        table.assign(itself=table["offset"] == 0),
        "offset",
        "weight",
        "bars",
        each="itself",
        parts={True: "out", False: "attention"},
        hover={"place": ""},
        x_title="tokens from the query to the key",
        y_title="mean weight",
        title=title,
        subtitle=f"{rest:.0%} of the weight lies farther away",
        ticks={tick: f"{tick:+d}" if tick else "0" for tick in _TICKS},
        y_format=".0%",
        from_zero=True,
        height=280,
    )


def _place(offset: int) -> str:
    if not offset:
        return "the token itself"
    tokens = "1 token" if abs(offset) == 1 else f"{abs(offset)} tokens"
    return f"{tokens} {'back' if offset < 0 else 'ahead'}"
