"""The page What if: a token hidden, each left out, a word swapped, heads dropped, texts patched, paths cut."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import controls, link, stand_in
from inspector.views.what_if import drop, hide, hosted, swap, token_choice
from inspector.wording import left_out, patching

HIDE, SWAP, DROP = "Hide a token", "Swap a word", "Drop heads"
HOSTED = {
    left_out.LEAVE_EACH_OUT: hosted.LEAVE_OUT,
    patching.TWO_TEXTS: hosted.TWO_TEXTS,
    patching.SCISSORS: hosted.SCISSORS,
}
PARTS = {
    HIDE: hide.explorer,
    SWAP: swap.explorer,
    left_out.LEAVE_EACH_OUT: hosted.explorer(hosted.LEAVE_OUT),
    DROP: drop.explorer,
    patching.TWO_TEXTS: hosted.explorer(hosted.TWO_TEXTS),
    patching.SCISSORS: hosted.explorer(hosted.SCISSORS),
}
GUESSES = ("mini-bert", "mini-bert-zh")  # the models of the catalogue that guess hidden tokens

# A model that guesses no words opens on what it does itself; a link that names a token has always meant its hiding.
first = HIDE if "token" in st.query_params or stand_in.can(lambda loaded: loaded.fills_masks) else SWAP
part = controls.bar(
    "What changes", list(PARTS), "part", default=first, on_change=lambda: token_choice.choose("ask", None)
)
# The masked tokens, the swapped word, the token that is predicted, the dropped heads, the open head.
names = ("token", "word", "ask", "drop", "mask_layer", "mask_call", "mask_head")
link.parameters(*names, *(hosted.PARAMETERS[HOSTED[part]] if part in HOSTED else ()))
needs = hosted.need(HOSTED[part]) if part in HOSTED else None
if needs is not None:
    shown = stand_in.inspected(needs.cannot, can=needs.can, instead=needs.instead)
else:
    shown = stand_in.inspected(
        "guesses no hidden words", can=hide.can if part == HIDE else lambda loaded: True, instead=GUESSES
    )
trace = shown.trace
if st.session_state.setdefault("changed_in", trace.tokens) != trace.tokens:
    for name in ("token", "word", "ask"):
        token_choice.choose(name, None)
st.session_state["changed_in"] = trace.tokens
PARTS[part](trace, shown.loaded)
