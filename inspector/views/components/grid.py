"""The grid of all layers and heads as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from inspector.components.grid import Options
from inspector.components.source import script, style
from inspector.views.components.clicks import sent

# Which head is open the head itself says (its adapter does), so that opening one does not send all pictures again;
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
    height: int | Literal["content", "stretch"] = "content",
    on_open: Callable[[int, int], None] | None = None,
    on_options: Callable[[Options], None] | None = None,
) -> tuple[int, int] | None:
    """Draw `data` (of grid_bytes); return the (layer, head) that the reader opened in this run, None otherwise.

    on_open(layer, head) is called before the run that follows the click, so that the run can already draw the new head:
    with it one run answers a click, with the returned value alone it takes a second. on_options: likewise, where the
    reader sorted the heads or chose which are shown.
    """

    def opened() -> None:
        place = _place(sent(key, "open"))
        if on_open and place:
            on_open(*place)

    def arranged() -> None:
        options = _options(sent(key, "options"))
        if on_options and options:
            on_options(options)

    drawn = _mount(key=key, data=data, height=height, on_open_change=opened, on_options_change=arranged)
    return _place(drawn.get("open"))


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
