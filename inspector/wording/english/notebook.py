"""Words of a notebook's cell."""

from __future__ import annotations

UNANSWERED = "Python did not send this head: no kernel runs behind the notebook, or it is busy. Run the cell again."
NO_ANYWIDGET = (
    "a live view needs the package anywidget, which is not installed: pip install anywidget, or leave live= out"
)


def alt(model: str, title: str) -> str:
    """Say what the picture is that a saved notebook keeps; title: of the head."""
    return f"Attention of {model}, {title}: each query's weights on the keys"
