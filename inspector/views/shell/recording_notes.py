"""Notes on a recorded text: in the sidebar its length and how exact it is, over the picture what a reader must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import available_models, widgets
from inspector.wording.english import switches as words
from models.formatting import format_bytes

if TYPE_CHECKING:
    from inspector.exactness import Exactness
    from inspector.trace import Trace
    from inspector.views.shell.session import Inspected

NOT_ASKED = "on a long text that takes as long as to read it, so it waits until it is asked for"


def draw(chosen: Inspected, checked: Exactness) -> None:
    """Write the sidebar's notes, with the button for the check that waits on a long text."""
    trace, tokens = chosen.trace, len(chosen.trace.tokens)
    limit = "" if chosen.model is None else f" of at most {available_models.tokens_allowed(chosen.model)}"
    st.caption(f"{tokens} tokens{limit}, special ones included; the recording takes {format_bytes(trace.nbytes)}")
    if chosen.model is not None:
        facts, redrawn = available_models.facts(chosen.model), _redrawn(chosen.model)
        share = "" if redrawn is None else f", {words.weights(trained=facts.card.trained, redrawn=redrawn)}"
        st.caption(f"{facts.seen} Its weights: {facts.placed}{share}.")
    waits = checked.hidden_difference is None and checked.unchecked == NOT_ASKED
    if not checked.holds:
        st.badge("Not exact on this text", icon=":material/warning:", color="red", help=str(checked))
    elif checked.hidden_difference is None:
        st.badge("Self-checks passed", icon=":material/check:", color="blue", help=str(checked))
    else:
        within = f"within {checked.hidden_difference:.1e}"
        st.badge(f"Exact on this text, {within}", icon=":material/verified:", color="green", help=str(checked))
        st.caption(
            "The last hidden states differ by no more than this from a second run's, with other code for attention."
        )
    if waits:
        st.caption("Not yet run a second time in torch's fused attention, which shares no code with what you see.")
        st.button("Run the independent check", on_click=_ask_for_check, args=(trace.key,), key="independent check")


def warn(trace: Trace, *, weights: bool) -> None:
    """Say over the picture what a reader must know of it: what was cut or is unknown, and what the weights are.

    weights: False where the page says at each map what its model's weights are.
    """
    from inspector import exactness  # with torch, which is there by now

    sentences = [] if trace.cut is None else [str(trace.cut)]
    if trace.unknown:
        sentences.append(unknown_in_words(trace.unknown, of=len(trace.tokens)))
    if trace.to_padding > exactness.row_sum_tolerance(trace):
        said = exactness.leak_in_words(trace.to_padding)
        sentences.append(f"{said[0].upper()}{said[1:]}.")
    changed = available_models.is_variant(trace.model)
    if weights and not changed and not available_models.trained(trace.model):
        sentences.append("Untrained: this model's weights are random, so what it shows means nothing.")
    if sentences:
        st.warning(" ".join(sentences), icon=":material/warning:")
    if weights and changed:
        badge(trace.model)


def badge(id: str) -> None:
    """Say at a picture what the weights of its model are, unless they are as they were trained."""
    if not available_models.is_variant(id):
        if not available_models.trained(id):
            widgets.untrained()
        return
    changes, trained, redrawn = available_models.changes(id), available_models.trained(id), _redrawn(id)
    kept = words.weights(trained=trained, redrawn=redrawn).capitalize()
    then = ", then changed" if trained and not redrawn else ""  # else it would read as learned with the change
    named = f"{kept}{then}: {words.changes(changes, most=4)}"
    about = words.variant(changes, seed=available_models.seed(id), trained=trained, redrawn=redrawn)
    if available_models.takes_statistics(id):
        named += ", with your text's statistics"
        about += (
            " The mean and variance of its BatchNorm are those of the sidebar's text, taken in one pass: another text "
            "is another model."
        )
    icon = ":material/tune:" if trained else ":material/casino:"
    st.badge(widgets.plain(named), icon=icon, color="orange" if redrawn or not trained else "blue", help=about)


def weights(id: str) -> str:
    """Name the weights of a model for a picture's title: ", untrained", ", trained, 15.7 % redrawn", or ""."""
    trained, redrawn = available_models.trained(id), _redrawn(id)
    return "" if trained and not redrawn else f", {words.weights(trained=trained, redrawn=redrawn)}"


def _redrawn(id: str) -> float | None:
    """Return the share of a variant's weights that was drawn anew; None for a model as it is, or one not at hand."""
    if not available_models.is_variant(id) or id not in available_models.ids():
        return None
    return available_models.facts(id).card.redrawn


def unknown_in_words(unknown: int, *, of: int) -> str:
    """Say how many of a text's tokens a model does not know."""
    verb, them = ("is", "it") if unknown == 1 else ("are", "them")
    return f"{unknown} of {of} tokens {verb} unknown to this model, which reads one and the same mark for {them}."


def independent_check_asked(trace: Trace) -> bool:
    """Return True if the reader asked for the independent check of this long text."""
    return bool(st.session_state.get("independently") == trace.key)


def _ask_for_check(key: str) -> None:
    st.session_state["independently"] = key
