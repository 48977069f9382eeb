"""Notes on a recorded text: in the sidebar its length and how exact it is, over the picture what a reader must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import available_models, loaded_models, overview, variants
from inspector.wording import exactness as english_badge
from inspector.wording import switches as english
from inspector.wording.reader import exactness as badge_words
from inspector.wording.reader import shell as shell_words
from inspector.wording.reader import switches as words
from models.formatting import format_bytes

if TYPE_CHECKING:
    from inspector.self_checks import Exactness
    from inspector.trace import Trace
    from inspector.views.shell.session import Inspected


def draw(chosen: Inspected, checked: Exactness, *, stands_in: bool) -> None:
    """Write the sidebar's notes, with the button for the check that waits on a long text.

    What few readers ask for, how the model is run and what was compared, opens with the marks behind length and badge.
    stands_in: another model than the chosen one read the text, and is named.
    """
    trace, tokens = chosen.trace, len(chosen.trace.tokens)
    limit, about = "", badge_words.recording(size=format_bytes(trace.nbytes))
    if chosen.model is not None:
        limit = badge_words.at_most(loaded_models.tokens_allowed(chosen.model))
        facts, redrawn = loaded_models.facts(chosen.model), _redrawn(chosen.model)
        known = facts.card.trained
        share = "" if redrawn is None else badge_words.weights(words.weights(trained=known, redrawn=redrawn))
        about += f"{shell_words.SPACE}{badge_words.placed(seen=facts.how_recorded, where=facts.placed, share=share)}"
    reader = plain(available_models.name_in_frame(trace.model)) if stands_in else ""
    st.caption(badge_words.recorded(tokens=tokens, limit=limit, reader=reader), help=about)
    if sign := looks_untrained(trace):
        _looks_untrained(sign)
    title, compared = badge_words.title(checked), badge_words.caption(checked)
    exact = checked.holds and checked.second is not None
    details = badge_words.details(checked)
    help = f"{compared}\n\n{details}" if exact else details
    if not checked.holds:
        st.badge(title, icon=":material/warning:", color="red", help=help)
    elif checked.second is None:
        st.badge(title, icon=":material/pending:", color="gray", help=help)
    else:
        st.badge(title, icon=":material/verified:", color="green", help=help)
    if not exact:
        st.caption(compared)
    if checked.second is None and checked.not_held == english_badge.LONG:
        st.button(badge_words.RUN_AGAIN, on_click=_ask_for_check, args=(trace.key,), key="independent check")


def warn(trace: Trace, *, weights: bool) -> None:
    """Say over the picture what a reader must know of it: what was cut or is unknown, and what the weights are.

    weights: False where the page says at each map what its model's weights are.
    """
    from inspector import self_checks  # with torch, which is there by now

    sentences = [] if trace.cut is None else [plain(badge_words.cut(trace.cut))]
    if trace.unknown:
        sentences.append(badge_words.unknown_tokens(trace.unknown, of=len(trace.tokens)))
    if trace.to_padding > self_checks.row_sum_tolerance(trace):
        sentences.append(badge_words.leaks(trace.to_padding))
    changed = variants.is_variant(trace.model)
    if weights and not changed and not available_models.trained(trace.model):
        sentences.append(shell_words.UNTRAINED_AT_PICTURE)
    if weights and (sign := looks_untrained(trace)):
        sentences.append(f"{shell_words.LOOKS_UNTRAINED}{shell_words.STOP_MARK}{sign}")
    if sentences:
        st.warning(shell_words.SPACE.join(sentences), icon=":material/warning:")
    if weights and changed:
        badge(trace.model)


def untrained() -> None:
    """Say that the model's weights are random, wherever such a model is shown."""
    st.badge(shell_words.UNTRAINED, icon=":material/casino:", color="orange", help=shell_words.UNTRAINED_HELP)


def looks_untrained(trace: Trace) -> str:
    """Say by what a model that is not known to be random looks as if it were; "" where nothing tells so."""
    from inspector import chance  # with torch, which is there by now

    if variants.is_variant(trace.model) or not available_models.trained(trace.model):
        return ""
    if chance.norms_as_drawn(trace):
        return shell_words.NORMS_AS_DRAWN
    return shell_words.HEADS_BY_CHANCE if overview.of(trace).looks_untrained else ""


def _looks_untrained(sign: str) -> None:
    st.badge(shell_words.LOOKS_UNTRAINED, icon=":material/casino:", color="orange", help=sign)


def badge(id: str, trace: Trace | None = None) -> None:
    """Say at a picture what the weights of its model are, unless they are as they were trained.

    trace: of the text that the picture shows, for what its heads look like.
    """
    if not variants.is_variant(id):
        if not available_models.trained(id):
            untrained()
        elif trace is not None and (sign := looks_untrained(trace)):
            _looks_untrained(sign)
        return
    changes, trained, redrawn = variants.changes(id), available_models.trained(id), _redrawn(id)
    kept = words.weights(trained=trained, redrawn=redrawn).capitalize()
    then = shell_words.THEN_CHANGED if trained and not redrawn else ""  # else it would read as learned with the change
    named = f"{kept}{then}{shell_words.COLON}{words.changes(changes, most=4)}"
    about = words.variant(changes, seed=variants.seed(id), trained=trained, redrawn=redrawn)
    if variants.takes_statistics(id):
        named += shell_words.WITH_NEW_STATISTICS
        about += shell_words.SPACE + shell_words.NEW_STATISTICS
    icon = ":material/tune:" if trained else ":material/casino:"
    st.badge(plain(named), icon=icon, color="orange" if redrawn or not trained else "blue", help=about)


def weights(id: str) -> str:
    """Name the weights of a model for a picture's title: ", untrained", ", trained, 15.7 % redrawn", or ""."""
    trained, redrawn = available_models.trained(id), _redrawn(id)
    return "" if trained and not redrawn else f", {english.weights(trained=trained, redrawn=redrawn)}"


def _redrawn(id: str) -> float | None:
    """Return the share of a variant's weights that was drawn anew; None for a model as it is, or one not at hand."""
    if not variants.is_variant(id) or id not in available_models.ids():
        return None
    return loaded_models.facts(id).card.redrawn


def independent_check_asked(trace: Trace) -> bool:
    """Return True if the reader asked for the independent check of this long text."""
    return bool(st.session_state.get("independently") == trace.key)


def _ask_for_check(key: str) -> None:
    st.session_state["independently"] = key
