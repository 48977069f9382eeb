"""Every head of a stream at once, as small pictures of which a click opens one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots import packing, theme
from inspector.views import parts, session
from inspector.views.components.grid import grid

if TYPE_CHECKING:
    import pandas as pd

    from inspector.maps import Arrangement
    from inspector.trace import Trace


def draw(
    trace: Trace,
    shown: Arrangement,
    measures: pd.DataFrame,
    *,
    stream: str,
    scale: theme.Scale,
    on_open: Callable[[int, int], None],
) -> None:
    """The grid of the stream's heads; `measures` of session.measures, those of this stream."""
    data = packing.grid_bytes(
        session.thumbnails(trace, shown, stream=stream),
        tokens=len(shown.keys.labels),
        colours=theme.SEQUENTIAL,
        scale=scale,
        notes=parts.head_notes(measures),
    )
    grid(data, key="grid-view", on_open=on_open)
    st.caption(
        "Rows are layers, columns heads; each picture is one map. Click one, or walk with the arrow keys and open "
        "with Enter; [ and ] open the head before and after. In the open head a click pins a token."
    )
