"""Lessons through Streamlit's own AppTest: opened, gone through, kept, handed in, in both languages."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inspector.lessons import SHIPPED, Answers, read, shipped
from inspector.lessons import answers as files
from inspector.lessons.lesson import Guess, Number
from inspector.lessons.links import encode
from inspector.practice import texts
from inspector.practice.index import find
from inspector.sections.registry import PAGES
from inspector.views.lessons.sheet import Sheet
from inspector.wording import in_language
from tests.inspector.views.hostile import LINK_VALUES
from tests.inspector.views.page import HOSTILE, opened, pressed, said, turned
from tests.inspector.wording.chinese import english_words

LESSON = f"""
title = "{HOSTILE}"
[[steps]]
words = "{HOSTILE}"
page = "attention"
model = "mini-bert"
text = "He did not know."
link = {{ layer = 1, head = 3 }}
[[steps]]
question = 75
[[steps]]
words = "How many?"
expected = 40
tolerance = "5 %"
unit = "{HOSTILE}"
why = "Because."
[[steps]]
practice = 1
[[steps]]
words = "Read there."
page = "scores"
model = "org/name"
"""
UNSEEN = LESSON.replace("[[steps]]", "feedback = false\n[[steps]]", 1)
PLACES = [(name, at) for name in SHIPPED for at, step in enumerate(shipped(name).steps, 1) if step.place is not None]


def link(text: str) -> str:
    given = encode(text)
    assert given is not None
    return given


def at(text: str, step: int, **more: Any) -> AppTest:
    return opened("Lessons", lesson=link(text), step=str(step), lang="en", **more)


def asked_to_keep(app: AppTest) -> dict[str, Any]:
    """Read what the page tells the browser to keep."""
    (proto,) = (one.proto for one in app.get("bidi_component") if one.proto.component_name == "headlight_keeping")
    data = json.loads(proto.json)
    return {"key": data["key"], "text": data["text"]}


def component(text: str, stored: str, *, problem: str = "") -> dict[str, object]:
    """Give the session what a browser would tell of its storage."""
    told = {"day": "2026-11-27", "text": stored, "problem": problem}
    return {f"keeping headlight.lesson.{read(text).digest}": {"told": told}}


def stored(text: str, given: dict[int, str | float], student: str = "Li") -> str:
    return files.written(Answers(read(text).digest, "T", student, given), {})


def links_to(app: AppTest) -> list[tuple[str, str]]:
    return [(one.proto.page, one.proto.query_string) for one in app.get("page_link")]


# --- opening ----------------------------------------------------------------------------------------------------------


def test_without_a_lesson_those_that_come_along_are_offered() -> None:
    app = opened("Lessons", lang="en")
    assert [one.value for one in app.subheader][:3] == [
        "An evening with attention",
        "A week before the interview",
        "A researcher&#39;s findings in heads",
    ]
    app = pressed(app, "open findings")
    assert app.query_params["lesson"] in ("findings", ["findings"])
    assert "0 of 9 answered, 0 right" in said(app)
    app = pressed(app, "leave lesson")
    assert "lesson" not in app.query_params
    assert "open findings" in [button.key for button in app.button]


def test_a_teachers_words_are_text_and_a_link_holds_the_whole_lesson() -> None:
    app = at(LESSON, 1)
    assert HOSTILE in [one.value for one in app.text]
    assert not [one.value for one in (*app.markdown, *app.header, *app.subheader, *app.caption) if HOSTILE in one.value]
    app = at(LESSON, 3)
    assert app.text_input[0].label.startswith("What you found")


@pytest.mark.parametrize("value", [value for value in LINK_VALUES if value][::3])
def test_a_hostile_link_is_a_sentence_or_nothing(value: str) -> None:
    app = opened("Lessons", lesson=value, step=value, lang="en")
    assert "open evening" in [button.key for button in app.button]
    assert app.warning or not value.strip()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("z.abc", "The link holds no lesson"),
        (link("title = 3"), "title is “3”; it must be a text"),
        (link(f"title = 'T'\n{'[[steps]]' * 2}"), "no TOML"),
        ("gone", "asks for a lesson that there is not; those that come along are evening, interview, findings"),
        ("file", "Open its file again"),
    ],
)
def test_a_link_without_a_lesson_says_why(given: str, sentence: str) -> None:
    app = opened("Lessons", lesson=given, lang="en")
    assert sentence in said(app)
    assert "open evening" in [button.key for button in app.button]


# --- a step -----------------------------------------------------------------------------------------------------------


def test_a_step_leads_to_its_page_with_model_and_text_and_back() -> None:
    app = at(LESSON, 1)
    page, query = links_to(app)[0]
    assert page == ""
    assert {"layer=1", "head=3", "model=mini-bert"} <= set(query.split("&"))
    app = turned(app, "Attention")
    assert not app.exception
    back = [one.proto for one in app.get("page_link") if one.proto.page == "lessons"]
    assert "step 1 of 5" in back[0].label
    assert "step=1" in back[0].query_string
    app = turned(app, "Lessons")
    assert app.query_params["lesson"] in (link(LESSON), [link(LESSON)])
    app = pressed(app, "leave lesson")
    app = turned(app, "Attention")
    assert not [one for one in app.get("page_link") if one.proto.page == "lessons"]


def test_a_model_that_is_not_offered_is_named_and_not_loaded() -> None:
    app = at(LESSON, 5)
    assert "reads in the model org/name, which is not offered here" in said(app)
    assert all("org" not in query for _, query in links_to(app))


def test_a_guess_is_held_to_what_is_measured() -> None:
    app = pressed(at(LESSON, 2), "lesson guess false 2")
    assert not app.exception
    assert "You guessed “False”&#46; The verdict&#58; Holds" in said(app)
    assert "1 of 3 answered, 0 right" in said(app)
    assert "lesson guess true 2" not in [button.key for button in app.button]
    (kept,) = json.loads(asked_to_keep(app)["text"])["answers"].items()
    assert kept == ("2", {"answer": "false"})
    app = turned(app, "Questions")
    assert app.session_state["questions.guesses"] == {75: "false"}


def test_a_number_is_held_to_its_tolerance() -> None:
    app = at(LESSON, 3)
    for typed, sentence, rights in (
        ("cat", "That is no number", "0 of 3 answered, 0 right"),
        ("30", "30 is too small&#58; it must come within 5 &#37; of what is expected", "1 of 3 answered, 0 right"),
        ("45", "45 is too large", "1 of 3 answered, 0 right"),
        ("38", "38 is right&#58; 40 ± 5 &#37; was expected", "1 of 3 answered, 1 right"),
    ):
        app.text_input[0].set_value(typed).run()
        assert not app.exception
        assert sentence in said(app)
        assert rights in said(app)
    assert "Because." in said(app)


def test_a_lesson_without_feedback_tells_nothing_of_right_and_wrong() -> None:
    app = pressed(at(UNSEEN, 2), "lesson guess false 2")
    assert "Your guess is kept" in said(app)
    app = pressed(app, "lesson guess true 2")  # may be changed
    app = pressed(app, "lesson next")
    app.text_input[0].set_value("40").run()
    words = said(app)
    assert "is kept. Your teacher sees" in words
    assert "2 of 3 answered" in words
    assert not re.search(r"right:|(?<!it )is right|not right|answered, \d|expected|Because\.", words)
    assert "true" in asked_to_keep(app)["text"]
    assert '"right"' not in asked_to_keep(app)["text"]


def test_a_practice_file_is_kept_as_text_and_runs_nowhere() -> None:
    app = at(LESSON, 4)
    code = texts.solution(find(1)) + "\nraise SystemExit('it ran')\n"
    app.text_area[0].set_value(code).run()
    app = pressed(app, "lesson take 4")
    assert not app.exception
    assert json.loads(asked_to_keep(app)["text"])["answers"]["4"]["answer"] == code
    assert "lines are among your answers" in said(app)
    app.text_area[0].set_value("   ").run()
    app = pressed(app, "lesson take 4")
    assert "among your answers" not in said(app)


def test_the_steps_are_chosen_in_a_list_that_says_how_they_stand() -> None:
    app = at(LESSON, 2)
    assert app.selectbox[0].options[1] == "Step 2 of 5 · Question 75"
    app = pressed(app, "lesson guess true 2")
    assert app.selectbox[0].options[1] == "Step 2 of 5 · Question 75 · right"
    app.selectbox[0].set_value(5).run()
    assert app.query_params["step"] in ("5", ["5"])
    assert app.button(key="lesson next").disabled


# --- what the browser keeps -------------------------------------------------------------------------------------------


def test_what_the_browser_keeps_is_there_again_under_a_key_of_the_lesson() -> None:
    app = at(LESSON, 3, state=component(LESSON, stored(LESSON, {3: 40.0, 2: "true"})))
    assert "2 of 3 answered, 1 right" in said(app)  # the question is measured once its step is open
    assert app.text_input[1].value == "Li"
    assert asked_to_keep(app) == {"key": f"headlight.lesson.{read(LESSON).digest}", "text": None}
    app = pressed(app, "forget answers")
    assert "0 of 3 answered" in said(app)
    assert asked_to_keep(app)["text"] == ""
    assert app.text_input[1].value == ""


def test_a_kept_file_is_in_its_field_once_the_browser_has_told() -> None:
    app = at(LESSON, 4)
    assert app.text_area[0].value == ""
    for key, told in component(LESSON, stored(LESSON, {4: "def softmax(scores): ..."})).items():
        app.session_state[key] = told
    app.run()
    assert app.text_area[0].value == "def softmax(scores): ..."


def test_a_name_is_kept_and_stands_in_the_file() -> None:
    app = at(LESSON, 1)
    app.text_input[0].set_value(HOSTILE).run()
    assert json.loads(asked_to_keep(app)["text"])["student"] == HOSTILE[: files.MOST_STUDENT]
    assert not [one.value for one in (*app.markdown, *app.caption) if "onerror" in one.value]


@pytest.mark.parametrize(
    ("content", "problem", "sentence"),
    [
        ("<img src=x onerror=alert(1)>", "", "is no list of answers"),
        ('{"version": 9, "answers": {}}', "", "Another version of Headlight"),
        ("", "large", "is larger than 256 KB"),
        ("", "blocked", "stores nothing for this page"),
        ("", "full", "storage is full"),
    ],
)
def test_a_storage_that_fails_is_a_sentence_and_the_page_goes_on(content: str, problem: str, sentence: str) -> None:
    app = at(LESSON, 2, state=component(LESSON, content, problem=problem))
    assert sentence in said(app)
    app = pressed(app, "lesson guess true 2")
    assert "1 of 3 answered" in said(app)
    unreadable = problem in ("", "large")
    assert (asked_to_keep(app)["text"] is None) is unreadable  # what could not be read is not written over
    if unreadable:
        app = pressed(app, "forget answers")
        assert sentence not in said(app)
        assert asked_to_keep(app)["text"] == ""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_file_of_answers_joins_what_is_kept_or_says_why_it_does_not(language: str) -> None:
    words, lesson = in_language(language, "lessons"), read(LESSON)
    sheet = Sheet(lesson, Answers(lesson.digest, "T", "", {2: "false", 3: 1.0}))
    other = LESSON.replace("expected = 40", "expected = 41")
    for text, sentence in (
        (None, words.REFUSED["large"]),
        ("[]", words.REFUSED["no answers"]),
        (stored(other, {2: "true"}), words.of_another("T")),
    ):
        sheet.load(text, words)
        assert (sheet.said, sheet.answers.given) == (sentence, {2: "false", 3: 1.0})
    sheet.load(stored(LESSON, {3: 40.0}), words)
    assert (sheet.said, sheet.answers.given) == (words.taken(1, 0), {2: "false", 3: 40.0})
    assert sheet.answers.student == "Li"
    assert sheet.written == files.written(sheet.answers, {})
    full = dict.fromkeys(range(4, 15), "x" * files.MOST_CODE)
    sheet.load(stored(LESSON, full), words)
    assert len(sheet.answers.given) == 13
    assert not sheet.take(15, "y" * 3 * files.MOST_CODE)  # the file would be too large
    assert 15 not in sheet.answers.given


# --- the lessons that come along --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "step"), PLACES)
def test_a_place_opens_as_its_step_says(name: str, step: int) -> None:
    place = shipped(name).steps[step - 1].place
    assert place is not None
    page = PAGES[place.page]
    given = dict(place.link) | ({"model": place.model, "text": place.text} if page.reads else {})
    app = opened(page.title, **given, lang="en")
    assert not app.warning
    assert not app.error
    for parameter, value in place.link.items():
        assert app.query_params[parameter] in (value, [value])
    if page.reads:
        assert (app.session_state["model"], app.session_state["text"]) == (place.model, place.text)


@pytest.mark.parametrize("name", SHIPPED)
def test_in_chinese_no_english_word_stays(name: str) -> None:
    app = opened("Lessons", lesson=name, lang="zh")
    assert app.title[0].value == "课程"
    for at_step, step in enumerate(shipped(name).steps, 1):
        if not isinstance(step.asks, Guess | Number) or at_step > 9:
            continue
        app = opened("Lessons", lesson=name, step=str(at_step), lang="zh")
        ours = [*(button.label for button in app.button), *(one.label for one in app.text_input), app.caption[-1].value]
        unquoted = [re.sub("“.*?”", "", label) for label in ours]  # words of the example
        assert {label: words for label in unquoted if (words := english_words(label)) and label != "EN"} == {}
