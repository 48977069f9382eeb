"""The page's top: where another view takes the place of a longer one, the window begins above it again.

Streamlit keeps the place to which a reader scrolled, which in a shorter view is its end. Nothing is drawn.
"""

from __future__ import annotations

import streamlit as st

_SCROLL = """
let last;
export default ({ data }) => {
  if (last !== undefined && last !== data.view) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  last = data.view;
};
"""

_mount = st.components.v2.component("headlight_top", js=_SCROLL)


def at_top_of(view: str) -> None:
    """Scroll to the top where `view` is another one than in the run before."""
    _mount(key="top", data={"view": view}, height=1)
