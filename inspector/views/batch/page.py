"""Batch: several texts at once, padded, packed or one by one, and what that does to every number."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from inspector.views.batch import changed, cost, fills, packed, seen, subject
from inspector.views.shell import link, session, widgets

SECTIONS = {
    "seen": "What each token sees",
    "fills": "Where a mask leaks",
    "packed": "Packed texts",
    "change": "One token changed",
    "cost": "Time and memory",
}
SHOW = {"seen": seen.show, "fills": fills.show, "packed": packed.show, "change": changed.show, "cost": cost.show}

link.parameters()
inspected = session.inspected()
place = st.container()
section = widgets.bar("What to see of the batch", list(SECTIONS), "section", words=SECTIONS.__getitem__)
left, right = st.columns([1, 3], gap="medium")
texts = subject.chosen(inspected, left)
try:
    SHOW[section](texts, said=place, left=left, right=right)
except ValueError as error:
    with right:
        said = f"{error}.".replace("..", ".")
        session.show_problem(f"{said[0].upper()}{said[1:]}")
st.page_link(
    Path(__file__).parents[1] / "layernorm" / "page.py",
    label="What padding does to a BatchNorm: see LayerNorm",
    icon=":material/equalizer:",
    query_params={"section": "Another norm"},
)
link.publish()
