"""Events from a component in the browser, as long as the component is still in the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

Event = TypeVar("Event")


def sent(key: str, name: str) -> object:
    """Return the value that the component `key` sent last under `name`.

    None where it sent nothing, and where it has left the page: a click may arrive after the reader went on.
    """
    return st.session_state.get(key, {}).get(name)


def reporter(
    key: str, name: str, read: Callable[[object], Event | None], then: Callable[[Event], None] | None
) -> Callable[[], None]:
    """Make the function that Streamlit calls, before the run, when the component `key` has sent something as `name`.

    read: makes an event of what was sent, None of anything unknown, which is ignored. then: is called with the event.
    """

    def report() -> None:
        event = read(sent(key, name))
        if then is not None and event is not None:
            then(event)

    return report


def place(value: object) -> tuple[int, int] | None:
    """Read the row and the number of a head that the reader opened."""
    match value:
        case {"layer": int(row), "head": int(head)}:
            return row, head
    return None


def is_drawn(key: str, view: str, at: tuple[int, int]) -> bool:
    """Return True in the run after the component `key` told of a head that it, or its neighbour, drew in this view."""
    row, head = at
    return bool(view) and sent(key, "open") == {"layer": row, "head": head, "drawn": view}


def opening(on_open: Callable[[int, int], None] | None) -> Callable[[tuple[int, int]], None] | None:
    """Make what `reporter` calls with a `place`."""
    return None if on_open is None else lambda place: on_open(*place)
