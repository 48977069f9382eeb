"""Sentences of the section Theory: each number is the table's, and each verdict what the numbers say."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from inspector.scores import theory
from inspector.sections.scores import theory as section
from inspector.wording.english import score_theory as words
from tests.inspector.wording.said import NUMBER, is_number

WIDTHS = (4, 16, 32, 64, 128, 1024)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return theory.drawn(widths=WIDTHS)


def test_the_sentence_says_the_table(table: pd.DataFrame) -> None:
    rows = table.set_index("width")
    said = f"{section.moves(table, own=(32,))} {section.examples(table, keys=64)}"
    pattern = (
        r"Without the scale a typical row of the softmax moves less with its scores once heads are wider than (\d+), "
        rf"and more below\. Your heads have d_k = 32: there it moves more, {NUMBER} against {NUMBER}\. Among 64 random "
        rf"keys ‖J‖ is {NUMBER} against {NUMBER} with the scale at d_k = 16 and {NUMBER} against {NUMBER} with the "
        r"scale at d_k = 1,024\."
    )
    told = re.fullmatch(pattern, said)
    assert told, said
    assert int(told[1]) == round(theory.crossover(table) or 0)
    at = [(32, ""), (32, "scaled_"), (16, ""), (16, "scaled_"), (1024, ""), (1024, "scaled_")]
    for number, (width, side) in zip(told.groups()[1:], at, strict=True):
        assert is_number(number, rows.loc[width, f"{side}jacobian_median"])


def test_no_crossover_is_said_as_such(table: pd.DataFrame) -> None:
    few = theory.drawn(keys=2, widths=(16, 1024))
    assert "moves less with its scores at every width" in section.moves(few, own=())
    other = table.assign(scaled_jacobian_median=1e-12)
    assert "moves more with its scores at every width" in section.moves(other, own=())


def test_the_claims_say_the_table(table: pd.DataFrame) -> None:
    claims = section.claims(table, entries="normal", itself={16: 0.25, 512: 0.99999})
    row = table.set_index("width").loc[1024]
    ratios = table["scaled_variance"].min(), table["scaled_variance"].max()
    variance, normal, explosion, outputs, constant, alone = claims
    assert all(is_number(one, value) for one, value in zip(re.findall(NUMBER, variance)[:2], ratios, strict=True))
    assert "(in theory 1.50)" in normal
    assert re.search(
        rf"larger on average without the scale \({NUMBER} against {NUMBER} with it\), and smaller", explosion
    )
    assert "A few rows spike, and the typical one moves less." in explosion
    assert is_number(re.findall(NUMBER, outputs)[1], row["variance"] ** 0.5)
    assert "“we suspect”" in constant
    assert "leaves it 0.2500 of the weight at d = 16 and 1.0000 of the weight at d = 512" in alone


def test_the_example_says_what_is_more_and_what_is_less() -> None:
    found = theory.example()
    said = words.example(found)
    assert "gets 0.979 of the weight without the scale, and 0.0414 with it" in said
    assert "p(1 − p) = 0.0203 is more than the 0.0154 of 64 equal weights, but the whole row moves less" in said
    assert "‖J‖ is 0.0208 against 0.124" in said
    few, spread, deviations = words.settled(theory.example(width=100))
    assert "among 10 keys it gets" in few
    assert "on average" in spread
    assert "±10.0 is 1.00 σ: 32 % of normal products" in deviations
    assert "±100, with probability 1.52e-23" in deviations
