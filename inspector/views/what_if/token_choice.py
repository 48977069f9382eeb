"""Tokens of the text to click: one or several, alone or with all pieces of their word, kept in the link."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import streamlit as st

from inspector import interventions
from inspector.views.shell import controls, link
from inspector.views.what_if import before_after
from models.tokenizers import Encoding


def choose(name: str, positions: tuple[int, ...] | None) -> None:
    """Choose these tokens and open the head that the choice changes most."""
    link.assign(name, positions)
    before_after.open_head(None, None)


def chosen(
    encoding: Encoding,
    *,
    name: str,
    key: str,
    default: int,
    label: str = "Tokens",
    behind: Callable[[str, int], str] | None = None,
    whole: bool = True,
    several: bool = False,
    without: range = range(0),
) -> tuple[int, ...]:
    """A row of chips; the positions that are chosen, at least one.

    name: in the link. behind: writes a button for the token and its position, which opens the chips; None: they stand
    open. whole: all pieces of a word go together. several: a click adds. without: positions not offered.
    """
    allowed = [position for position in interventions.maskable(encoding) if position not in without]
    asked = link.several(name, default=(default,), allowed=allowed)
    places = interventions.whole_words(encoding, asked) if whole else asked
    if st.session_state.get(key) != list(places):
        st.session_state[key] = list(places)
    tokens = {position: encoding.tokens[position] for position in allowed}
    click = partial(_click, encoding, places, name=name, key=key, whole=whole, several=several)
    with nullcontext() if behind is None else st.popover(behind(tokens[places[0]], places[0])):
        controls.token_chips(tokens, key=key, on_change=click, label=label)
    return places


def _click(encoding: Encoding, before: tuple[int, ...], *, name: str, key: str, whole: bool, several: bool) -> None:
    """A chip was clicked: it is chosen alone or with the others, or no more, with its word; one stays chosen."""
    now = set(st.session_state[key])
    added, removed = now - set(before), set(before) - now
    if added:
        choose(name, tuple(sorted(now if several else added)))
    else:
        gone = set(interventions.whole_words(encoding, removed)) if whole else removed
        choose(name, tuple(sorted(set(before) - gone)) or before)
