"""The grid of all layers and heads as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.components.grid import Options
from inspector.components.source import script, style
from inspector.views.components.clicks import reporter

# The adapter of the open head says which head is open, so that opening a head does not send all pictures again;
# `selected` says it where no head is drawn. The grid also tells when the window becomes narrow or wide; until then a
# phone is taken to be narrow, here and on the server.
_ADAPTER = """
const NARROW = 1100; // pixels of the window
export default ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  const tell = () => {
    globalThis.headlightNarrow ??= navigator.userAgent.includes("Mobi");
    const narrow = innerWidth < NARROW;
    if (narrow !== globalThis.headlightNarrow) setTriggerValue("narrow", (globalThis.headlightNarrow = narrow));
  };
  tell();
  addEventListener("resize", tell);
  const { selected } = view.header;
  const follow = () => globalThis.headlightOpen && !selected && view.follow(globalThis.headlightOpen);
  follow();
  document.addEventListener("headlight-open", follow);
  return () => {
    removeEventListener("resize", tell);
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
    on_narrow: Callable[[bool], None] | None = None,
) -> None:
    """Draw `data` (of grid_bytes).

    on_open(layer, head) is called before the run that follows a click, so that this run already draws the new head.
    on_options: likewise, where the reader sorted the heads or chose which are shown. on_narrow: likewise, where the
    window became narrow (True) or wide; at first a phone counts as narrow, any other window as wide.
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
        on_narrow_change=reporter(key, "narrow", _truth, on_narrow),
    )


def _place(value: object) -> tuple[int, int] | None:
    match value:
        case {"layer": int(layer), "head": int(head)}:
            return layer, head
    return None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _options(value: object) -> Options | None:
    match value:
        case {"sort": str() | None as sort, "rising": bool(rising), "only": [*only]}:
            return Options(sort, rising, tuple(map(str, only)))
    return None
