"""Every kind of widget in the link: any value is taken, or falls back to the default with a word; and late clicks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import inspector
from tests.inspector.views.hostile import VALUES

BOUND = {"whole": 2, "decimal": 0.5, "one": "b", "labelled": "b", "listed": "b", "slid": "b", "some": [1], "on": False}


def every_widget() -> None:
    """A page with a widget of each kind that stands in the link."""
    import streamlit as st

    from inspector.views.shell import controls as parts
    from inspector.views.shell import link

    link.read("", known_models=["minilm"], default_model="minilm", default_text=lambda model: f"of {model}")
    names, titles = ["a", "b"], {"a": "First (a)", "b": "Second"}
    shown = {
        "whole": parts.number("whole", "whole", default=2, first=1, last=9),
        "decimal": parts.decimal("decimal", "decimal", default=0.5, first=0.05, last=5.0),
        "one": st.segmented_control(
            "one",
            names,
            default="b",
            key="one",
            required=True,
            bind=link.bind_choice("one", default="b", options=names),
        ),
        "labelled": st.segmented_control(
            "labelled",
            names,
            default="b",
            format_func=titles.__getitem__,
            key="labelled",
            required=True,
            bind=link.bind_choice("labelled", default="b", options=names, label=titles.__getitem__),
        ),
        "listed": st.selectbox(
            "listed", names, 1, key="listed", bind=link.bind_choice("listed", default="b", options=names)
        ),
        "slid": st.select_slider(
            "slid", names, "b", key="slid", bind=link.bind_choice("slid", default="b", options=names)
        ),
        "some": st.multiselect(
            "some", range(3), [1], key="some", bind=link.bind_several("some", options=range(3), default=[1])
        ),
        "on": st.toggle("on", key="on", bind=link.bind_switch("on")),
        "line": st.text_input(
            "line", "x", key="line", max_chars=60, bind=link.bind_words("line", default="x", most=60)
        ),
    }
    st.session_state["shown"] = shown
    link.show_problems()


def widgets(**link: object) -> AppTest:
    app = AppTest.from_function(every_widget, default_timeout=20)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_any_value_of_any_widget_falls_back_with_a_word(value: str) -> None:
    app = widgets(**dict.fromkeys([*BOUND, "line"], value))
    assert not app.exception
    shown = app.session_state["shown"]
    told = {match[1] for warning in app.warning if (match := re.match(r"The link asks for (\w+) ", warning.value))}
    for name, default in BOUND.items():
        kept = str(shown[name][0] if isinstance(shown[name], list) and shown[name] else shown[name])
        if name in told:
            assert shown[name] == default
        else:  # what the link asks for is what is shown
            assert float(value) == shown[name] if name in ("whole", "decimal") else kept.lower() == value.lower()
    assert ("line" in told) == (len(value) > 60)


def test_a_widget_is_in_the_link_again_after_a_value_that_does_not_fit() -> None:
    app = widgets(whole="1e309", one="", on="maybe", some="7")
    assert len(app.warning) == 4
    assert not set(app.query_params) & set(BOUND)
    app.number_input(key="whole").set_value(5).run()
    app.toggle(key="on").set_value(True).run()
    app.segmented_control(key="one").set_value("a").run()
    shown = app.session_state["shown"]
    assert (shown["whole"], shown["on"], shown["one"]) == (5, True, "a")


def test_a_link_as_long_as_streamlit_reads() -> None:
    app = widgets(one="x" * 300_000, whole="9" * 200_000)
    assert len(app.warning) == 2
    assert all(len(warning.value) < 200 for warning in app.warning)


def test_a_choice_taken_back_is_the_default() -> None:
    app = widgets(one="a")
    assert app.session_state["shown"]["one"] == "a"
    app.session_state["one"] = None  # what a browser sends of a segmented control without a choice
    app.run()
    assert app.session_state["shown"]["one"] == "b"


@pytest.mark.parametrize("name", ["one", "listed", "slid", "whole", "on"])
def test_a_parameter_said_twice_falls_back(name: str) -> None:
    app = widgets(**{name: ["a", "b"] if name in ("one", "listed", "slid") else ["3", "4"]})
    assert len(app.warning) == 1
    assert " and " in app.warning[0].value
    assert app.session_state["shown"][name] == BOUND[name]


def test_every_widget_in_the_link_is_checked_first() -> None:
    """No page writes bind="query-params" itself; link.py alone says whether a widget is bound."""
    views = Path(inspector.__file__).parent / "views"
    bound = {path.name for path in views.rglob("*.py") if "query-params" in path.read_text(encoding="utf-8")}
    assert bound == {"link.py"}


def late_click() -> None:
    """A page without numbers of its own in the link, and a click of the page that was left."""
    import streamlit as st

    from inspector.views.shell import link

    link.read("layernorm", known_models=["minilm"], default_model="minilm", default_text=lambda model: f"of {model}")

    def moved() -> None:
        link.assign("step", 3)
        link.publish()

    st.button("Later", on_click=moved)


def test_a_click_that_comes_after_its_page_was_left_changes_no_address() -> None:
    app = AppTest.from_function(late_click).run()
    app.button[0].click().run()
    assert not app.exception
    assert "step" not in app.query_params
