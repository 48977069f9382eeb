from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inspector import training as learning
from inspector.plots import theme
from inspector.plots import training as draw
from models.training.recipes import TRANSLATOR
from models.training.replay_file import MapKey, Replay, ReplaySentence

ROWS = [
    {"step": 10, "loss": 8.0, "valid_loss": None, "valid_accuracy": None, "learning_rate": 0.1, "gradient_norm": 2.0},
    {"step": 20, "loss": 6.0, "valid_loss": 5.0, "valid_accuracy": 0.25, "learning_rate": 0.2, "gradient_norm": 1.0},
    {"step": 30, "loss": 4.0, "valid_loss": 3.0, "valid_accuracy": 0.5, "learning_rate": 0.1, "gradient_norm": 0.5},
]


@pytest.fixture
def table() -> pd.DataFrame:
    return learning.curves(ROWS)


@pytest.fixture
def replay() -> Replay:
    """Two layers of two heads that turn from looking everywhere to looking at themselves."""
    everywhere, own = np.full((3, 3), 1 / 3), np.eye(3)
    maps = np.stack([[everywhere, own], [(everywhere + own) / 2, own], [own, own]]).astype(np.float16)
    sentence = ReplaySentence("a", "", ("[CLS]", "a", "[SEP]"), ())
    norms = {
        "encoder.layers.0.attention.query.weight": np.array([2.0, 3.0, 4.0]),
        "encoder.layers.1.ffn.up.weight": np.array([1.0, 1.0, 3.0]),
        "encoder.embedding.token.weight": np.array([10.0, 10.0, 5.0]),
    }
    return Replay((0, 4, 100), (sentence,), {MapKey(0, "encoder", layer): maps for layer in range(2)}, norms)


def test_every_metric_is_drawn_as_the_file_has_it() -> None:
    """The shipped file, read by csv alone."""
    path = Path(__file__).parents[3] / "models/checkpoints/translator/metrics.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = [{name: float(cell) if cell else None for name, cell in row.items()} for row in rows]
    figure = draw.curves(learning.curves(numbers), uniform=None, least=0.0, clip=None, step=None)
    *lines, dots = figure.data
    drawn = {trace.name: (list(trace.x), list(trace.y)) for trace in lines}
    tested = [row for row in rows if row["valid_loss"]]
    for name, column, those in (
        ("training loss", "loss", rows),
        ("gradient norm", "gradient_norm", rows),
        ("valid loss", "valid_loss", tested),
        ("valid accuracy", "valid_accuracy", tested),
    ):
        assert drawn[name] == ([int(row["step"]) for row in those], [float(row[column]) for row in those])
    ends = [(int(row["step"]), float(row["valid_loss"])) for row in (tested[0], tested[-1])]
    assert list(zip(dots.x, dots.y, strict=True)) == ends  # what the sentence names
    assert list(dots.text) == [f"{loss:.2f}" for _, loss in ends]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_schedule_shows_the_used_one_strong_and_what_was_measured(mode: str, table: pd.DataFrame) -> None:
    rates = learning.schedules(TRANSLATOR, steps=400)
    figure = draw.schedule(rates, decay="cosine", measured=table)(mode=mode)
    lines = {trace.name: trace for trace in figure.data}
    assert list(lines) == ["linear", "noam", "late", "cosine, used", "measured"]
    assert lines["cosine, used"].y[149] == 2e-3  # the peak, at the end of the warm-up
    assert lines["cosine, used"].y[274] == pytest.approx(1e-3)  # half of it, half way down
    assert lines["cosine, used"].line.width > lines["linear"].line.width
    assert len({line.line.dash for line in figure.data[:4]}) == 4
    assert (list(lines["measured"].x), list(lines["measured"].y)) == ([10, 20, 30], [0.1, 0.2, 0.1])
    assert figure.layout.template == theme.template(mode)


def test_reference_lines_and_the_replays_step_are_marked(table: pd.DataFrame) -> None:
    figure = draw.curves(table, uniform=math.log(100), least=0.5, clip=1.0, step=20)
    level = [(shape.y0, shape.yref) for shape in figure.layout.shapes if shape.y0 == shape.y1]
    assert level == [(math.log(100), "y"), (0.5, "y"), (1.0, "y3")]
    assert [note.text for note in figure.layout.annotations] == [
        "uniform guess<br>ln V = 4.61",
        "least with<br>smoothing: 0.500",
        "clipped at 1",
    ]
    upright = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1]
    assert [(shape.x0, shape.yref) for shape in upright] == [(20, f"{axis} domain") for axis in ("y", "y2", "y3")]


def test_a_logarithmic_axis_has_no_step_0(table: pd.DataFrame) -> None:
    settings = {"uniform": None, "least": 0.0, "clip": None}
    assert len(draw.curves(table, **settings, step=0, along="linear").layout.shapes) == 3
    figure = draw.curves(table, **settings, step=0, along="log")
    assert not figure.layout.shapes
    assert figure.layout.xaxis.type == "log"
    left, right = figure.layout.xaxis.range
    assert 10**left < 10
    assert 10**right > 30


def test_a_head_becomes_what_it_is(replay: Replay) -> None:
    measures = learning.measures(replay, sentence=0, stream="encoder")
    figure = draw.head_measures(measures, measure="self", layer=1, head=0, step=4)(mode="light")
    other, own = figure.data
    assert (other.name, own.name) == ("head 1", "head 0")  # the open one on top
    assert not figure.layout.showlegend
    assert own.y == pytest.approx([1 / 3, 2 / 3, 1.0], abs=1e-3)
    assert other.y == pytest.approx([1.0, 1.0, 1.0])
    assert list(own.x) == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext) == ["0", "4", "100"]
    assert [tuple(told) for told in own.customdata] == [("0", "broad"), ("4", "self"), ("100", "self")]
    assert own.line.color == theme.PART["light"]["attention"]
    assert [shape.x0 for shape in figure.layout.shapes] == [1]


def test_a_measure_that_means_nothing_is_said(replay: Replay) -> None:
    measures = learning.measures(replay, sentence=0, stream="encoder")
    measures[["stream", "self"]] = "cross", np.nan
    with pytest.raises(ValueError, match="self means nothing in the stream cross"):
        draw.head_measures(measures, measure="self", layer=0, head=0, step=0)(mode="light")
