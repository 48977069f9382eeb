"""The view of one head, heatmap and lines, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from inspector.components.head import HeadOptions
from inspector.components.source import script, style
from inspector.views.components.clicks import sent

# A grid on the same page frames the head that is open here.
_ADAPTER = """
export default ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  const { layer, head } = view.header;
  globalThis.headlightOpen = layer === null || head === null ? null : [layer, head];
  document.dispatchEvent(new Event("headlight-open"));
  return () => view.close();
};
"""

_mount = st.components.v2.component("headlight_head", css=style("head"), js=script("head") + _ADAPTER)


@dataclass(frozen=True)
class Choice:
    """The reader pinned a query or took a pin away: the queries that are pinned now, in order."""

    queries: tuple[int, ...]


@dataclass(frozen=True)
class Pan:
    """The reader asked for the window of a long text that begins at this query and key."""

    query: int
    key: int


@dataclass(frozen=True)
class Step:
    """The reader asked for the head before (-1) or after (1)."""

    by: Literal[-1, 1]


def head(
    data: bytes,
    *,
    key: str,
    height: int | Literal["content", "stretch"] = "content",
    on_event: Callable[[Choice | Step], None] | None = None,
    on_options: Callable[[HeadOptions], None] | None = None,
    on_pan: Callable[[Pan], None] | None = None,
) -> Choice | Step | None:
    """Draw `data` (HeadMessage.to_bytes); return the act of the reader that caused this run, None for any other cause.

    on_event is called before the run that follows, so that the run can already draw the answer. A pin lives in the
    component as long as the tokens stay the same; a page that puts it into a link gives it back as `chosen`. So do
    `options`, which on_options is told of. on_pan: where `data` is a window of a long text.
    """

    def chosen() -> None:
        event = _choice(sent(key, "choose"))
        if on_event and event:
            on_event(event)

    def stepped() -> None:
        event = _step(sent(key, "step"))
        if on_event and event:
            on_event(event)

    def switched() -> None:
        options = _options(sent(key, "options"))
        if on_options and options:
            on_options(options)

    def panned() -> None:
        event = _pan(sent(key, "pan"))
        if on_pan and event:
            on_pan(event)

    result = _mount(
        key=key,
        data=data,
        height=height,
        on_choose_change=chosen,
        on_step_change=stepped,
        on_options_change=switched,
        on_pan_change=panned,
    )
    return _step(result.get("step")) or _choice(result.get("choose"))


def _choice(value: object) -> Choice | None:
    match value:
        case {"queries": [*queries]} if all(isinstance(query, int) for query in queries):
            return Choice(tuple(queries))
    return None


def _options(value: object) -> HeadOptions | None:
    match value:
        case {"lines": str() as lines, "between": str() as between, "tokens": str() as tokens}:
            return HeadOptions(lines, between, tokens)
    return None


def _pan(value: object) -> Pan | None:
    match value:
        case {"query": int() as query, "key": int() as key}:
            return Pan(query, key)
    return None


def _step(value: object) -> Step | None:
    match value:
        case -1 | 1:
            return Step(value)
    return None
