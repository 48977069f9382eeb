from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import normalization
from inspector.plots import normalization as draw
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, "The cat sat on the mat.")


@pytest.fixture(scope="module")
def statistics(trace: Trace) -> pd.DataFrame:
    return normalization.statistics(trace)


@pytest.fixture(scope="module")
def learned(trace: Trace) -> pd.DataFrame:
    return normalization.parameters(trace)


def test_one_token_before_and_after(trace: Trace, statistics: pd.DataFrame) -> None:
    figure = draw.by_token(statistics, position=2)(mode="light")
    lines = {(line.name, line.yaxis): np.array(line.y, dtype=float) for line in figure.data}
    inputs = np.array([norm.input[2] for norm in trace.norms], dtype=np.float64)
    outputs = np.array([norm.output[2] for norm in trace.norms], dtype=np.float64)
    assert_close(lines["before", "y"], inputs.std(axis=1), relative=1e-6)
    assert_close(lines["after", "y"], outputs.std(axis=1), relative=1e-6)
    assert_close(lines["before", "y2"], inputs.mean(axis=1), relative=1e-6)
    assert_close(lines["after", "y2"], outputs.mean(axis=1), relative=1e-6)
    assert figure.layout.title.text == "cat through the norms"
    squares = draw.by_token(statistics, position=2, size="rms")(mode="light")
    assert_close(squares.data[0].y, np.sqrt((inputs**2).mean(axis=1)), relative=1e-6)
    assert squares.layout.yaxis.title.text == "root mean square"
    assert len({line.line.dash for line in figure.data}) == 2  # not told apart by colour alone


def test_gamma_and_beta_with_their_outliers(trace: Trace, learned: pd.DataFrame) -> None:
    figure = draw.parameters(learned, norm=3)(mode="light")
    norm = trace.norms[3]
    for axis, values in (("y", norm.gamma.astype(np.float64)), ("y2", norm.beta.astype(np.float64))):
        band, quiet, marked = (trace for trace in figure.data if trace.yaxis == axis)
        drawn = dict(zip([*quiet.x, *marked.x], [*quiet.y, *marked.y], strict=True))
        np.testing.assert_array_equal([drawn[dimension] for dimension in range(len(values))], values)
        beyond = np.flatnonzero(np.abs(values - values.mean()) > 3 * values.std())
        assert list(marked.x) == list(beyond)
        assert [int(text) for text in marked.text if text] == list(beyond)
        assert 0 < len(beyond) <= 8
        ends = values.mean() + 3 * values.std(), values.mean() - 3 * values.std()
        assert (max(band.y), min(band.y)) == pytest.approx(ends)


def test_of_many_outliers_the_farthest_are_named() -> None:
    values = np.zeros(400)
    values[:12] = np.arange(1, 13) * 10.0
    rows = pd.DataFrame(
        {"norm": 0, "layer": 0, "part": "ffn", "dimension": np.arange(400), "gamma": values, "beta": 0.0}
    )
    rows["outlier"] = np.abs(values - values.mean()) > 3 * values.std()
    figure = draw.parameters(rows.astype({"layer": "Int64"}), norm=0)(mode="light")
    (gamma,) = (trace for trace in figure.data if (trace.name, trace.yaxis) == ("outlier", "y"))
    assert len(gamma.x) > 8
    assert [int(text) for text in gamma.text if text] == list(range(4, 12))


def test_parameters_in_their_order_and_counted() -> None:
    rows = pd.DataFrame({"norm": 0, "dimension": range(50), "gamma": np.linspace(2, 1, 50), "beta": np.nan})
    (line,) = draw.parameters(rows, norm=0, form="sorted", title="a norm")(mode="light").data
    assert list(line.y) == sorted(rows["gamma"])
    assert line.customdata[0] == [49]
    (counts,) = draw.parameters(rows, norm=0, form="histogram", title="a norm")(mode="light").data
    assert sum(counts.y) == 50
    assert counts.width == pytest.approx(1 / 40)


def test_what_is_not_there_is_said(statistics: pd.DataFrame, learned: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no token 99: the text has tokens 0 to 8"):
        draw.by_token(statistics, position=99)(mode="light")
    with pytest.raises(ValueError, match="no norm 13: the model has norms 0 to 12"):
        draw.parameters(learned, norm=13)(mode="light")


def test_what_a_norm_does_not_have_is_not_drawn(learned: pd.DataFrame) -> None:
    figure = draw.parameters(learned.assign(beta=np.nan), norm=3)(mode="light")
    assert figure.layout.title.text == "Gamma of layer 1 attention"
    assert {points.yaxis for points in figure.data} == {"y"}
    with pytest.raises(ValueError, match="norm 3 has learned nothing"):
        draw.parameters(learned.assign(beta=np.nan, gamma=np.nan), norm=3)(mode="light")
