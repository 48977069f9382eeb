"""The curves of random queries and keys: sides, colours, and where the reader's heads stand."""

from __future__ import annotations

from typing import get_args

import pytest

from inspector.plots import theme
from inspector.plots.scores import theory as draw
from inspector.scores import theory

TABLE = theory.drawn(keys=8, widths=(4, 16))


@pytest.mark.parametrize("quantity", get_args(draw.Quantity))
def test_each_quantity_is_drawn_by_width(quantity: draw.Quantity) -> None:
    figure = draw.curves(TABLE, quantity, entries="normal", own=(8, 16))
    assert len(figure.data) == (2 if quantity in ("variance", "excess") else 4)
    assert [list(trace.x) for trace in figure.data] == [[4, 16]] * len(figure.data)
    assert len(figure.layout.shapes) == 2
    assert "your widest heads: 16" in figure.layout.annotations[0].text
    column = {"variance": "variance", "excess": "excess"}.get(quantity, f"{quantity}_median")
    assert list(figure.data[0].y) == list(TABLE[column])


def test_amber_is_without_the_scale_and_zeros_are_left_out() -> None:
    empty = TABLE.assign(jacobian_median=[0.0, 0.2])
    figure = draw.curves(empty, "jacobian", entries="uniform", mode="dark")
    assert figure.data[0].line.color == theme.PART["dark"]["ffn"]
    assert figure.data[0].y[0] != figure.data[0].y[0]  # NaN: a logarithmic axis has no 0
    assert figure.data[0].y[1] == 0.2
