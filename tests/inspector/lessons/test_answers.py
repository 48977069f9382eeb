"""Answers, there and back, what a stranger may have put in their place, and how they are judged."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from inspector.lessons import answers as files
from inspector.lessons.answers import Answers
from inspector.lessons.judging import Judged, judge
from inspector.lessons.lesson import FOUND, Code, Guess, Number
from inspector.questions.record.checks import around, near

DIGEST = "0123456789abcdef"
ANSWERS = Answers(DIGEST, "An evening", "李雷", {2: "true", 4: 0.41, 7: "def softmax(scores):\n\treturn scores\n"})


def told(**fields: object) -> str:
    given = {"version": 1, "lesson": DIGEST, "title": "T", "student": "Li", "answers": {}}
    return json.dumps(given | fields)


def test_there_and_back() -> None:
    text = files.written(ANSWERS, {4: Judged(True, "0.41 ± 0.01")})
    assert files.read(text) == files.Read(ANSWERS, 0)
    assert json.loads(text)["answers"]["4"] == {"answer": 0.41, "right": True, "by": "0.41 ± 0.01"}
    assert json.loads(text)["answers"]["2"] == {"answer": "true"}
    assert "李雷" in text


def test_what_a_file_says_of_being_right_is_not_taken() -> None:
    entry = {"answer": "true", "right": True, "by": "me", "html": "<img src=x onerror=alert(1)>"}
    found = files.read(told(answers={"2": entry}, more={"q": 1}))
    assert found == files.Read(Answers(DIGEST, "T", "Li", {2: "true"}), 0)


@pytest.mark.parametrize(
    "entry",
    [
        *({"answer": answer} for answer in (None, True, [1], {}, "x" * (files.MOST_CODE + 1), 10**400)),
        *({}, [], "true", None, 5),
    ],
)
def test_an_entry_that_is_no_answer_is_left_out_and_counted(entry: object) -> None:
    found = files.read(told(answers={"2": entry, "3": {"answer": "true"}}))
    assert (found.answers.given, found.left_out) == ({3: "true"}, 1)


@pytest.mark.parametrize("infinite", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_left_out(infinite: str) -> None:
    found = files.read(told(answers={"2": {"answer": 0.5}}).replace("0.5", infinite))
    assert (found.answers.given, found.left_out) == ({}, 1)


@pytest.mark.parametrize("at", ["0", "61", "-1", "02", "x", "", "２", "9" * 5000, "1e1"])
def test_a_step_that_no_lesson_has_is_left_out(at: str) -> None:
    assert files.read(told(answers={at: {"answer": "true"}})).left_out == 1


def test_names_are_cut_and_what_is_not_seen_is_left_out() -> None:
    found = files.read(told(student="a\u202eb\0\n c" + "d" * 500, title="t\nt" * 100)).answers
    assert found.student.startswith("ab c")
    assert len(found.student) <= files.MOST_STUDENT
    assert "\n" not in found.title
    assert files.read(told(answers={"2": {"answer": "\ud800"}})).answers.given == {2: "?"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * (files.MOST_BYTES + 1), "large"),
        ("字" * (files.MOST_BYTES // 3 + 1), "large"),
        *((text, "no answers") for text in ("", "{", "[" * 60_000, "9" * 60_000, "[]", "null", "{}", "\ud800")),
        *((told(**{name: 3}), "no answers") for name in ("lesson", "title", "student", "answers")),
        *((told(version=version), "no answers") for version in (True, "1", None, 1.0)),
        (told(lesson="<b>"), "no answers"),
        (told(lesson="0123456789ABCDEF"), "no answers"),
        (told(version=2), "another version"),
    ],
)
def test_what_is_no_file_of_answers_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(files.UnreadableError) as refused:
        files.read(text)
    assert refused.value.why == why


@pytest.mark.parametrize(
    ("typed", "value"),
    [("0.41", 0.41), (" 768 ", 768.0), ("−3", -3.0), ("4.1e-3", 0.0041), (".5", 0.5), ("5.", 5.0), ("+1E2", 100.0)],
)
def test_a_number_is_read_as_it_is_typed(typed: str, value: float) -> None:
    assert files.number(typed) == value


@pytest.mark.parametrize(
    "typed", ["", "0,41", "1,024", "1 024", "71 %", "nan", "inf", "1e999", "0x10", "1_000", "４", "cat"]
)
def test_what_is_no_number_is_none(typed: str) -> None:
    assert files.number(typed) is None


# --- judging ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hundredths", range(36, 48))
def test_an_absolute_tolerance_is_held_to_decimal_arithmetic(hundredths: int) -> None:
    """A student types 0.42 within 0.01 of 0.41, though as floats they lie a little farther apart."""
    typed = Decimal(hundredths) / 100
    due = abs(typed - Decimal("0.41")) <= Decimal("0.01")
    assert judge(Number(around(FOUND, 0.41, within=0.01)), float(typed)) == Judged(due, "0.41 ± 0.01")


@pytest.mark.parametrize("typed", ["13.4", "13.42", "13.43", "13.7", "13.97", "13.974", "13.98", "-13.7"])
def test_a_share_is_held_to_decimal_arithmetic(typed: str) -> None:
    due = abs(Decimal(typed) - Decimal("13.7")) <= Decimal("0.02") * Decimal("13.7")
    assert judge(Number(near(FOUND, 13.7, within=0.02)), float(typed)).right is due


def test_a_tolerance_of_nothing_takes_the_number_alone() -> None:
    exact = Number(around(FOUND, 768, within=0))
    assert [judge(exact, value).right for value in (768.0, 768.0001, 767.0)] == [True, False, False]
    assert judge(exact, "768").right is False


@pytest.mark.parametrize(
    ("verdict", "guess"), [("true", "true"), ("false", "false"), ("partly", "between"), ("conditions", "between")]
)
def test_a_guess_is_held_to_the_teachers_verdict_else_to_what_is_measured(verdict, guess: str) -> None:
    asked = Guess(3, "minilm", "A cat.")
    for offered in ("true", "false", "between"):
        assert judge(asked, offered, verdict=verdict) == Judged(offered == guess, verdict)
        assert judge(Guess(3, "minilm", "A cat.", verdict), offered, verdict="true").right is (offered == guess)
    assert judge(asked, guess).right is None
    assert judge(asked, "maybe", verdict=verdict).right is False
    assert judge(asked, 1.0, verdict=verdict).right is False


def test_a_file_is_not_judged_here_and_no_answer_nowhere() -> None:
    assert judge(Code(1), "def softmax(scores): ...").right is None
    assert judge(Code(1), 3.0).right is False
    assert judge(Code(1), None).right is None
