"""The direction of a token before and after a norm."""

from __future__ import annotations

import numpy as np
import pandas as pd

from inspector.trace import Trace


def direction(trace: Trace) -> pd.DataFrame:
    """Measure how far each norm turns each token: the cosine of what it takes and what it gives, x . y / (|x| |y|).

    A row per norm and token: position, norm (index in call order), stream, layer, part, token, cosine (-1..1, in
    float64; NaN where the norm takes or gives zeros).
    """
    tables = []
    for index, norm in enumerate(trace.norms):
        x, y = (states.astype(np.float64) for states in (norm.input, norm.output))
        with np.errstate(invalid="ignore"):
            cosine = (x * y).sum(axis=-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1))
        columns = {"norm": index, "stream": norm.stream, "layer": norm.layer, "part": norm.part}
        columns |= {"token": trace.read_by(norm.stream).tokens, "cosine": cosine}
        tables.append(pd.DataFrame(columns).rename_axis("position").reset_index())
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["norm", "stream", "cosine"])
