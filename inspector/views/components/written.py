"""The text written so far, its newest token marked, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from inspector.components.source import script, style
from inspector.views.components.clicks import reporter

_ADAPTER = """
export default ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  return () => view.close();
};
"""

SHOWN_BEFORE = 12  # tokens of what the model began from; of a long text only the last ones

_mount = st.components.v2.component("headlight_written", css=style("written"), js=script("written") + _ADAPTER)


def written(
    text: str,
    *,
    before: Sequence[str],
    tokens: Sequence[str],
    notes: Sequence[str],
    last: int,
    colour: str,
    key: str,
    on_step: Callable[[int], None],
) -> None:
    """`text` and its `tokens`, a step each and the newest, in `colour`, at the end, after those `before`.

    notes: on each token, for hovering; last: how many steps there are. on_step(number, from 1) is called before the run
    that follows a click or an arrow key.
    """

    def read(step: object) -> int | None:
        return step if isinstance(step, int) and 1 <= step <= last else None

    data = {
        "text": text,
        "before": list(before[-SHOWN_BEFORE:]),
        "hidden": max(0, len(before) - SHOWN_BEFORE),
        "tokens": list(tokens),
        "notes": list(notes),
        "last": last,
        "colour": colour,
    }
    _mount(key=key, data=data, on_step_change=reporter(key, "step", read, on_step))
