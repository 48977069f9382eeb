"""A teacher's path on the page, and its editor; the sheet to print."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from inspector.questions import path
from inspector.questions.index import QUESTIONS
from inspector.views.questions import sheet
from tests.inspector.views.page import HOSTILE, opened, pressed, said


def test_a_path_leads_from_question_to_question_with_its_words():
    app = opened("Questions", path="16.41", path_words=f"{HOSTILE}|Now the heads.", lang="en")
    assert "A path of 2 questions" in said(app)
    pressed(app, "path start")
    assert "Step 1 of 2" in said(app)
    assert not {"all questions", "another"} & {button.key for button in app.button}  # one way on, the path's
    assert HOSTILE in [one.value for one in app.text]
    assert app.button(key="path previous").disabled
    pressed(app, "path next")
    assert "Step 2 of 2" in said(app)
    assert "Now the heads." in [one.value for one in app.text]
    assert app.query_params["q"] in ("41", ["41"])
    assert app.query_params["path"] in ("16.41", ["16.41"])
    pressed(app, "path leave")
    assert "Step" not in said(app)
    assert "path" not in app.query_params


def test_a_link_to_a_step_in_chinese():
    app = opened("Questions", path="16.41", path_words="先看缩放。", q="16", lang="zh")
    assert "第 1 步，共 2 步" in said(app)
    assert "先看缩放。" in [one.value for one in app.text]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"path": "16.9999"}, "asks for question 9999"),
        ({"path": "16.16"}, "more than once"),
        ({"path": HOSTILE}, "no list of numbers"),
        ({"path": "16", "path_words": "a|b|c"}, "words for more questions"),
    ],
)
def test_what_is_no_path_is_said(given: dict[str, str], sentence: str):
    app = opened("Questions", **given)
    assert not app.exception
    assert sentence in " ".join(one.value for one in app.warning)
    assert "Step" not in said(app)


def test_the_editor_makes_a_link_that_leads_along_the_path():
    app = opened("Questions", lang="en", theme="all")
    app.multiselect(key="path questions").set_value([41, 16]).run()
    app.text_area(key="path words 41").input("One | two").run()
    (address,) = [one.value for one in app.code if "path=" in one.value]
    given = parse_qs(address.partition("?")[2])
    assert (given["path"], given["path_words"], given["lang"]) == (["41.16"], ["One \\| two|"], ["en"])
    assert "Room for 1,489 more letters" in said(app)
    pressed(app, "path open")
    pressed(app, "path start")
    assert "One | two" in [one.value for one in app.text]


def test_words_that_do_not_fit_give_no_link():
    app = opened("Questions", lang="zh", theme="all")
    app.multiselect(key="path questions").set_value([16]).run()
    app.text_area(key="path words 16").input("字" * (path.ROOM // 3 + 1)).run()
    assert "请缩短" in said(app)
    assert not [one.value for one in app.code if "path=" in one.value]


def test_the_sheet_is_offered_once_all_is_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sheet, "QUESTIONS", [one for one in QUESTIONS if one.number in (16, 41)])
    app = opened("Questions", lang="en", theme="all")
    pressed(app, "prepare sheet en")
    assert not app.exception
    assert [one.proto.label for one in app.get("download_button")][-3:] == ["Save the sheet", "APKG", "CSV"]
    assert [one.value for one in app.success] == ["Three files are made, with 2 answers: press one of them."]
    assert not app.run().success


def test_the_sheet_of_a_theme_has_its_questions_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sheet, "QUESTIONS", [one for one in QUESTIONS if one.number in (16, 41)])
    app = pressed(opened("Questions", lang="en", theme="scale"), "prepare sheet en")
    assert [one.value for one in app.success] == ["Three files are made, with 1 answer: press one of them."]
