"""The popover Options over maps that stand beside each other: what the reader changes of all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from inspector.plots.theme import Scale
from inspector.views.shell import controls, link
from inspector.wording import maps as words


@dataclass(frozen=True)
class MapOptions:
    """Options of all maps. merge: pieces of a word are one token. own_scale: each map has a scale of its own.

    lines: from queries to keys, drawn under each map.
    """

    hide: bool
    merge: bool
    scale: Scale
    own_scale: bool
    lines: bool


def choose(*, scales: bool = False, before: Callable[[], None] = lambda: None) -> MapOptions:
    """Draw the popover.

    scales: the reader chooses whether the maps share one colour scale. before: draws what the page adds to it.
    """
    with st.popover("Options", icon=":material/tune:"):
        before()
        hide = st.toggle("Hide special tokens", key="hide", bind=link.bind_switch("hide"), help=words.HIDE_HELP)
        merge = st.toggle("Merge word pieces", key="words", bind=link.bind_switch("words"))
        scale = controls.colour_scale(long=False)
        own_scale = scales and st.toggle(
            "Own colour scale each", key="own_scale", bind=link.bind_switch("own_scale"), help=words.OWN_SCALE_HELP
        )
        lines = st.toggle("Lines under the maps", key="with_lines", bind=link.bind_switch("with_lines"))
    return MapOptions(hide, merge, scale, own_scale, lines)
