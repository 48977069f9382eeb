"""Likeness of heads against plain loops in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import atlas
from inspector.atlas.measures import MEASURES
from inspector.atlas.reading.likeness import AT_RANDOM, like, standardised
from tests.closeness import assert_close


def plain(pool: np.ndarray, a: int, b: int) -> float:
    """The distance of two heads of a pool [N, M], by its definition, one measure after the other."""
    squares: dict[str, list[float]] = {}
    for number, measure in enumerate(MEASURES):
        column = pool[:, number]
        known = column[~np.isnan(column)]
        if np.isnan(column[[a, b]]).any() or np.ptp(known) < 1e-12:
            continue
        squares.setdefault(measure.group, []).append(float(((column[a] - column[b]) / known.std()) ** 2))
    return float(np.sqrt(np.mean([np.mean(group) for group in squares.values()])))


def means(heads: int, *, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2.0, size=(heads, len(MEASURES)))


def test_distances_are_those_of_plain_numpy() -> None:
    first, second = means(5, seed=1), means(4, seed=2)
    first[2, [3, 20, 60]] = np.nan
    second[:, 50] = np.nan
    pool = np.concatenate([first, second])
    found = like([first, second], model=1, place=3)
    assert len(found) == 8
    for row in found.itertuples():
        other = row.place + (5 if row.model else 0)
        assert_close(row.distance, plain(pool, 8, other), relative=1e-12)
    assert found["distance"].is_monotonic_increasing
    assert found.set_index(["model", "place"])["measures"].to_dict()[0, 2] == len(MEASURES) - 4


def test_likeness_is_symmetric_and_a_copy_is_at_0() -> None:
    own = means(6, seed=3)
    own[4] = own[1]
    nearest = like([own], model=0, place=1).iloc[0]
    assert (nearest["place"], nearest["distance"]) == (4, 0)
    there = like([own], model=0, place=0).set_index("place")["distance"][5]
    back = like([own], model=0, place=5).set_index("place")["distance"][0]
    assert there == back


def test_a_measure_that_is_the_same_in_all_heads_does_not_count() -> None:
    own = means(6, seed=4)
    changed = own.copy()
    changed[:, 7] = 0.25
    assert np.isnan(standardised(changed)[:, 7]).all()
    assert (like([changed], model=0, place=0)["measures"] == len(MEASURES) - 1).all()


def test_heads_that_share_few_measures_are_left_out() -> None:
    own = means(4, seed=5)
    own[3, : len(MEASURES) // 2 + 1] = np.nan
    assert set(like([own], model=0, place=0)["place"]) == {1, 2}
    assert set(like([own], model=0, place=3)["place"]) == {0, 1, 2}


def test_two_heads_at_random_are_the_root_of_2_apart() -> None:
    own = means(40, seed=6)
    squares = [like([own], model=0, place=place)["distance"] ** 2 for place in range(40)]
    # Over all ordered pairs with the head itself, whose distance is 0.
    assert_close(np.sqrt(np.sum(squares) / 40**2), AT_RANDOM, relative=1e-12)


def test_heads_and_measures_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no head 4 of model 0 among"):
        like([means(4, seed=1)], model=0, place=4)
    with pytest.raises(ValueError, match=r"\(4, 9\)"):
        like([means(4, seed=1)[:, :9]], model=0, place=0)


def test_an_atlas_is_compared_with_itself(small: atlas.Atlas) -> None:
    found = like([small.statistics.mean.T, small.statistics.mean.T], model=0, place=7)
    assert tuple(found.iloc[0][["model", "place", "distance"]]) == (1, 7, 0)
