"""Costs: what a model's attention costs against its FFN, of the sidebar's model or of sizes that a reader gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views import sections
from inspector.views.costs import whose
from inspector.views.shell import session
from inspector.wording import costs as words

if TYPE_CHECKING:
    from inspector.sections.section import Need
    from inspector.sections.subject import Subject


def of_sizes(need: Need | None) -> Subject | None:
    """Take the sidebar's model, or the sizes that the reader gives; None where there are none yet."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    with bar:
        source = whose.source()
    if source == "model":
        inspected = session.inspected()
        subject = session.subject(inspected.trace, session.at_hand(inspected, so=words.NO_COSTS))
        with bar:
            return whose.at_length(subject)
    given = whose.given(source)
    return None if given is None else replace(session.subject(None, None), given=given)


sections.show_page("costs", of_sizes)
