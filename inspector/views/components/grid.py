"""The grid of all layers and heads as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable

from inspector.components.grid import Options
from inspector.views.components import files
from inspector.views.components.clicks import opening, place, reporter

_mount = files.declared("grid")


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

    _mount(
        key=key,
        data=data,
        height="content",
        on_open_change=reporter(key, "open", place, opening(on_open)),
        on_options_change=reporter(key, "options", _options, on_options),
    )


def _options(value: object) -> Options | None:
    match value:
        case {"sort": str() | None as sort, "rising": bool(rising), "only": [*only]}:
            return Options(sort, rising, tuple(map(str, only)))
    return None
