"""The lab's curves: which lines there are, and where they go."""

from __future__ import annotations

import numpy as np
import pandas as pd

from inspector.plots import lab as draw

COLUMNS = ["side", "seed", "step", "loss", "token_accuracy", "exact_accuracy"]
TWO_SEEDS = pd.DataFrame(
    [
        (side, seed, step, loss + seed, 0.5, 0.25)
        for side in ("A", "B")
        for seed in (0, 1)
        for step, loss in ((10, 2.0), (20, 1.0))
    ],
    columns=COLUMNS,
)


def test_seeds_are_thin_and_their_mean_is_thick() -> None:
    figure = draw.curves(TWO_SEEDS, steps=50)(mode="light")
    assert len(figure.data) == 2 * 3 * (2 + 1)
    thick = [trace for trace in figure.data if trace.line.width > 2]
    assert [trace.name for trace in thick if trace.showlegend] == ["A, mean of 2 seeds", "B, mean of 2 seeds"]
    assert list(thick[0].y) == [2.5, 1.5]
    assert {(trace.line.dash, trace.line.color) for trace in figure.data} == {("solid", "#4a3fc5"), ("dash", "#cf7c00")}
    assert tuple(figure.layout.xaxis.range) == (0, 50)


def test_a_mean_ends_where_a_seed_does() -> None:
    thick = [trace for trace in draw.curves(TWO_SEEDS[:3], steps=20)(mode="light").data if trace.line.width > 2]
    assert list(thick[0].x) == [10]


def test_one_seed_is_one_line() -> None:
    figure = draw.curves(TWO_SEEDS[TWO_SEEDS["seed"] == 0], steps=20)(mode="dark")
    assert [(trace.name, trace.showlegend) for trace in figure.data[:1]] == [("A", True)]
    assert len(figure.data) == 2 * 3


def test_a_loss_that_is_no_number_ends_the_line() -> None:
    broken = TWO_SEEDS[:2].assign(loss=[2.0, float("nan")])
    assert list(draw.curves(broken, steps=20)(mode="light").data[0].y) == [2.0]


def test_a_test_is_a_point_where_the_curve_of_texts_ends() -> None:
    figure = draw.curves(TWO_SEEDS, steps=50, tested={"A": 1.0, "B": 0.125})(mode="light")
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [(list(trace.x), list(trace.y), trace.yaxis) for trace in points] == [
        ([20], [1.0], "y3"),
        ([20], [0.125], "y3"),
    ]
    assert [trace.marker.color for trace in points] == ["#4a3fc5", "#cf7c00"]
    assert not any(trace.showlegend for trace in points)


def test_nothing_trained_is_an_empty_figure() -> None:
    figure = draw.curves(TWO_SEEDS[:0], steps=20)(mode="light")
    assert np.isnan([trace.y for trace in figure.data]).all()
    assert [trace.yaxis for trace in figure.data] == ["y", "y", "y2", "y2", "y3", "y3"]
    assert [trace.name for trace in figure.data if trace.showlegend] == ["A", "B"]
