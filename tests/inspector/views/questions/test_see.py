"""Every page that a question leads to takes its state: nothing in it is refused, or unknown to the page."""

from __future__ import annotations

import pytest

from inspector.questions.index import QUESTIONS
from inspector.sections.registry import PAGES
from inspector.views.shell import asked_here, pages
from models import LoadedModel
from tests.inspector.views.page import opened, pressed, said, turned

PLACES = {
    (asked_here.address(question), tuple(sorted(question.see.state.items()))): question.number
    for question in QUESTIONS
    if question.see is not None
}


@pytest.mark.parametrize(("page", "state"), PLACES, ids=[f"of {number}" for number in PLACES.values()])
def test_a_page_takes_the_state_that_a_question_leads_to(page: str, state: tuple[tuple[str, str], ...]):
    assert page in pages.FILES
    app = opened(PAGES[page].title, **dict(state))
    assert not app.exception
    assert "The link asks for" not in said(app)
    session = app.session_state
    bound = session["link.bound"] if "link.bound" in session else {}  # noqa: SIM401 - AppTest's state has no get
    known = bound.get(page, set()) | set(session["link.parameters"])
    for choice in [*app.segmented_control, *app.selectbox, *app.radio]:
        if choice.key in dict(state) and choice.key != "section":  # whose bar has groups too
            # Named as the page's own link names it: another name costs a step of Back.
            assert dict(state)[choice.key] in choice.options
    assert {name for name, _ in state} <= known | {"model", "text", "pair", "target"}
    # What the page shows without being asked leaves its address, another step of Back.
    assert {name for name, _ in state if name not in app.query_params} == set()


@pytest.mark.parametrize("page", ["scores", "costs", "batch", "layernorm"])
def test_the_page_follows_whatever_the_session_holds_of_it(page: str, minilm: LoadedModel):
    question = next(
        one
        for one in QUESTIONS
        if asked_here.address(one) == page
        and "section" in one.see.state
        and (one.of is None or one.of.can(minilm))  # else the link has the model that stands in
    )
    section, title = question.see.state["section"], PAGES[page].title
    app = opened(title)
    bar = app.segmented_control(key="section")
    bar.set_value(next(option for option in bar.options[::-1] if option != section)).run()
    turned(app, "Questions")
    pressed(app, "all questions")
    pressed(app, f"question {question.number}")
    pressed(app, f"show {question.number}")
    for name, value in question.see.state.items():
        app.query_params[name] = value  # as the link has it
    turned(app, title)
    assert not app.exception
    assert app.session_state["link.labels"]["section"] == section
