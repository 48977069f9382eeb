"""The report of the reader's text: a button in the sidebar writes it, with Stop and in turn; then the file is there.

The cuts that the reader kept on the page What if stand in it.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.sections.subject import Subject
from inspector.views.shell import downloads, link, progress
from inspector.wording.reader import shell as words

_WRITTEN = "report"  # in the session: what the file is of, and the file


def draw(recording: str, subject: Callable[[], Subject]) -> None:
    """Draw the button, or the file once it is written. recording: the key of the trace; subject: the trace's."""
    cuts = _kept_cuts()
    known, file = st.session_state.get(_WRITTEN, ((), b""))
    if known == (recording, cuts):
        downloads.button("report.html", lambda: file, words.REPORT_HELP, label=words.SAVE_REPORT)
        return
    place = st.container()
    if place.button(
        words.WRITE_REPORT,
        icon=":material/summarize:",
        help=words.REPORT_HELP,
        type="tertiary",
        key="write report",
    ):
        st.session_state[_WRITTEN] = (recording, cuts), _written(subject(), cuts).encode()
        st.rerun()


def _kept_cuts() -> dict[str, str]:
    """Return the kept cuts and what they were measured by, by the ids of choices; nothing where none is kept."""
    if not (cuts := link.held("cuts")):
        return {}
    measured = {name: st.session_state.get(name, "") for name in ("answer", "against", "instead")}
    return {"cuts": str(cuts), **measured}


def _written(subject: Subject, cuts: dict[str, str]) -> str:
    """Write the report; the bar that shows how far it is has the Stop button, and nothing of a stopped one is kept."""
    from inspector.export.text_report import html_report  # it draws with what a page without a report never needs

    bar = progress.Bar(stop="stop report", holds=False)

    def on_progress(done: int, sections: int) -> None:
        bar.draw(done, sections, words.writing_report(done=done, sections=sections), now=done == 0)

    chosen = {"scores/scissors": cuts} if cuts else None
    with bar.turn("Writing the report"):
        return html_report(
            subject.trace, loaded=subject.loaded, on_progress=on_progress, subject=subject, chosen=chosen
        )
