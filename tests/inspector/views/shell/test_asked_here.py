"""Every page lists the questions that it answers, those of the open section first."""

from __future__ import annotations

import html

from streamlit.testing.v1 import AppTest

from inspector.questions.index import QUESTIONS
from inspector.views.shell import asked_here
from tests.inspector.views.page import opened, said


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


def test_the_first_page_leads_to_all_questions():
    links = [html.unescape(one.proto.label) for one in opened().get("page_link")]
    assert f"{len(QUESTIONS)} questions, settled on your text" in links


def test_the_page_itself_has_no_list():
    assert numbers(opened("Questions")) == []
