"""The meanings of the terms in the page's sentences, shown below a term that the reader clicks. Draws nothing else."""

from __future__ import annotations

from inspector.views.components import files

ADDRESS = "#term"
"""The address of a link in the page's Markdown that is a term; its title is the meaning."""

_mount = files.declared("terms")


def watch() -> None:
    """Follow the terms of all sentences of the page."""
    _mount(key="terms", data={"address": ADDRESS}, height=1)
