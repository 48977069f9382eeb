"""Numbers as a reader sees them: in a formula, with their units, and in what a check needs."""

from __future__ import annotations

import math
import re

import pytest

from inspector.questions.filled import brief, by_measured, filled, lines_of, needed, shown
from inspector.questions.index import QUESTIONS
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, around, below, near
from inspector.questions.record.measured import MEASURED
from inspector.questions.record.question import Label

QUANTITIES = {
    "share": Label(Both("Share", "占比"), "%"),
    "cost": Label(Both("Cost", "开销"), "FLOPs"),
    "time": Label(Both("Time", "时间"), Both("steps", "步")),
}


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (2.9e-4, r"2.90\times10^{-4}"),
        (1e-3, "0.00100"),
        (12_300, "12{,}300"),
        (0.1234, "0.123"),
        (64.0, "64"),
        (-3.0, "-3"),
        (math.inf, r"\infty"),
        (math.nan, r"\text{–}"),
        (137_438_953_472, r"1.37\times10^{11}"),
    ],
)
def test_a_name_in_the_formula_becomes_its_number(value: float, latex: str):
    assert filled(r"\frac{<x>}{d_k} < 1", {"x": value}) == rf"\frac{{{latex}}}{{d_k}} < 1"


def test_what_is_no_number_of_the_measure_stays():
    assert filled("a <b> c", {"x": 1.0}) == "a <b> c"


def test_units_are_in_the_readers_language():
    assert shown(0.25, QUANTITIES["share"], "en") == "25 %"
    assert shown(1500, QUANTITIES["cost"], "en") == "1,500 FLOPs"
    assert shown(3, QUANTITIES["time"], "zh") == "3 步"
    assert shown(2.9e-5, None, "en") == "2.90 × 10⁻⁵"


def test_a_check_names_the_other_number_as_the_reader_knows_it():
    numbers = {"share": 0.1, "cost": 50, "time": 4}
    assert needed(below("share", 0.05), QUANTITIES, numbers, "en") == "< 5 %"
    assert needed(above("cost", "time", times=10), QUANTITIES, numbers, "en") == "> 40 FLOPs: 10 × “Time”"
    assert needed(above("cost", "time"), QUANTITIES, numbers, "zh") == "> 4 FLOPs：“时间”"
    half = near("cost", "time", times=0.5, within=0.05)
    assert needed(half, QUANTITIES, numbers, "zh") == "2 FLOPs ± 5%：0.5 × “时间”"
    assert needed(near("time", 1, within=0.05), QUANTITIES, numbers, "zh") == "1 步 ± 5%"
    assert needed(around("share", 0, within=0.1), QUANTITIES, numbers, "en") == "0 % ± 10 %"


def test_numbers_are_grouped_by_what_was_measured():
    random = MEASURED["random"]
    labels = {"drawn": Label(Both("drawn", "抽取"), of=random), **QUANTITIES}
    assert by_measured(labels, {"cost": 1, "drawn": 2, "time": 3}) == {
        None: ["cost", "time"],
        random: ["drawn"],
    }
    assert by_measured(labels, {"drawn": 2}) == {random: ["drawn"]}
    assert by_measured(labels, {}) == {}


def test_a_number_below_zero_has_a_minus():
    assert shown(-0.154, None, "en") == "−0.154"
    assert shown(-8.13e-4, None, "en") == "−8.13 × 10⁻⁴"
    assert needed(above("time", -1.5), {}, {}, "en") == "> −1.5"


@pytest.mark.parametrize(
    ("bound", "written"), [(0.001, "0.001"), (1e-5, "10⁻⁵"), (2.5e-6, "2.5 × 10⁻⁶"), (1000, "1,000")]
)
def test_a_bound_has_no_zeros_at_its_end(bound: float, written: str):
    assert needed(below("time", bound), {}, {}, "en") == f"< {written}"


def test_a_bar_has_three_digits():
    assert [brief(value) for value in (15_595_008, 0.25, 1e-7, -4.0)] == ["1.56 × 10⁷", "0.250", "1.00 × 10⁻⁷", "−4.00"]


def test_a_formula_breaks_at_its_wide_spaces_and_never_inside_braces():
    assert lines_of(r"a = 1, \qquad b = 2: \quad c") == ["a = 1,", "b = 2:", "c"]
    assert lines_of(r"\frac{a \quad b}{c} \quad d") == [r"\frac{a \quad b}{c}", "d"]
    assert lines_of(r"\left( a \quad b \right)") == [r"\left( a \quad b \right)"]
    for question in QUESTIONS:
        kept = "".join(lines_of(question.formula)).replace(r"\quad", "").replace(" ", "")
        assert kept == re.sub(r"\\q?quad| ", "", question.formula)
