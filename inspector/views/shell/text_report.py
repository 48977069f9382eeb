"""The report of the reader's text: a button in the sidebar writes it, with Stop and in turn; then the file is there."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.sections.subject import Subject
from inspector.views.shell import downloads, progress
from inspector.wording import report as words

_WRITTEN = "report"  # in the session: what the file is of, and the file


def draw(recording: str, subject: Callable[[], Subject]) -> None:
    """Draw the button, or the file once it is written. recording: the key of the trace; subject: the trace's."""
    known, file = st.session_state.get(_WRITTEN, ("", b""))
    if known == recording:
        downloads.button("report.html", lambda: file, words.WRITE_HINT, label=words.SAVE)
        return
    place = st.container()
    if place.button(
        words.WRITE,
        icon=":material/summarize:",
        help=words.WRITE_HINT,
        type="tertiary",
        key="write report",
    ):
        st.session_state[_WRITTEN] = recording, _written(subject()).encode()
        st.rerun()


def _written(subject: Subject) -> str:
    """Write the report; the bar that shows how far it is has the Stop button, and nothing of a stopped one is kept."""
    from inspector.export.text_report import html_report  # it draws with what a page without a report never needs

    bar = progress.Bar(stop="stop report", holds=False)

    def on_progress(done: int, sections: int) -> None:
        bar.draw(done, sections, words.writing(done, sections), now=done == 0)

    with bar.turn(words.WRITING):
        return html_report(subject.trace, loaded=subject.loaded, on_progress=on_progress, subject=subject)
