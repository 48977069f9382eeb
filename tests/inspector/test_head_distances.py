from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon, pdist, squareform

import models
from inspector import record
from inspector.head_distances import measure, plane
from models import LoadedModel

TEXT = "The cat sat on the mat because it was tired."


def test_every_pair_against_scipy(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    found = measure(trace, stream="encoder")
    assert found.values.shape == (72, 72)
    assert (found.queries, found.of) == (13, 13)
    maps = np.concatenate([trace.attention(layer=layer) for layer in range(6)]).astype(np.float64)
    for row in (0, 17, 71):
        expected = [np.mean(jensenshannon(maps[row], other, axis=1) ** 2) for other in maps]  # scipy gives the root
        np.testing.assert_allclose(found.values[row], np.nan_to_num(expected), atol=2e-9)
    np.testing.assert_array_equal(found.values, found.values.T)
    assert found.heads[17] == (1, 5)


def test_more_work_than_allowed_compares_evenly_spaced_queries(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    some = measure(trace, stream="encoder", work=72 * 71 // 2 * 13 * 4)
    assert (some.queries, some.of) == (4, 13)
    maps = np.concatenate([trace.attention(layer=layer) for layer in range(6)])[:, [0, 4, 8, 12]].astype(np.float64)
    expected = np.mean(jensenshannon(maps[3], maps[40], axis=1) ** 2)
    assert some.values[3, 40] == pytest.approx(expected, abs=2e-9)
    assert measure(trace, stream="encoder", work=1).queries == 1


def test_causal_and_cross_maps() -> None:
    trace = record(models.load("own-encoder-decoder"), "A cat.", target="My dog sat.")
    for stream in ("decoder", "cross"):
        found = measure(trace, stream=stream)
        a, b = (trace.attention(layer=layer, head=1, stream=stream).astype(np.float64) for layer in (0, 1))
        assert found.values[1, 5] == pytest.approx(np.mean(jensenshannon(a, b, axis=1) ** 2), abs=2e-9)
        assert 0 <= found.values.min() <= found.values.max() <= np.log(2)


def test_points_of_the_plane_come_back() -> None:
    points = np.random.default_rng(0).normal(size=(9, 2))
    found, share = plane(squareform(pdist(points)))
    np.testing.assert_allclose(pdist(found), pdist(points), rtol=1e-9)
    assert share == pytest.approx(1)
    assert (found[np.abs(found).argmax(axis=0), [0, 1]] > 0).all()


def test_the_plane_keeps_a_share_of_more_dimensions() -> None:
    cube = np.array(np.meshgrid([0, 3], [0, 2], [0, 1])).reshape(3, -1).T.astype(float)
    found, share = plane(cdist(cube, cube))
    assert share == pytest.approx((9 + 4) / (9 + 4 + 1))  # variances along the sides
    np.testing.assert_allclose(sorted(np.abs(found[:, 0]).round(9)), [1.5] * 8)


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_heads_that_are_alike_fall_together(heads: int) -> None:
    points, share = plane(np.zeros((heads, heads)))
    np.testing.assert_array_equal(points, np.zeros((heads, 2)))
    assert share == 1
