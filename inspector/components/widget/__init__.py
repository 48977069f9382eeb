"""The component of a notebook's cell: grid and open head, which speak with Python through an anywidget.

Python holds no more of it than three texts: `LOADER` is what the notebook gets as a module, `code()` the components'
JavaScript, packed by gzip, which the loader unpacks in the browser, and `css()`.
"""

from __future__ import annotations

import gzip
from functools import cache

from inspector.components.source import COMPONENTS, script, style
from inspector.plots import theme

LOADER = COMPONENTS / "widget" / "loader.js"


def packed(content: bytes) -> bytes:
    """Compress what the loader unpacks; equal contents give equal bytes."""
    return gzip.compress(content, mtime=0)


@cache
def code() -> bytes:
    """Return the JavaScript of the widget, packed."""
    return packed(script("widget").encode())


@cache
def css() -> str:
    """Return the styles, with the theme's own colours where a notebook has none of its kind."""
    own = [
        f'.hl-widget[data-mode="{mode}"] {{ --st-primary-color: {theme.PRIMARY[mode]}; '
        f"--st-border-color: {theme.GRID[mode]}; }}"
        for mode in theme.PRIMARY
    ]
    return "\n".join([style("grid", "head", "widget"), *own])
