"""A page that is led to a state follows it, whatever the session holds of the page from before."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import PATHS

SCRIPT = """
import streamlit as st
from inspector.views.shell import controls, link

def one():
    known = ["minilm", "mini-gpt"]
    link.read("one", known_models=known, default_model="minilm", default_text=lambda model: f"of {model}")
    link.parameters("layer")
    link.lead("two", st.session_state["given"])
    if st.button("go"):  # as a click on a link does
        st.switch_page(two_page, query_params=st.session_state["given"])
    st.session_state["seen"] = ("one", st.session_state["model"], st.session_state["text"])

def two():
    known = ["minilm", "mini-gpt"]
    link.read("two", known_models=known, default_model="minilm", default_text=lambda model: f"of {model}")
    if st.session_state.pop("leaving", False):  # a page that was switched to with bound widgets cannot clear them
        st.button("leave", on_click=st.session_state.update, args=({"left": True},))
        return
    if st.session_state.pop("left", False):
        st.switch_page(one_page)
    link.parameters("head", "token")
    head = link.number("head", default=0, last=9)
    section = controls.bar("Section", ["a", "b"], "section", words={"a": "First", "b": "Second"}.__getitem__)
    on = st.toggle("on", key="on", bind=link.bind_switch("on"))
    if st.button("head 5"):
        link.assign("head", 5)
        link.publish()
    st.button("back", on_click=st.session_state.update, args=({"leaving": True},))
    st.session_state["seen"] = ("two", head, section, on, st.session_state["model"], st.session_state["text"])

one_page, two_page = st.Page(one, url_path="one", default=True), st.Page(two, url_path="two")
st.navigation([one_page, two_page]).run()
"""


@pytest.fixture
def app(tmp_path: Path) -> AppTest:
    path = tmp_path / "app.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return AppTest.from_file(str(path), default_timeout=20)


def go(app: AppTest, **given: str) -> tuple[object, ...]:
    app.session_state["given"] = given
    app.run()
    next(button for button in app.button if button.label == "go").click().run()
    assert not app.exception
    seen: tuple[object, ...] = app.session_state["seen"]
    return seen


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def back(app: AppTest) -> None:
    press(app, "back")
    press(app, "leave")


def test_held_parameters_and_widgets_follow_and_the_rest_goes_back_to_its_default(app: AppTest):
    assert go(app, head="3", section="Second")[:4] == ("two", 3, "b", False)
    press(app, "head 5")
    app.toggle(key="on").set_value(True).run()
    assert app.session_state["seen"][:4] == ("two", 5, "b", True)
    back(app)
    assert go(app, head="4")[:4] == ("two", 4, "a", False)
    back(app)
    assert go(app, section="b")[:4] == ("two", 0, "b", False)  # an option by its own name


def test_the_readers_model_and_text_come_back_with_the_reader(app: AppTest):
    assert go(app, model="mini-gpt", text="Once")[4:] == ("mini-gpt", "Once")
    back(app)
    assert app.session_state["seen"] == ("one", "minilm", "of minilm")


def test_a_model_that_is_not_in_the_list_is_not_taken(app: AppTest):
    assert go(app, model="evil/model", text="Once")[4] == "minilm"


def test_every_page_has_a_file():
    from inspector.sections.registry import PAGES
    from inspector.views.shell import pages

    assert all(file.is_file() for file in pages.FILES.values())
    assert {page.title for page in PAGES.values()} == set(PATHS)
