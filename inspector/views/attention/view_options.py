"""The popover Options: what the reader changes of every map at once, each kept in the link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from inspector import maps
from inspector.views.shell import caching, controls, link
from inspector.wording import attention as wording

if TYPE_CHECKING:
    from inspector.plots.theme import Scale
    from inspector.trace import Trace


@dataclass(frozen=True)
class ViewOptions:
    """Switches for what is hidden, merged and renormalised, and the scale of the colours."""

    hide: bool
    renormalise: bool
    words: bool
    scale: Scale

    def arrange(self, trace: Trace, *, stream: str) -> maps.Arrangement:
        """The tokens in sight of a map of weights, arranged once; ValueError where none is left."""

        def make() -> maps.Arrangement:
            return maps.arrange(
                trace, stream=stream, hide_special=self.hide, merge_words=self.words, renormalise=self.renormalise
            )

        return caching.cached((trace.key, "arranged", stream, self.hide, self.words, self.renormalise), make)

    def alone(self, trace: Trace, *, stream: str) -> maps.Arrangement:
        """Arrange each token alone, with no row renormalised: scores and norms are no shares to add up."""
        return maps.arrange(trace, stream=stream, hide_special=self.hide)


def choose(*, long: bool, sums: bool = True) -> ViewOptions:
    """Draw the popover; long: the text's weights are small, so that the square root is the scale to start with.

    sums: rows sum to 1, so that they can be divided by what is left of them.
    """
    with st.popover("Options", icon=":material/tune:", key="options"):
        hide = st.toggle("Hide special tokens", key="hide", bind=link.bind_switch("hide"))
        renormalise = sums and st.toggle(
            "Renormalise",
            key="renormalise",
            bind=link.bind_switch("renormalise"),
            disabled=not hide,
            help=wording.RENORMALISE_HELP,
        )
        words = st.toggle("Merge word pieces", key="words", bind=link.bind_switch("words"))
        return ViewOptions(hide, renormalise, words, controls.colour_scale(long=long))
