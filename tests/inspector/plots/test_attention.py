from __future__ import annotations

import html

import numpy as np
import pytest
from PIL import ImageColor

import inspector
from inspector.plots import attention, raster, theme
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close

HOSTILE = ("<img src=x onerror=alert(1)>", "$x$", "%{x}", "%{x}")


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, "The cat sat on the mat because the cat was tired.")


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(4), 4).astype(np.float32)


def test_the_map_drawn_is_the_head(trace: Trace) -> None:
    figure = attention.heatmap(trace, layer=3, head=7)
    (drawn,) = figure.data
    np.testing.assert_array_equal(drawn.z, trace.attention(layer=3, head=7))
    assert drawn.zmin == 0
    assert drawn.zmax == trace.attention(layer=3, head=7).max()
    assert drawn.colorscale[0][1] == theme.BACKGROUND["light"]
    assert figure.layout.title.text == "Layer 3, head 7"


def test_queries_run_down_and_keys_across(trace: Trace) -> None:
    figure = attention.heatmap(trace, layer=0, head=0, stream="encoder")
    assert figure.layout.xaxis.title.text == "key"
    assert figure.layout.yaxis.title.text == "query"
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.ticktext == tuple(trace.tokens)
    assert figure.layout.title.text == "Encoder, layer 0, head 0"


def test_no_head_is_the_mean_over_heads(trace: Trace) -> None:
    figure = attention.heatmap(trace, layer=2, head=None)
    assert_close(figure.data[0].z, trace.attention(layer=2).mean(axis=0, dtype=np.float64), relative=1e-6)
    assert "mean over heads" in figure.layout.title.text


def test_the_root_scale_changes_colours_and_no_number(trace: Trace) -> None:
    linear = attention.heatmap(trace, layer=3, head=7).data[0]
    root = attention.heatmap(trace, layer=3, head=7, scale="sqrt").data[0]
    np.testing.assert_array_equal(root.z, linear.z)
    for (at, colour), (plain, same) in zip(root.colorscale, linear.colorscale, strict=True):
        assert colour == same
        assert at == pytest.approx(plain**2)


def test_hovering_tells_repeated_tokens_apart_and_shows_all_float32_digits(trace: Trace) -> None:
    (drawn,) = attention.heatmap(trace, layer=0, head=0).data
    assert (drawn.x[1], drawn.x[5]) == ("1 the", "5 the")
    assert len(set(drawn.x)) == len(trace.tokens)
    assert "%{z:.9~g}" in drawn.hovertemplate


def test_no_token_becomes_markup(weights: np.ndarray) -> None:
    figure = attention.figure(weights, queries=HOSTILE, keys=HOSTILE, title="<b>$x$</b>")
    texts = [*figure.data[0].x, *figure.data[0].y, *figure.layout.xaxis.ticktext, figure.layout.title.text]
    assert not any(set(text) & set("<>$") for text in texts)
    assert html.unescape(figure.data[0].x[0]) == f"0 {HOSTILE[0]}"
    assert "onerror" not in figure.data[0].hovertemplate


def test_one_top_makes_two_maps_comparable(weights: np.ndarray) -> None:
    figure = attention.figure(weights, queries=HOSTILE, keys=HOSTILE, title="", top=1.0)
    assert figure.data[0].zmax == 1.0
    empty = attention.figure(np.zeros((1, 1)), queries=["a"], keys=["a"], title="")
    assert (empty.data[0].zmin, empty.data[0].zmax) == (0.0, 1.0)


def test_wrong_shapes_say_what_does_not_fit(weights: np.ndarray, trace: Trace) -> None:
    with pytest.raises(ValueError, match=r"\(4, 4\) do not fit 3 queries and 4 keys"):
        attention.figure(weights, queries=HOSTILE[:3], keys=HOSTILE, title="")
    with pytest.raises(ValueError, match="head 12 is out of range"):
        attention.heatmap(trace, layer=0, head=12)
    with pytest.raises(ValueError, match="layer 6 is out of range"):
        attention.heatmap(trace, layer=6, head=None)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_strip_shows_every_map_at_its_place(mode: str) -> None:
    maps = [np.zeros((300, 300), np.float32) for _ in range(3)]
    maps[1][299, 0] = 1.0  # one bright cell, at the bottom left of the second map
    picture = np.asarray(raster.strip(maps, labels=["layer 0", "layer 1", "layer 2"], mode=mode))
    bright = np.argwhere((picture == ImageColor.getrgb(theme.SEQUENTIAL[mode][-1])).all(axis=-1))
    height, width, _ = picture.shape
    assert len(bright) > 0
    assert bright[:, 0].min() > 0.9 * height - 10
    assert width / 3 < bright[:, 1].min() <= bright[:, 1].max() < width / 3 + 20


def test_a_strip_needs_maps_of_one_shape_and_a_label_each() -> None:
    maps = [np.zeros((2, 2), np.float32), np.zeros((3, 3), np.float32)]
    with pytest.raises(ValueError, match=r"shapes \[\(2, 2\), \(3, 3\)\]"):
        raster.strip(maps, labels=["a", "b"])
    with pytest.raises(ValueError, match=r"2 maps .* 1 labels"):
        raster.strip([maps[0], maps[0]], labels=["a"])
