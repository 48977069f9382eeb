"""Compare: two to four maps beside each other, what differs, and which heads are alike."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from inspector import alignment
from inspector.plots import theme
from inspector.views.compare import difference, head_distances, panels
from inspector.views.shell import link, session

link.parameters("panels")
inspected = session.inspected(in_panels=True)
opened = panels.opened_elsewhere(inspected)
names = panels.names()

with st.container(horizontal=True, vertical_alignment="bottom"):
    hide = st.toggle(
        "Hide special tokens", key="hide", bind=link.bind_switch("hide"), help="Rows then sum to what is left."
    )
    words = st.toggle("Merge word pieces", key="words", bind=link.bind_switch("words"))
    scale: theme.Scale = (
        "sqrt" if st.toggle("Square-root colour", key="sqrt", bind=link.bind_switch("sqrt")) else "linear"
    )
    own = st.toggle(
        "Own colour scale each", key="own_scale", bind=link.bind_switch("own_scale"), help="Else one for all panels."
    )
panels.presets(inspected, names, opened=opened)

places = [place for _ in range(0, len(names), 2) for place in st.columns(2, gap="medium")]
shown = []
for name, place in zip(names, places, strict=False):
    with place:
        panel = panels.controls(name, names, inspected, opened=opened, hide=hide, words=words)
        if panel is not None:
            shown.append(panel)
if len(shown) < len(names):
    st.stop()

numbers = list(
    zip(
        alignment.numbers([panel.axes[0] for panel in shown]),
        alignment.numbers([panel.axes[1] for panel in shown]),
        strict=True,
    )
)
top = max(panel.top for panel in shown)
for panel, linked, place in zip(shown, numbers, places, strict=False):
    with place:
        panels.draw(panel, top=panel.top if own else top, scale=scale, numbers=linked)
reach = "each from 0 to its own largest weight" if own else f"all from 0 to {theme.number(top)}, the largest weight"
st.caption(
    f"{panels.formula(shown)} Row = query, column = key, no unit; {reach}. What you point at in one panel "
    "lights up in the others."
)
if any(panel.is_long for panel in shown):
    st.caption(panels.LONG)

difference.section(shown, numbers)
head_distances.section(shown, scale=scale)
st.page_link(
    Path(__file__).parents[1] / "what_if" / "page.py",
    label="One text before and after a change: see What if",
    icon=":material/alt_route:",
)
