from __future__ import annotations

from math import log2

import numpy as np
import pytest

from inspector.interventions import Guess, Prediction
from inspector.plots import interventions as masking
from inspector.plots import theme

TOP = (("mat", 0.5), ('"', 0.2), ("<b>$x$", 0.1))


def guess(token: str, probability: float, rank: int) -> Guess:
    return Guess(4, token, probability, rank, TOP, vocabulary=100, surprise=-log2(probability))


def test_the_bars_are_the_probabilities_with_the_true_token_among_them() -> None:
    figure = masking.guesses(guess('"', 0.2, 2))
    (bars,) = figure.data
    assert list(bars.x) == [0.5, 0.2, 0.1]
    assert list(bars.text) == ["0.500", "0.200", "0.100"]
    assert list(bars.marker.opacity) == [0.45, 1, 0.45]
    assert bars.marker.color == theme.PART["light"]["prediction"]
    assert figure.layout.title.text == "Guesses for token 4"
    names = figure.layout.yaxis.ticktext
    assert names[1] == '<b>"</b> <br>true, rank 2 '
    assert names[2] == "&lt;b&gt;&#36;x&#36; "


def test_a_true_token_that_is_not_likely_comes_last_with_its_rank() -> None:
    figure = masking.guesses(guess("sofa", 1e-6, 1234))
    assert list(figure.data[0].x) == [0.5, 0.2, 0.1, 1e-6]
    assert figure.layout.yaxis.ticktext[-1] == "<b>sofa</b> <br>true, rank 1,234 "
    assert figure.data[0].customdata[-1][1] == "1,234"


def test_before_and_after_are_pairs_of_bars_with_both_ranks() -> None:
    candidates = (("mat", 0.5, 0.1), ('"', 0.2, 0.6), ("sofa", 0.01, 0.02))
    found = Prediction(guess("sofa", 0.01, 40), guess("sofa", 0.02, 30), True, 0.5, candidates)
    figure = masking.predictions(found)
    before, after = figure.data
    assert (before.name, list(before.x)) == ("before", [0.5, 0.2, 0.01])
    assert (after.name, list(after.x)) == ("after", [0.1, 0.6, 0.02])
    assert (before.marker.pattern.shape, after.marker.pattern.shape) == ("/", "")  # never by colour alone
    assert list(figure.layout.yaxis.ticktext) == ["mat ", '" ', "<b>sofa</b> <br>true, rank 40 → 30 "]
    assert found.surprise == pytest.approx(-1)
    unknown = Prediction(guess("mat", 0.5, 1), guess("mat", 0.1, 2), False, 0.5, candidates)
    assert masking.predictions(unknown).layout.yaxis.ticktext[0] == "<b>mat</b> <br>rank 1 → 2 "


def test_every_token_has_its_bar_and_masked_ones_stand_out() -> None:
    figure = masking.moved(np.array([0.1, 0.9, 0.2]), tokens=("the", "cat", "the"), masked=(1,))(mode="light")
    assert figure.layout.xaxis.categoryarray == (0, 1, 2)  # the masked token's bar is the last that is drawn
    seen, hidden = figure.data
    assert (list(seen.x), list(seen.y)) == ([0, 2], [0.1, 0.2])
    assert (list(hidden.x), list(hidden.y)) == ([1], [0.9])
    assert [told[0] for told in seen.customdata] == ["0 the", "2 the"]
    assert hidden.marker.pattern.shape == "/"  # never by colour alone
    with pytest.raises(ValueError, match="2 values do not fit 3 tokens"):
        masking.moved(np.zeros(2), tokens="abc", masked=())(mode="light")
