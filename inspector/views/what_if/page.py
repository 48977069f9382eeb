"""The page What if: a token hidden, a word swapped, heads dropped; map, hidden state, prediction before and after."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import link, session
from inspector.views.what_if import drop, hide, swap, token_choice

PARTS = {
    "Hide a token": hide.explorer,
    "Swap a word": swap.explorer,
    "Drop heads": drop.explorer,
}

# The masked tokens, the swapped word, the token that is predicted, the dropped heads, the open head.
link.parameters("token", "word", "ask", "drop", "mask_layer", "mask_call", "mask_head")
inspected = session.inspected()
loaded = session.at_hand(
    inspected, so="it cannot be run again. Remove the file in the sidebar and choose a model to change its text"
)
trace = inspected.trace
if st.session_state.setdefault("changed_in", trace.tokens) != trace.tokens:
    for name in ("token", "word", "ask"):
        token_choice.choose(name, None)
st.session_state["changed_in"] = trace.tokens

names = list(PARTS)
part = st.segmented_control(
    "What changes",
    names,
    default=names[0],
    key="part",
    bind=link.bind_choice("part", default=names[0], options=names),
    required=True,
    label_visibility="collapsed",
    on_change=lambda: token_choice.choose("ask", None),
)
PARTS[part](trace, loaded)
