"""The grid of all layers and heads as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.components.grid import Options
from inspector.components.source import script, style
from inspector.views.components.clicks import reporter

# The adapter of the open head says which head is open, so that opening a head does not send all pictures again;
# `selected` says it where no head is drawn.
_ADAPTER = """
export default ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  const { selected } = view.header;
  const follow = () => globalThis.headlightOpen && !selected && view.follow(globalThis.headlightOpen);
  follow();
  document.addEventListener("headlight-open", follow);
  return () => {
    document.removeEventListener("headlight-open", follow);
    view.close();
  };
};
"""

_mount = st.components.v2.component("headlight_grid", css=style("grid"), js=script("grid") + _ADAPTER)


def grid(
    data: bytes,
    *,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
    on_options: Callable[[Options], None] | None = None,
) -> None:
    """Draw `data` (of grid_bytes).

    on_open(layer, head) is called before the run that follows a click, so that this run already draws the new head.
    on_options: likewise, where the reader sorted the heads or chose which are shown.
    """

    def opened(place: tuple[int, int]) -> None:
        if on_open:
            on_open(*place)

    _mount(
        key=key,
        data=data,
        height="content",
        on_open_change=reporter(key, "open", _place, opened),
        on_options_change=reporter(key, "options", _options, on_options),
    )


def _place(value: object) -> tuple[int, int] | None:
    match value:
        case {"layer": int(layer), "head": int(head)}:
            return layer, head
    return None


def _options(value: object) -> Options | None:
    match value:
        case {"sort": str() | None as sort, "rising": bool(rising), "only": [*only]}:
            return Options(sort, rising, tuple(map(str, only)))
    return None
