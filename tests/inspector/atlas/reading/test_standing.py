"""The measure by which a text is unusual for a head, in a sample of random numbers whose ranks are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inspector.atlas.reading import standing
from inspector.atlas.reading.standing import FEWEST, SAID, most_unusual

TEXTS = 200


class Sample:
    """The part of an atlas that `most_unusual` reads: texts of 10 tokens, and as many of 40 with larger numbers."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.sample_tokens = np.repeat([10, 40], TEXTS)
        self.values = {name: random.random(2 * TEXTS) + np.repeat([0, 10], TEXTS) for name in SAID}

    def sample_values(self, measure: str, place: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        assert place == 3
        return self.values[measure]

    def above(self, measure: str, below: int, *, tokens: int = 10) -> float:
        """A number between those of the texts of so many tokens, of which as many lie below it."""
        values = np.sort(self.values[measure][self.sample_tokens == tokens])
        return float(values[below - 1 : below + 1].mean())


@pytest.fixture
def sample() -> Any:
    return Sample()


def test_the_measure_that_is_farthest_out_is_told_to_either_side(sample: Any) -> None:
    usual = {name: sample.above(name, 100) for name in SAID}
    assert most_unusual(sample, 3, usual, tokens=10) is None
    assert most_unusual(sample, 3, usual | {"next": sample.above("next", 190)}, tokens=10) is None
    numbers = usual | {"previous": sample.above("previous", 196), "first": sample.above("first", 1)}
    found = most_unusual(sample, 3, numbers, tokens=10)
    assert found is not None
    assert (found.measure.name, found.more, found.texts) == ("first", False, TEXTS)
    assert found.share == pytest.approx(199 / 200)
    found = most_unusual(sample, 3, numbers | {"first": float("nan")}, tokens=10)
    assert found is not None
    assert (found.measure.name, found.more, found.value) == ("previous", True, numbers["previous"])
    assert found.share == pytest.approx(196 / 200)


def test_texts_of_like_length_alone_are_compared(sample: Any) -> None:
    numbers = {name: sample.above(name, 100, tokens=40) for name in SAID}
    found = most_unusual(sample, 3, numbers, tokens=10)
    assert found is not None  # for a text of 10 tokens each is beyond all
    assert (found.measure.name, found.share, found.more) == (SAID[0], 1.0, True)
    assert most_unusual(sample, 3, numbers, tokens=40) is None
    assert most_unusual(sample, 3, numbers, tokens=int(10 * standing.LIKE) + 1) is None


def test_what_few_texts_have_is_not_compared(sample: Any) -> None:
    numbers = {name: sample.above(name, 100) for name in SAID} | {"self": 5.0}
    for name in SAID:
        sample.values[name][FEWEST - 1 : TEXTS] = np.nan
    assert most_unusual(sample, 3, numbers, tokens=10) is None
    sample.values["self"][FEWEST - 1] = 0.5
    found = most_unusual(sample, 3, numbers, tokens=10)
    assert found is not None
    assert (found.measure.name, found.texts) == ("self", FEWEST)
