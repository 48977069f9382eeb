"""The page What if: a token hidden, a word swapped, heads dropped; map, hidden state, prediction before and after."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import controls, link, stand_in
from inspector.views.what_if import drop, hide, swap, token_choice

HIDE, SWAP, DROP = "Hide a token", "Swap a word", "Drop heads"
PARTS = {HIDE: hide.explorer, SWAP: swap.explorer, DROP: drop.explorer}
GUESSES = ("mini-bert", "mini-bert-zh")  # the models of the catalogue that guess hidden tokens

# The masked tokens, the swapped word, the token that is predicted, the dropped heads, the open head.
link.parameters("token", "word", "ask", "drop", "mask_layer", "mask_call", "mask_head")
part = controls.bar("What changes", list(PARTS), "part", on_change=lambda: token_choice.choose("ask", None))
shown = stand_in.inspected(
    "guesses no hidden words", can=hide.can if part == HIDE else lambda loaded: True, instead=GUESSES
)
trace = shown.trace
if st.session_state.setdefault("changed_in", trace.tokens) != trace.tokens:
    for name in ("token", "word", "ask"):
        token_choice.choose(name, None)
st.session_state["changed_in"] = trace.tokens
PARTS[part](trace, shown.loaded)
