"""The page's top: where another view takes the place of a longer one, the window begins above it again.

Streamlit keeps the place to which a reader scrolled, which in a shorter view is its end. Nothing is drawn.
"""

from __future__ import annotations

from inspector.views.components import files

_SCROLL = """
let last;
const mount = ({ data }) => {
  if (last !== undefined && last !== data.view) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  last = data.view;
};
"""

_mount = files.declared("top", _SCROLL)


def at_top_of(view: str) -> None:
    """Scroll to the top where `view` is another one than in the run before."""
    _mount(key="top", data={"view": view}, height=1)
