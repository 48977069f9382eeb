"""Kept guesses, there and back, and what a stranger may have put in their place."""

from __future__ import annotations

import json
from datetime import date

import pytest

from inspector.questions import kept
from inspector.questions.index import BY_NUMBER, MERGED
from inspector.questions.repetition import GUESSES, Kept

TODAY = date(2026, 11, 27)
ENTRY = {"guess": "true", "right": True, "on": "2026-11-20", "box": 3}
KEPT = Kept("true", right=True, on=date(2026, 11, 20), box=3)


def read(text: str) -> kept.Read:
    return kept.read(text, known=BY_NUMBER, today=TODAY, of_merged=MERGED)


def told(guesses: object, **beside: object) -> str:
    return json.dumps({"version": 1, "guesses": guesses, **beside})


def test_there_and_back_and_all_questions_fit() -> None:
    guesses = {
        number: Kept(GUESSES[number % len(GUESSES)], number % 2 == 0, TODAY, 1 + number % 5) for number in BY_NUMBER
    }
    text = kept.written(guesses)
    assert read(text) == kept.Read(guesses, 0)
    assert json.loads(text)["version"] == kept.VERSION
    assert len(text) < kept.MOST_BYTES / 2  # twice as many questions fit
    assert kept.written({}) == ""
    assert read("") == kept.Read({}, 0)


def test_fields_that_are_not_known_are_not_taken() -> None:
    found = read(told({"16": {**ENTRY, "html": "<img src=x onerror=alert(1)>"}}, more={"q": 1}))
    assert found == kept.Read({16: KEPT}, 0)


@pytest.mark.parametrize(
    "entry",
    [
        *({**ENTRY, "box": box} for box in (0, 6, -1, 2.0, "2", True, None, 10**30)),
        *({**ENTRY, "guess": guess} for guess in ("", "yes", 1, None, ["true"], "<b>")),
        *({**ENTRY, "right": right} for right in (1, "true", None)),
        *({**ENTRY, "on": on} for on in ("2026-02-30", "2019-12-31", "2200-01-01", "20261120", "2026-W01-1", 5, "")),
        {**ENTRY, "on": "２０２６-11-20"},
        {"guess": "true"},
        [],
        "true",
        None,
    ],
)
def test_an_entry_that_is_no_guess_is_left_out_and_counted(entry: object) -> None:
    assert read(told({"16": entry, "27": ENTRY})) == kept.Read({27: KEPT}, 1)


@pytest.mark.parametrize("number", ["0", "-1", "016", "9999", "1e1", "x", "", "１６", "9" * 5000, "16 "])
def test_a_number_that_no_question_has_is_left_out(number: str) -> None:
    assert read(told({number: ENTRY, "27": ENTRY})) == kept.Read({27: KEPT}, 1)


def test_the_numbers_of_merged_questions_lead_on_and_the_later_guess_counts() -> None:
    assert read(told({"17": ENTRY})).guesses == {16: KEPT}
    later = {**ENTRY, "on": "2026-11-25", "box": 1}
    for entries in ({"16": ENTRY, "17": later}, {"17": later, "16": ENTRY}):
        assert read(told(entries)).guesses[16].on == date(2026, 11, 25)


def test_a_day_to_come_counts_as_today() -> None:
    assert read(told({"16": {**ENTRY, "on": "2031-01-01"}})).guesses[16].on == TODAY


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * (kept.MOST_BYTES + 1), "large"),
        ("字" * (kept.MOST_BYTES // 3 + 1), "large"),
        ("{", "no list"),
        ("[" * 60_000, "no list"),
        ("9" * 60_000, "no list"),
        ("[]", "no list"),
        ("null", "no list"),
        ("{}", "no list"),
        (told([]), "no list"),
        ('{"version": 1}', "no list"),
        ('{"version": true, "guesses": {}}', "no list"),
        ('{"version": "1", "guesses": {}}', "no list"),
        ('{"version": 2, "guesses": {}}', "another version"),
        ('{"version": 0}', "another version"),
        ("\ud800", "no list"),
    ],
)
def test_what_is_no_list_of_guesses_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(kept.UnreadableError) as refused:
        read(text)
    assert refused.value.why == why


@pytest.mark.parametrize("text", ["2026-11-27", "2020-01-01", "2199-12-31"])
def test_a_day(text: str) -> None:
    assert str(kept.day(text)) == text
