"""The view of one head, heatmap and lines, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from inspector.components.head import HeadOptions
from inspector.views.components import files
from inspector.views.components.clicks import opening, place, reporter

_mount = files.declared("head")


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

    def leads_to(self, row: int, head: int, *, rows: int, heads: int) -> tuple[int, int]:
        """Give the neighbour's row and head, row by row of the grid; the last head's next is the first."""
        return divmod((row * heads + head + self.by) % (rows * heads), heads)


def head(
    data: bytes,
    *,
    key: str,
    on_event: Callable[[Choice | Step], None] | None = None,
    on_open: Callable[[int, int], None] | None = None,
    on_options: Callable[[HeadOptions], None] | None = None,
    on_pan: Callable[[Pan], None] | None = None,
) -> None:
    """Draw `data` (of HeadMessage.to_bytes).

    on_event is called before the run that follows, so that this run already draws the answer; on_open(row, head) where
    the browser drew another head by itself. A pin lives in the
    component as long as the tokens stay the same; a page that puts pins into a link gives them back as `chosen`. The
    same goes for `options`, which on_options gets. on_pan: where `data` is a window of a long text.
    """
    _mount(
        key=key,
        data=data,
        height="content",
        on_choose_change=reporter(key, "choose", _choice, on_event),
        on_step_change=reporter(key, "step", _step, on_event),
        on_open_change=reporter(key, "open", place, opening(on_open)),
        on_options_change=reporter(key, "options", _options, on_options),
        on_pan_change=reporter(key, "pan", _pan, on_pan),
    )


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
