"""Clicks on components."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from inspector.views.components.head import Step


def test_a_click_on_a_component_that_left_the_page_says_nothing() -> None:
    def page() -> None:
        import streamlit as st

        from inspector.views.components.clicks import sent

        st.session_state["here"] = {"open": [1, 2]}
        st.text([sent("here", "open"), sent("here", "step"), sent("gone", "open")])

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == "[[1, 2], None, None]"


def test_an_event_is_read_and_passed_on_and_what_is_unknown_is_ignored() -> None:
    def page() -> None:
        import streamlit as st

        from inspector.views.components.clicks import reporter

        def read(value: object) -> int | None:
            return value if isinstance(value, int) else None

        events: list[int] = []
        for sent in (3, 0, "<script>", None):
            st.session_state["here"] = {"open": sent}
            reporter("here", "open", read, events.append)()
        reporter("gone", "open", read, events.append)()
        reporter("here", "open", read, None)()
        st.text(events)

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == "[3, 0]"


def test_a_step_leads_over_the_ends_of_the_rows() -> None:
    assert Step(1).leads_to(0, 11, rows=6, heads=12) == (1, 0)
    assert Step(-1).leads_to(0, 0, rows=6, heads=12) == (5, 11)
    assert Step(1).leads_to(5, 11, rows=6, heads=12) == (0, 0)
