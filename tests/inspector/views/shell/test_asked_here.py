"""Every page lists the questions that it answers, those of the open section first."""

from __future__ import annotations

import html

from streamlit.testing.v1 import AppTest

from inspector.questions.index import BY_NUMBER, FIRST, QUESTIONS
from inspector.views.shell import asked_here
from tests.inspector.views.page import opened, said, turned


def numbers(app: AppTest) -> list[str]:
    labels = [html.unescape(one.proto.label) for one in app.get("page_link")]
    return [label.split(" · ")[0] for label in labels if " · " in label]


def of(page: str, section: str = "") -> set[str]:
    found = [one for one in QUESTIONS if one.see is not None and asked_here.address(one) == page]
    return {str(one.number) for one in found if not section or one.see.state.get("section") == section}


def test_the_open_sections_questions_come_first():
    app = opened("Scores", section="Queries and keys")
    listed = numbers(app)
    first = of("scores", "Queries and keys")
    assert first
    assert set(listed) == of("scores")
    assert set(listed[: len(first)]) == first
    assert "What you see answers" in said(app)
    assert set(numbers(opened("Scores"))[: len(of("scores", "This head"))]) == of("scores", "This head")


def test_the_list_is_in_the_readers_language():
    app = opened("Scores", lang="zh")
    assert any("方差" in one.proto.label for one in app.get("page_link"))


def test_the_first_page_leads_to_five_questions_in_order_and_then_to_all():
    links = [html.unescape(one.proto.label) for one in opened().get("page_link")]
    five = [f"{number} · {BY_NUMBER[number].asked.en}" for number in FIRST]  # by the numbers of the catalogue
    assert links[:6] == [*five, "All questions"]  # before the links of the page itself


def test_all_questions_are_listed_whatever_question_was_open():
    app = opened("Questions", q="27")
    turned(app, "Attention")
    app.query_params.clear()  # as a browser's address is another page's
    app.query_params["theme"], app.query_params["lang"] = "all", "en"  # as the link has it
    turned(app, "Questions")
    assert "question 27" in [button.key for button in app.button]


def test_the_page_itself_has_no_list():
    assert numbers(opened("Questions")) == []
