"""The page Practice through Streamlit's own AppTest: tasks, hints one after the other, the solution, both languages."""

from __future__ import annotations

import ast
import re

import pytest
from streamlit.testing.v1 import AppTest

from inspector.practice import texts
from inspector.practice.index import TASKS, find
from inspector.practice.tasks import recordings
from inspector.wording import in_language
from inspector.wording.chinese import practice as chinese
from inspector.wording.english import practice as english
from tests.inspector.views.hostile import LINK_VALUES
from tests.inspector.views.page import opened, said


def codes(app: AppTest) -> list[str]:
    return [f"{code.value}\n" for code in app.code]


def heading(app: AppTest) -> str:
    return str(app.header[0].value)


def button(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    assert not app.exception


def test_it_opens_on_the_first_task_with_a_file_a_command_and_a_case_to_check() -> None:
    app = opened("Practice")
    assert heading(app) == "1 · A softmax row"
    stub, command = codes(app)
    assert stub == texts.stub(find(1))
    assert command == "python -m inspector.practice 1 mine.py\n"
    assert "this page runs no code of yours" in said(app)
    due = app.table[-1].value.to_numpy()
    assert [float(cell) for cell in due[0]] == pytest.approx([0.0900, 0.2447, 0.6652])


def test_hints_come_one_after_the_other_and_the_solution_behind_a_press() -> None:
    app = opened("Practice", task="3")
    assert "The formula" not in said(app)
    for number, kind in enumerate(english.HINT_KINDS, 1):
        assert app.button(key="hint 3").label == f"Show hint {number} of 3"
        button(app, "hint 3")
        assert said(app).count(f"**{kind}.**") == 1
    assert english.ALL_HINTS in said(app)
    assert texts.solution(find(3)) not in codes(app)
    button(app, "solution 3")
    assert texts.solution(find(3)) in codes(app)
    button(app, "solution 3")
    assert texts.solution(find(3)) not in codes(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_mistakes_stand_behind_a_press_in_the_readers_language(language: str) -> None:
    app = opened("Practice", task="1", lang=language)
    mistake = in_language(language, "practice_verdict").mistake("the exps are not divided by their sum")
    assert mistake not in said(app)
    assert str(len(find(1).mistakes)) in app.button(key="mistakes 1").label
    button(app, "mistakes 1")
    assert f"- {mistake}\n" in said(app)
    spoken = {"en": "", "zh": " --language zh"}[language]
    assert codes(app)[1] == f"python -m inspector.practice 1 mine.py{spoken}\n"
    button(app, "mistakes 1")
    assert mistake not in said(app)


def test_another_task_is_chosen_and_stands_in_the_link() -> None:
    app = opened("Practice", lang="en")
    (choice,) = (one for one in app.selectbox if one.label == "Practice")
    assert len(choice.options) == len(TASKS)
    assert choice.options[0] == "First steps · 1 · A softmax row"
    choice.set_value(7).run()
    assert heading(app) == "7 · RoPE"
    assert app.query_params["task"] in ("7", ["7"])
    assert heading(opened("Practice", task="7")) == "7 · RoPE"


@pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])
def test_every_task_has_its_case_in_both_languages(task, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is loaded for a task: the small case is made."""
    monkeypatch.setattr(recordings, "trace", None)
    for language in ("en", "zh"):
        app = opened("Practice", task=str(task.number), lang=language)
        assert heading(app).startswith((f"{task.number} · ", f"第 {task.number} 题 · "))
        ast.parse(codes(app)[0])
        words = english if language == "en" else chinese
        assert words.BY_HAND in [one.value for one in app.subheader]


def test_in_chinese_no_english_sentence_stays() -> None:
    app = opened("Practice", task="2", lang="zh")
    assert app.title[0].value == "练习"
    for _ in range(3):
        button(app, "hint 2")
    shown = [*(one.value for one in app.markdown), *(one.value for one in app.caption)]
    for text in (text for text in shown if not text.startswith("`")):
        left = re.sub(r"[一-鿿]", "", text)
        assert text == left or len(re.findall(r"[A-Za-z]{2,}", left)) <= 12, text
        assert re.search(r"[一-鿿]", text) or not re.search(r"[a-z]{3,} [a-z]{3,}", text), text


@pytest.mark.parametrize("value", [value for value in LINK_VALUES if value not in ("", "+1", "00000001")][::4])
def test_a_hostile_link_opens_a_task(value: str) -> None:
    app = opened("Practice", task=value, lang=value)
    assert heading(app).split(" ")[0] in [str(task.number) for task in TASKS]


def test_a_link_to_no_task_is_told() -> None:
    app = opened("Practice", task="14", lang="en")
    assert heading(app) == "1 · A softmax row"
    assert "they go from 1 to 13. You see 1 instead." in said(app)
