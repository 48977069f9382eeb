"""Lines of the sections Sparse masks and Long texts hold the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.costs.clock import LayerShape
from inspector.long_texts import Full, Window, growth
from inspector.plots.theme import Mode
from inspector.plots.tokens import long, sparse

SHAPE = LayerShape(width=24, heads=3, kv_heads=3, head_width=8, ffn_width=96, gated=False)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_cost_by_length(mode: Mode) -> None:
    table = growth(SHAPE, {"full": Full(), "window": Window(4)}, [32, 64, 128])
    names = {"full": "Full", "window": "Sliding window"}
    figure = sparse.growth(table, names=names, chosen="window", quantity="pairs", here=64, most=128, mode=mode)
    full, window, here = figure.data
    assert list(full.y) == [4 * 24 * n**2 for n in (32, 64, 128)]
    assert list(window.y) == [4 * 24 * (n * 9 - 20) for n in (32, 64, 128)]
    assert (list(here.x), list(here.y)) == ([64], [4 * 24 * (64 * 9 - 20)])
    assert figure.layout.annotations[0].x == pytest.approx(np.log10(128))


def test_smoothed_lines_keep_their_gaps() -> None:
    values = np.random.default_rng(0).normal(size=40)
    values[10:20] = np.nan
    found = long.smoothed(values)
    half = long.SMOOTH // 2
    for at in range(40):
        around = values[max(at - half, 0) : at + half + 1]
        expected = np.nan if np.isnan(values[at]) else np.nanmean(around)
        assert found[at] == pytest.approx(expected, nan_ok=True)
    figure = long.cosines(
        {"first": values, "windows": values},
        tokens=["<b>"] * 40,
        names={"first": "F", "windows": "W"},
        chosen="windows",
    )
    assert [line.name for line in figure.data if line.showlegend is None] == ["F", "W"]
    assert figure.data[1].customdata[0] == "&lt;b&gt;"
