"""Outlier dimensions, in which the vectors before the norms are far larger than in the other dimensions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from inspector.trace import Trace

MASSIVE, MASSIVE_TIMES = 100.0, 1000.0  # Sun et al. 2024, section 2


def outliers(trace: Trace, *, stream: str | None = None, most: int = 12) -> pd.DataFrame:
    """Find the dimensions that are largest before any norm, a row per norm and dimension, dimensions by index.

    The size of a dimension before a norm is the largest |x| of it over the tokens; `times` is that size divided by the
    median of |x| over all tokens and dimensions before the same norm. Chosen are the `most` dimensions whose times is
    largest before any norm. largest: whether no dimension, chosen or not, is larger before this norm. massive:
    |x| > 100 and more than 1,000 times the median, the convention of massive activations (Sun et al. 2024, arXiv
    2402.17762).

    Columns: norm (index in call order), layer, part, dimension, value (signed, where |x| is largest), position, token,
    median, times (NaN where the median is 0), largest, massive. stream: whose norms, the first norm's where None. Norms
    of another width than the stream's first are left out, for their dimensions are others.
    """
    stream = stream or (trace.norms[0].stream if trace.norms else "encoder")
    norms = [(index, norm) for index, norm in enumerate(trace.norms) if norm.stream == stream]
    norms = [(index, norm) for index, norm in norms if norm.input.shape[1] == norms[0][1].input.shape[1]]
    columns = ["norm", "layer", "part", "dimension", "value", "position", "token", "median", "times"]
    columns += ["largest", "massive"]
    if not norms:
        return pd.DataFrame(columns=columns)
    sizes = np.stack([np.abs(norm.input).max(axis=0).astype(np.float64) for _, norm in norms])  # [norm, D]
    medians = np.array([np.median(np.abs(norm.input)) for _, norm in norms], dtype=np.float64)
    times = np.divide(sizes, medians[:, None], out=np.full_like(sizes, np.nan), where=medians[:, None] > 0)
    farthest = np.where(np.isnan(times), 0.0, times).max(axis=0)
    chosen = np.sort(np.argsort(-farthest, kind="stable")[:most])
    tokens = trace.read_by(stream).tokens
    rows = []
    for at, (index, norm) in enumerate(norms):
        for dimension in chosen:
            position = int(np.abs(norm.input[:, dimension]).argmax())
            massive = sizes[at, dimension] > MASSIVE and sizes[at, dimension] > MASSIVE_TIMES * medians[at]
            value = float(norm.input[position, dimension])
            place = (index, norm.layer, norm.part, int(dimension), value, position, tokens[position])
            largest = bool(sizes[at, dimension] == sizes[at].max())
            rows.append((*place, medians[at], times[at, dimension], largest, bool(massive)))
    return pd.DataFrame(rows, columns=columns).astype({"layer": "Int64"})
