"""Clicks on components."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def test_a_click_on_a_component_that_left_the_page_says_nothing() -> None:
    def page() -> None:
        import streamlit as st

        from inspector.views.components.clicks import sent

        st.session_state["here"] = {"open": [1, 2]}
        st.text([sent("here", "open"), sent("here", "step"), sent("gone", "open")])

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == "[[1, 2], None, None]"
