"""The figure of teacher forcing: a logarithmic axis loses no zero."""

from __future__ import annotations

import numpy as np
import pandas as pd

from inspector import stepwise
from inspector.plots.time import forcing


def test_a_difference_of_0_stands_at_the_edge_with_its_number() -> None:
    table = pd.DataFrame({"token": ["a", "b"], "cached": [0.0, 3e-6], "uncached": [1e-6, 0.0], "exact": [np.nan] * 2})
    figure = forcing.differences(stepwise.ForcedReading(table, size=1.0, flops=1, cache_bytes=8, dtype="float32"))
    assert [line.name for line in figure.data] == ["with the cache, float32", "without, float32"]
    assert figure.data[0].y[0] > 0
    assert list(figure.data[0].customdata) == [0.0, 3e-6]
    figure = forcing.differences(stepwise.ForcedReading(table, size=1.0, flops=1, cache_bytes=0, dtype="float32"))
    assert [line.name for line in figure.data] == ["without, float32"]
