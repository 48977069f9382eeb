"""Side B of the sidebar's switches: the same text and the same head in the same model under other switches."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from inspector.views.scores.subject import Subject
from inspector.views.shell import available_models, session


def side_b(subject: Subject) -> Subject | None:
    """Record the text in side B, with the open head where it has one; None where no side B is set.

    Where the text cannot be read there, the page says why and goes on without.
    """
    chosen = available_models.side_b()
    trace = subject.trace
    if chosen is None or chosen == trace.model:
        return None
    try:
        seen = session.record(chosen, trace.text, text_pair=trace.text_pair, target=trace.target_text)
    except ValueError as error:
        st.caption(f"Side B is not shown: {error}.".replace("..", "."))
        return None
    sites = seen.trace.sites_of(subject.stream)
    if not sites:
        return None
    row = min(subject.row, len(sites) - 1)
    return replace(subject, inspected=seen, sites=sites, row=row, head=min(subject.head, sites[row].heads - 1))
