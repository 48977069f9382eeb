"""The chart of sparse masks' costs holds the numbers that it is given."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.costs.clock import LayerShape
from inspector.long_texts import Full, Window, growth
from inspector.plots.theme import Mode
from inspector.sections.tokens import sparse

SHAPE = LayerShape(width=24, heads=3, kv_heads=3, head_width=8, ffn_width=96, gated=False)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_cost_by_length(mode: Mode) -> None:
    table = growth(SHAPE, {"full": Full(), "window": Window(4)}, [32, 64, 128])
    figure = sparse.by_length(table, chosen="window", quantity="pairs", here=64, most=128)(mode=mode)
    full, window, here = figure.data
    assert list(full.y) == [4 * 24 * n**2 for n in (32, 64, 128)]
    assert list(window.y) == [4 * 24 * (n * 9 - 20) for n in (32, 64, 128)]
    assert (list(here.x), list(here.y)) == ([64], [4 * 24 * (64 * 9 - 20)])
    assert window.line.width > full.line.width
    assert figure.layout.annotations[0].x == pytest.approx(np.log10(128))
