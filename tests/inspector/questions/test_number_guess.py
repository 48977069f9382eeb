"""Points for a guessed number: by distance along the slider, logarithmic where it spans decades."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from inspector.questions import number_guess
from inspector.questions.course import STEPS, Step
from tests.closeness import assert_close

SHARE = Step(1, (), "x")
LENGTH = Step(1, (), "x", 100, 1_000_000)
SIGNED = Step(1, (), "x", -1, 1)


@pytest.mark.parametrize("step", [SHARE, SIGNED, Step(1, (), "x", 1, 10), Step(1, (), "x", 0, 1000)])
def test_a_slider_of_less_than_two_decades_is_even(step: Step) -> None:
    assert not number_guess.is_log(step)
    assert_close(number_guess.stops(step), np.linspace(step.low, step.high, 101), relative=1e-12)


@pytest.mark.parametrize("step", [LENGTH, Step(1, (), "x", 1e-60, 1), Step(1, (), "x", 1, 100)])
def test_a_slider_over_decades_is_logarithmic(step: Step) -> None:
    assert number_guess.is_log(step)
    assert_close(np.log(number_guess.stops(step)), np.log(np.geomspace(step.low, step.high, 101)), relative=1e-9)


@pytest.mark.parametrize("step", [SHARE, SIGNED, LENGTH, *(step for step in STEPS.values() if step.number)])
def test_the_stops_rise_and_lie_at_their_places(step: Step) -> None:
    stops = number_guess.stops(step)
    assert all(one < other for one, other in pairwise(stops))
    places = [number_guess.place(stop, step) for stop in stops]
    assert_close(places, np.arange(101) / 100, relative=1e-12)


def test_points_fall_evenly_over_half_of_the_slider() -> None:
    assert [number_guess.points(0.3 + away, measured=0.3, step=SHARE) for away in (0, 0.1, 0.25, 0.5, 0.7)] == [
        *(100, 80, 50, 0, 0),
    ]
    assert number_guess.points(0.4, measured=0.3, step=SHARE) >= number_guess.KNOWN


@pytest.mark.parametrize("factor", [1.5, 2, 10, 15])
def test_a_factor_counts_alike_up_and_down(factor: float) -> None:
    expected = round(100 * (1 - 2 * math.log10(factor) / 4))  # the slider has four decades
    assert number_guess.points(2_000 * factor, measured=2_000, step=LENGTH) == expected
    assert number_guess.points(2_000 / factor, measured=2_000, step=LENGTH) == expected


def test_what_lies_beyond_an_end_counts_as_the_end() -> None:
    assert number_guess.points(1.0, measured=1.7, step=SHARE) == 100
    assert number_guess.points(100, measured=-3.0, step=LENGTH) == 100
    assert number_guess.points(1_000_000, measured=math.inf, step=LENGTH) == 100
    assert number_guess.points(0.5, measured=math.nan, step=SHARE) == 0
