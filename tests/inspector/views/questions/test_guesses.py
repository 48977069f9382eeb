"""Levels, hints, a guessed number, and what the browser keeps, as the browser would tell it."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inspector.questions import course, kept
from inspector.questions.index import BY_NUMBER, QUESTIONS
from inspector.questions.interview import Interview, drawn
from inspector.views.questions import interviewing
from tests.inspector.views.page import HOSTILE, opened, pressed, said

TODAY = "2026-11-27"
ENTRY = {"guess": "true", "right": True, "on": "2026-11-20", "box": 2}  # due on the 23rd


def told(text: str = "", *, day: str = TODAY, problem: str = "") -> dict[str, object]:
    return {"keeping": {"told": {"day": day, "text": text, "problem": problem}}}


def stored(**entries: object) -> str:
    return json.dumps({"version": 1, "guesses": {name.removeprefix("q"): entry for name, entry in entries.items()}})


def asked_to_keep(app: AppTest) -> str | None:
    """Read what the page tells the browser to keep; None where it tells nothing."""
    (proto,) = (one.proto for one in app.get("bidi_component") if one.proto.component_name == "headlight_keeping")
    text: str | None = json.loads(proto.json)["text"]
    return text


def kept_now(app: AppTest) -> dict[str, Any]:
    text = asked_to_keep(app)
    assert text is not None
    found: dict[str, Any] = json.loads(text)["guesses"]
    return found


def keys(app: AppTest) -> list[str]:
    return [button.key or "" for button in app.button]


# --- levels and hints -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", course.LEVELS)
def test_the_list_of_a_level_has_its_questions_and_says_what_comes_first(level: int) -> None:
    app = opened("Questions", theme="all", level=str(level))
    listed = {int(key.split()[1]) for key in keys(app) if key.startswith("question ")}
    assert listed == {one.number for one in QUESTIONS if course.of(one.number).level == level}
    labels = [button.label for button in app.button if (button.key or "").startswith("question ")]
    assert all(f"level {level}" in html.unescape(label) for label in labels)
    assert f"{len(listed)} of {len(QUESTIONS)} questions" in said(app)


def test_a_level_is_chosen_and_taken_back() -> None:
    app = opened("Questions", theme="scale")
    app.selectbox(key="level 0 en").set_value(3).run()
    assert app.query_params["level"] in ("3", ["3"])
    assert "question 19" in keys(app)
    assert "question 16" not in keys(app)
    app.selectbox(key="level 3 en").set_value(0).run()
    assert "level" not in app.query_params
    assert "question 16" in keys(app)


def test_what_to_know_first_leads_there() -> None:
    app = opened("Questions", q="19")
    assert "Level 3 · Know first:" in said(app)
    pressed(app, "first 19 18")
    assert "guess true 18" in keys(app)


def test_hints_come_in_steps_and_say_no_measured_number() -> None:
    app, question = opened("Questions", q="16"), BY_NUMBER[16]
    for step, hint in enumerate(("The formula", "How it is measured", "What lies behind it")):
        assert hint not in said(app)
        pressed(app, "hint 16")
        assert hint in said(app)
        assert len(app.latex) == 1
        assert "?" in app.latex[0].value
        assert (question.because.en[:20] in html.unescape(said(app))) == (step == 2)
    assert "hint 16" not in keys(app)
    assert "guess true 16" in keys(app)


# --- a number ---------------------------------------------------------------------------------------------------------


def test_a_number_is_guessed_on_a_slider_and_scored_by_its_distance() -> None:
    app = opened("Questions", q="93", state=told())
    assert not app.select_slider
    pressed(app, "slider 93")
    slider = app.select_slider(key="number 93 en")
    assert (slider.options[0], slider.options[-1], slider.value) == ("100 tokens", "1,000,000 tokens", 10_000)
    slider.set_value(min(course_stops(93), key=lambda stop: abs(stop - 1_000))).run()
    pressed(app, "take 93")
    assert "You guessed 1,000 tokens; it is 768 tokens: 94 of 100 points." in said(app)
    assert kept_now(app) == {"93": {"guess": "number", "right": True, "on": TODAY, "box": 2}}


def course_stops(number: int) -> tuple[float, ...]:
    from inspector.questions import number_guess

    return number_guess.stops(course.of(number))


def test_a_number_far_off_comes_back_tomorrow_and_the_verdict_can_be_guessed_instead() -> None:
    app = pressed(opened("Questions", q="93", state=told()), "slider 93")
    pressed(app, "slider 93")
    assert "guess true 93" in keys(app)
    pressed(app, "slider 93")
    assert app.button(key="take 93").disabled  # the middle, until the slider was moved, is no guess
    app.select_slider(key="number 93 en").set_value(course_stops(93)[-1]).run()
    pressed(app, "take 93")
    assert kept_now(app)["93"]["right"] is False
    assert "Comes back on 2026-11-28." in said(app)


def test_a_question_without_a_telling_number_has_no_slider() -> None:
    assert "slider 1" not in keys(opened("Questions", q="1"))


# --- what the browser keeps ----------------------------------------------------------------------------------------


def test_a_guess_is_kept_once_with_its_day() -> None:
    app = pressed(opened("Questions", q="16", state=told()), "guess true 16")
    assert kept_now(app) == {"16": {"guess": "true", "right": False, "on": TODAY, "box": 1}}
    app.run()
    assert kept_now(app)["16"]["box"] == 1
    assert "kept" not in str(app.query_params)
    assert TODAY not in str(app.query_params)


def test_just_show_me_is_no_guess() -> None:
    assert asked_to_keep(pressed(opened("Questions", q="16", state=told()), "show 16")) is None


def test_a_guess_from_before_the_browser_told_its_day_is_kept_then() -> None:
    app = pressed(opened("Questions", q="16"), "guess between 16")
    assert asked_to_keep(app) is None
    app.session_state["keeping"] = told(stored(q27=ENTRY))["keeping"]
    app.run()
    assert kept_now(app) == {"16": {"guess": "between", "right": True, "on": TODAY, "box": 2}, "27": ENTRY}


def test_due_today_asks_again_the_longest_overdue_first() -> None:
    app = opened(
        "Questions", q="16", state=told(stored(q27={**ENTRY, "on": "2026-11-21"}, q3=ENTRY, q5={**ENTRY, "on": TODAY}))
    )
    (button,) = [one for one in app.button if one.key == "due"]
    assert button.label == "Due today: 2"
    pressed(app, "due")
    assert "guess true 3" in keys(app)
    pressed(app, "guess false 3")
    assert kept_now(app)["3"] == {"guess": "false", "right": True, "on": TODAY, "box": 3}
    assert "Due today: 1" in [one.label for one in app.button]
    pressed(app, "due")
    assert "guess true 27" in keys(app)


def test_another_day_another_tab_and_another_question() -> None:
    app = opened("Questions", state=told(stored(q3=ENTRY), day="2026-11-22"))
    assert "due" not in keys(app)
    assert "guess true 114" in keys(app)  # 3, the first for beginners, is known already
    app.session_state["keeping"] = told(stored(q3=ENTRY), day="2026-11-23")["keeping"]
    app.run()
    assert "due" in keys(app)
    app.session_state["keeping"] = told("", day="2026-11-23")["keeping"]  # forgotten in another tab
    app.run()
    assert "due" not in keys(app)


def test_what_another_tab_forgot_is_forgotten_here() -> None:
    app = pressed(opened("Questions", q="16", state=told()), "guess true 16")
    assert set(kept_now(app)) == {"16"}
    app.session_state["keeping"] = told(kept.written({}), day="2026-11-28")["keeping"]
    app.run()
    assert asked_to_keep(app) is None
    assert "due" not in keys(app)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HOSTILE, "is no list of guesses, so it was not read"),
        ("[" * 60_000, "is no list of guesses, so it was not read"),
        (json.dumps({"version": 7}), "by another version of Headlight"),
        ("x" * (kept.MOST_BYTES + 1), "is larger than 64 KB"),
    ],
)
def test_what_is_no_list_of_guesses_is_said_and_stays_until_it_is_forgotten(text: str, sentence: str) -> None:
    app = opened("Questions", q="16", state=told(text))
    assert sentence in said(app)
    assert "<img" not in said(app)
    pressed(app, "guess true 16")
    assert asked_to_keep(app) is None
    app.session_state["kept"] = True
    app.run()
    pressed(app, "forget")
    assert asked_to_keep(app) == ""
    assert sentence not in said(app)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [("blocked", "stores nothing for this page"), ("full", "storage is full"), ("large", "larger than 64 KB")],
)
def test_what_the_browser_cannot_do_is_a_sentence_in_both_languages(problem: str, sentence: str) -> None:
    app = opened("Questions", q="16", state=told(problem=problem))
    assert sentence in said(app)
    chinese = said(opened("Questions", q="16", lang="zh", state=told(problem=problem)))
    assert sentence not in chinese
    assert "浏览器" in chinese


def test_a_full_storage_takes_nothing_from_this_visit() -> None:
    app = pressed(opened("Questions", q="16", state=told(stored(q27=ENTRY))), "guess true 16")
    app.session_state["keeping"] = told(stored(q27=ENTRY), problem="full")["keeping"]
    app.run()
    assert set(kept_now(app)) == {"16", "27"}


@pytest.mark.parametrize("value", [None, 5, "x", {}, {"day": "yesterday", "text": "", "problem": ""}, {"day": TODAY}])
def test_what_no_browser_of_ours_tells_is_as_if_it_had_told_nothing(value: object) -> None:
    app = pressed(opened("Questions", q="16", state={"keeping": {"told": value}}), "guess true 16")
    assert not app.exception
    assert asked_to_keep(app) is None


def test_entries_that_are_no_guesses_are_counted() -> None:
    app = opened("Questions", q="16", state=told(stored(q16=ENTRY, q9999=ENTRY, q27={"guess": HOSTILE})))
    assert "2 of the entries in this browser are no guess, or of no question." in said(app)


def test_forget_leaves_nothing_and_asks_again() -> None:
    app = pressed(opened("Questions", q="16", state=told(stored(q27=ENTRY))), "guess true 16")
    app.session_state["kept"] = True
    app.run()
    assert "Guesses of 2 questions are kept." in said(app)
    assert "Export" in [one.proto.label for one in app.get("download_button")]
    pressed(app, "forget")
    assert asked_to_keep(app) == ""
    assert "guess true 16" in keys(app)
    assert "due" not in keys(app)


# --- the mock interview -----------------------------------------------------------------------------------------------


def test_an_interview_is_started_by_level_and_stands_in_the_link() -> None:
    app = opened("Questions", theme="all", state={"interview way": True})
    app.segmented_control(key="interview level en").set_value(3).run()
    pressed(app, "interview start")
    (asked,) = (
        app.query_params["interview"]
        if isinstance(app.query_params["interview"], list)
        else [app.query_params["interview"]]
    )
    assert asked.startswith("3.")
    assert "Question 1 of 10" in said(app)
    pressed(app, "interview leave")
    assert "interview" not in app.query_params
    assert "Question 1 of 10" not in said(app)


def test_the_same_link_asks_the_same_question_in_both_languages() -> None:
    asked = [opened("Questions", interview="2.48213", interview_at="4", lang=lang) for lang in ("en", "zh")]
    assert "Question 5 of 10" in said(asked[0])
    assert "第 5 题，共 10 题" in said(asked[1])
    numbers = [html.unescape(app.header[0].value).partition(".")[0] for app in asked]
    assert numbers[0] == numbers[1]


def test_words_stand_beside_the_answer_whose_points_are_ticked() -> None:
    asked = Interview(2, 48_213)
    first, second, *_ = drawn(asked, course.STEPS)
    run = interviewing._Run(asked, words={first: HOSTILE})
    app = opened("Questions", interview="2.48213", state={**told(), "questions.interview": run})
    assert HOSTILE in [one.value for one in app.text]
    parts = BY_NUMBER[first].parts
    assert len(app.checkbox) == len(parts) + 1
    labels = [html.unescape(box.label) for box in app.checkbox]
    assert all(part.statement.en in label for part, label in zip(parts, labels, strict=False))
    assert BY_NUMBER[first].because.en in labels[-1]
    for box in app.checkbox[1:]:
        box.check()
    pressed(app.run(), "interview next")
    assert run.named == {first: (len(parts), len(parts) + 1)}
    assert kept_now(app) == {str(first): {"guess": "words", "right": True, "on": TODAY, "box": 2}}
    assert f"{second}. " in html.unescape(app.header[0].value)
    assert app.query_params["interview_at"] in ("1", ["1"])


def test_the_result_of_an_interview_in_which_nothing_was_said() -> None:
    app = opened("Questions", interview="2.48213", interview_at="10")
    assert "0 of 10 answers named two thirds of the points or more; 0 of 0 points in all." in said(app)
    rows = [key for key in keys(app) if key.startswith("interviewed ")]
    assert len(rows) == 10
    pressed(app, rows[0])
    assert f"guess true {rows[0].split()[1]}" in keys(app)
    assert "interview" not in app.query_params


def test_a_question_of_another_page_and_the_list_lead_out_of_an_interview() -> None:
    app = opened("Questions", interview="2.48213", q="16")
    assert "guess true 16" in keys(app)
    pressed(app, "all questions")
    assert "question 16" in keys(app)
    assert "interview" not in app.query_params


@pytest.mark.parametrize("asked", ["", "9.1", "1.9999999", HOSTILE, "1.5.6"])
def test_what_is_no_interview_shows_a_question(asked: str) -> None:
    app = opened("Questions", interview=asked)
    assert not app.exception
    assert "Question 1 of 10" not in said(app)
    assert any(key.startswith("guess true") for key in keys(app))
