from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import normalization
from inspector.plots import normalization as draw
from inspector.plots import theme
from inspector.trace import Trace
from models import LoadedModel


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, "The cat sat on the mat.")


@pytest.fixture(scope="module")
def statistics(trace: Trace) -> pd.DataFrame:
    return normalization.statistics(trace)


@pytest.fixture(scope="module")
def learned(trace: Trace) -> pd.DataFrame:
    return normalization.parameters(trace)


def test_rows_are_norms_and_columns_tokens(trace: Trace, statistics: pd.DataFrame) -> None:
    figure = draw.heatmap(statistics, value="std_before")
    expected = [norm.input.astype(np.float64).std(axis=1) for norm in trace.norms]
    np.testing.assert_allclose(figure.data[0].z, expected)
    assert figure.layout.xaxis.ticktext == tuple(trace.tokens)
    assert figure.layout.yaxis.ticktext[:3] == ("embedding", "layer 0 attention", "layer 0 FFN")
    assert figure.layout.yaxis.autorange == "reversed"


def test_means_diverge_around_the_background_and_deviations_start_at_it(statistics: pd.DataFrame) -> None:
    means = draw.heatmap(statistics, value="mean_after", mode="dark").data[0]
    assert means.zmin == -means.zmax
    assert means.colorscale[6] == (0.5, theme.BACKGROUND["dark"])
    deviations = draw.heatmap(statistics, value="std_after", mode="dark").data[0]
    assert deviations.zmin == 0
    assert deviations.colorscale[0][1] == theme.BACKGROUND["dark"]
    root = draw.heatmap(statistics, value="mean_after", mode="dark", scale="sqrt").data[0]
    np.testing.assert_array_equal(root.z, means.z)
    assert root.colorscale[6] == (0.5, theme.BACKGROUND["dark"])
    assert root.colorscale[9][0] == pytest.approx(0.5 + 0.5 * 0.5**2)


def test_one_token_before_and_after(trace: Trace, statistics: pd.DataFrame) -> None:
    figure = draw.by_token(statistics, position=2)
    lines = {(line.name, line.yaxis): np.array(line.y, dtype=float) for line in figure.data}
    inputs = np.array([norm.input[2] for norm in trace.norms], dtype=np.float64)
    outputs = np.array([norm.output[2] for norm in trace.norms], dtype=np.float64)
    np.testing.assert_allclose(lines["before", "y"], inputs.std(axis=1))
    np.testing.assert_allclose(lines["after", "y"], outputs.std(axis=1))
    np.testing.assert_allclose(lines["before", "y2"], inputs.mean(axis=1))
    np.testing.assert_allclose(lines["after", "y2"], outputs.mean(axis=1))
    assert figure.layout.title.text == "cat through the norms"
    squares = draw.by_token(statistics, position=2, size="rms")
    np.testing.assert_allclose(squares.data[0].y, np.sqrt((inputs**2).mean(axis=1)))
    assert squares.layout.yaxis.title.text == "root mean square"
    assert len({line.line.dash for line in figure.data}) == 2  # not told apart by colour alone


def test_hostile_tokens_stay_text(statistics: pd.DataFrame) -> None:
    hostile = statistics.assign(token="<img src=x onerror=alert(1)>")
    for figure in (draw.heatmap(hostile), draw.by_token(hostile, position=0)):
        assert "<img" not in figure.to_json().replace("\\u003c", "<")
        assert "img src=x" in figure.to_json()


def test_gamma_and_beta_with_their_outliers(trace: Trace, learned: pd.DataFrame) -> None:
    figure = draw.parameters(learned, norm=3)
    norm = trace.norms[3]
    for axis, values in (("y", norm.gamma.astype(np.float64)), ("y2", norm.beta.astype(np.float64))):
        quiet, marked = (points for points in figure.data if points.yaxis == axis)
        drawn = dict(zip([*quiet.x, *marked.x], [*quiet.y, *marked.y], strict=True))
        np.testing.assert_array_equal([drawn[dimension] for dimension in range(len(values))], values)
        beyond = np.flatnonzero(np.abs(values - values.mean()) > 3 * values.std())
        assert list(marked.x) == list(beyond)
        assert [int(text) for text in marked.text if text] == list(beyond)
        assert 0 < len(beyond) <= 8
        (band,) = (shape for shape in figure.layout.shapes if shape.yref == axis)
        assert (band.y0, band.y1) == pytest.approx((values.mean() - 3 * values.std(), values.mean() + 3 * values.std()))


def test_of_many_outliers_the_farthest_are_named() -> None:
    values = np.zeros(400)
    values[:12] = np.arange(1, 13) * 10.0
    rows = pd.DataFrame(
        {"norm": 0, "layer": 0, "part": "ffn", "dimension": np.arange(400), "gamma": values, "beta": 0.0}
    )
    rows["outlier"] = np.abs(values - values.mean()) > 3 * values.std()
    gamma = [points for points in draw.parameters(rows.astype({"layer": "Int64"}), norm=0).data if points.yaxis == "y"][
        1
    ]
    assert len(gamma.x) > 8
    assert [int(text) for text in gamma.text if text] == list(range(4, 12))


def test_what_is_not_there_is_said(statistics: pd.DataFrame, learned: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no token 99: the text has tokens 0 to 8"):
        draw.by_token(statistics, position=99)
    with pytest.raises(ValueError, match="no norm 13: the model has norms 0 to 12"):
        draw.parameters(learned, norm=13)


def test_what_a_norm_does_not_have_is_not_drawn(learned: pd.DataFrame) -> None:
    figure = draw.parameters(learned.assign(beta=np.nan), norm=3)
    assert figure.layout.title.text == "Gamma of layer 1 attention"
    assert {points.yaxis for points in figure.data} == {"y"}
    with pytest.raises(ValueError, match="norm 3 has learned nothing"):
        draw.parameters(learned.assign(beta=np.nan, gamma=np.nan), norm=3)
