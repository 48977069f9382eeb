"""The page What if: a token hidden, each left out, a word swapped, heads dropped, and what follows from it."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import controls, link, stand_in
from inspector.views.what_if import drop, hide, leave_out, swap, token_choice
from inspector.wording import left_out as words

HIDE, LEAVE, SWAP, DROP = "Hide a token", words.LEAVE_EACH_OUT, "Swap a word", "Drop heads"
PARTS = {HIDE: hide.explorer, SWAP: swap.explorer, LEAVE: leave_out.explorer, DROP: drop.explorer}
GUESSES = ("mini-bert", "mini-bert-zh")  # the models of the catalogue that guess hidden tokens

# A model that guesses no words opens on what it does itself; a link that names a token has always meant its hiding.
first = HIDE if "token" in st.query_params or stand_in.can(lambda loaded: loaded.fills_masks) else SWAP
part = controls.bar(
    "What changes", list(PARTS), "part", default=first, on_change=lambda: token_choice.choose("ask", None)
)
# The masked tokens, the swapped word, the token that is predicted, the dropped heads, the open head.
names = ("token", "word", "ask", "drop", "mask_layer", "mask_call", "mask_head")
link.parameters(*names, *(leave_out.PARAMETERS if part == LEAVE else ()))
shown = stand_in.inspected(
    "guesses no hidden words", can=hide.can if part == HIDE else lambda loaded: True, instead=GUESSES
)
trace = shown.trace
if st.session_state.setdefault("changed_in", trace.tokens) != trace.tokens:
    for name in ("token", "word", "ask"):
        token_choice.choose(name, None)
st.session_state["changed_in"] = trace.tokens
PARTS[part](trace, shown.loaded)
