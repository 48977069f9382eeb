"""The page Questions: search, guess, answer, the other page in its state and back, both languages."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector.questions import asking
from inspector.questions.index import BY_NUMBER, FIRST, QUESTIONS, THEMES
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above
from inspector.questions.record.kinds import Kind
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PublishedNumber,
    StoredRun,
)
from tests.inspector.views.page import HOSTILE, opened, pressed, said, turned, uploaded

CHINESE = re.compile(r"[一-鿿]")


def badges(app: AppTest) -> list[str]:
    return [found for element in app.markdown for found in re.findall(r":\w+-badge\[[^]]*\]", element.value)]


def links(app: AppTest) -> list[str]:
    return [html.unescape(one.proto.label) for one in app.get("page_link")]


def revealed(number: int = 16, **link: str) -> AppTest:
    return pressed(opened("Questions", q=str(number), **link), f"show {number}")


@pytest.fixture(scope="module")
def answered() -> AppTest:
    return revealed()


def test_the_page_opens_with_one_question_and_another_leads_on():
    app = opened("Questions")
    assert len(FIRST) == 5  # as the invitation says
    for number in FIRST[:2]:
        asked = BY_NUMBER[number]
        assert html.unescape(app.title[1].value) == asked.claim.en
        assert [button.key for button in app.button if "question" in (button.key or "")] == ["all questions"]
        pressed(app, "another")
    pressed(app, f"show {FIRST[2]}")
    assert app.query_params["q"] in (str(FIRST[2]), [str(FIRST[2])])
    for number in (*FIRST[3:], 1, 2, 4):
        pressed(app, "another")
        assert f"guess true {number}" in [button.key for button in app.button]
    del app.query_params["q"]
    app = opened("Questions", state={"questions.guesses": {FIRST[0]: "true"}})
    assert f"guess true {FIRST[1]}" in [button.key for button in app.button]


def test_all_questions_are_a_link_and_a_question_of_them_too():
    app = pressed(opened("Questions"), "all questions")
    assert app.query_params["theme"] in ("all", ["all"])
    pressed(app, "question 27")
    assert "guess true 27" in [button.key for button in app.button]
    pressed(app, "all questions")
    assert "question 27" in [button.key for button in app.button]
    assert "q" not in app.query_params


def test_every_question_is_listed_under_its_theme():
    app = opened("Questions", theme="all")
    keys = [button.key for button in app.button]
    assert all(f"question {question.number}" in keys for question in QUESTIONS)
    assert [one.value for one in app.subheader] == [theme.name.en for theme in THEMES if theme.questions]
    assert f"{len(QUESTIONS)} questions" in said(app)


@pytest.mark.parametrize("typed", ["16", "variance", "方差", "Variance D_K"])
def test_search_reads_both_languages_and_numbers(typed: str):
    app = opened("Questions", search=typed)
    keys = [button.key for button in app.button]
    assert "question 16" in keys
    assert app.text_input(key="search").value == typed


def test_a_search_without_a_match_says_so_and_is_taken_back():
    app = opened("Questions", search=HOSTILE[:60])
    assert "No question has all of these words" in said(app)
    assert "<img" not in said(app)
    pressed(app, "show all")
    assert "question 16" in [button.key for button in app.button]


def test_a_theme_shows_its_questions_alone():
    app = opened("Questions", theme="scale")
    numbers = {int(key.split()[1]) for button in app.button if re.fullmatch(r"question \d+", key := button.key or "")}
    assert numbers == {question.number for theme in THEMES if theme.id == "scale" for question in theme.questions}


def test_nothing_of_the_answer_stands_before_the_guess():
    app = opened("Questions", q="16")
    question = BY_NUMBER[16]
    assert html.unescape(app.title[1].value) == question.claim.en
    assert question.because.en[:20] not in said(app)
    assert badges(app) == []
    assert len(app.get("plotly_chart")) == 0


def test_a_guess_is_judged_and_counted():
    app = pressed(opened("Questions", q="16"), "guess true 16")
    assert "You guessed “True”: not so. 0 of 1 guess right so far." in said(app)
    app = pressed(opened("Questions", q="16"), "guess between 16")
    assert "right. 1 of 1 guess right" in said(app)


def test_the_answer_has_verdict_parts_numbers_formula_and_papers(answered: AppTest):
    shown = said(answered)
    assert "Holds under conditions · 1 of 4 claims hold" in shown
    assert len(badges(answered)) == 1 + len(BY_NUMBER[16].parts)
    assert "would be 1 ± 25 % if the sentence held" in shown.replace("&#37;", "%")
    assert len(answered.get("plotly_chart")) == 1
    assert "<drawn>" not in answered.latex[0].value
    assert len(answered.table) == 2
    assert "https://arxiv.org/abs/1706.03762" in shown
    assert "See it on Scores" in links(answered)
    heads = [html.unescape(one.value) for one in answered.subheader]
    assert [head for head in heads if "Numbers" in head] == ["Numbers of MiniLM", "Numbers of random vectors"]


def test_a_part_is_quoted_and_its_needs_have_both_numbers():
    shown = html.unescape(said(revealed(43)))
    assert re.search(r"< 0\.0\d+: 0\.5 × “output moved without all heads of the layer”, as it must be", shown)
    assert f"“{BY_NUMBER[43].parts[0].statement.en}”" in shown


def test_chinese_has_no_english_words_of_the_page():
    app = revealed(lang="zh")
    assert all(CHINESE.search(one.value) for one in [*app.header, *app.subheader])
    assert "在“分数”页查看（英文页面）" in links(app)
    assert app.title[0].value == "问题"
    assert "模型：**MiniLM，内置的 BERT**" in html.unescape(said(app))
    assert CHINESE.search(opened("Questions", lang="zh", theme="all").subheader[0].value)


def test_the_switch_changes_the_language_and_is_remembered_on_other_pages():
    app = opened("Questions")
    pressed(app, "language")
    assert app.query_params["lang"] == "zh"
    assert CHINESE.search(app.header[0].value)
    turned(app, "Scores")
    turned(app, "Questions")
    assert CHINESE.search(app.header[0].value)


def test_the_list_has_the_verdict_of_what_was_measured(answered: AppTest):
    pressed(answered, "all questions")
    (label,) = [button.label for button in answered.button if button.key == "question 16"]
    assert "Holds under conditions" in label
    assert "0 hold here, 0 do not, 0 hold in part, 1 hold under conditions" in said(answered)
    pressed(answered, "question 16")
    assert "Holds under conditions" in said(answered)


def test_a_question_that_there_is_not_is_a_sentence():
    for number in ("0", "9999", "x", ""):
        app = opened("Questions", q=number)
        assert not app.exception
        assert f"guess true {FIRST[0]}" in [button.key for button in app.button]


def test_what_cannot_be_measured_is_a_sentence(monkeypatch: pytest.MonkeyPatch):
    app = revealed(text=" ")
    assert "Could not be measured" in said(app)
    assert "The text is empty." in said(app)


def test_settle_all_measures_what_is_listed(monkeypatch: pytest.MonkeyPatch):
    app = pressed(opened("Questions", search="16", text="A small cat sat there."), "settle all")
    assert not app.exception
    assert "1 of" in said(app)
    assert "1 hold under conditions" in said(app)


def test_another_model_answers_where_the_readers_cannot(monkeypatch: pytest.MonkeyPatch):
    question = BY_NUMBER[16]
    kind = Kind(
        lambda loaded: loaded.card.id == "minilm", replace(question.asked, en="is too <b>small</b>"), ("minilm",)
    )
    changed = replace(question, of=kind)
    monkeypatch.setitem(BY_NUMBER, 16, changed)
    assert asking.find(16) is changed
    app = revealed(model="mini-gpt", text="A dog ran over there.")
    assert "Cannot be asked of this model" in said(app)
    assert "too <b>small</b>" in app.text[0].value
    assert "MiniLM: holds" in said(app)
    assert "Numbers of MiniLM" in said(app)
    assert "See it on Scores, with MiniLM" in links(app)


def test_a_saved_trace_whose_model_is_not_at_hand_is_answered_by_another(tmp_path: Path):
    trace = inspector.record(models.load("minilm"), "A bird sang.")
    inspector.save(replace(trace, model="somebody/else"), tmp_path / "t.npz")
    app = uploaded(opened("Questions", q="16"), (tmp_path / "t.npz").read_bytes())
    pressed(app, "show 16")
    assert "The model somebody/else of the saved trace is not at hand. MiniLM was asked" in said(app)
    assert "A bird sang&#46;" in said(app)


def test_the_whole_experiment_runs_when_asked_beside_what_is_stored(monkeypatch: pytest.MonkeyPatch):
    told: list[tuple[int, int]] = []

    def run(subject, watch):
        for done in range(3):
            watch(done, 3)
            told.append((done, 3))
        return Measurement({"loss": 0.25})

    whole = LongExperiment(
        run,
        Both("Three steps.", "三步。"),
        (ClaimPart(Both("The loss is there.", "有损失。"), (above("loss", 0),)),),
        {"loss": Label(Both("loss", "损失"), "nats")},
        StoredRun({"loss": 0.75}, "python -m x", "0 to 2", "2026-01-01"),
    )
    question = replace(
        BY_NUMBER[16], whole=whole, published={"median": PublishedNumber("1", Both("the footnote", "脚注"))}
    )
    monkeypatch.setitem(BY_NUMBER, 16, question)
    app = revealed(text="A whole text.")
    assert "Stored, not measured now" in html.unescape(said(app))
    assert "0.750 nats" in html.unescape(str(app.table[2].value))
    assert "the footnote" in html.unescape(app.table[0].value.to_string())
    assert told == []
    pressed(app, "whole 16")
    assert told == [(0, 3), (1, 3), (2, 3)]
    assert all(
        number in html.unescape(str([one.value for one in app.table])) for number in ("0.250 nats", "0.750 nats")
    )
    app.run()
    assert "Run it again" in [button.label for button in app.button]
