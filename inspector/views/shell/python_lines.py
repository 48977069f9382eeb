"""Python lines that a reader can copy, after which the page's numbers are there without the page."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import available_models, variants


def show(lines: str) -> None:
    """Draw Python lines to copy: wrapped, for what scrolls has no focus, and in one colour, for the blue has 3.7:1.

    Where they load a model whose BatchNorm has the statistics of the sidebar's text, the text is given.
    """
    for id in filter(variants.takes_statistics, available_models.ids()):
        lines = lines.replace(f"models.load({id!r})", f"models.load({id!r}, batch={list(variants.batch())!r})")
    st.code(lines, language=None, wrap_lines=True)
