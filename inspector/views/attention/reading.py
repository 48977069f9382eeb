"""The readings of the page's heads, found once for a text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from inspector import head_roles as read
from inspector import head_search as find
from inspector import heads
from inspector.views.shell import caching, overview

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import AttentionSite, Trace


def head(trace: Trace, site: AttentionSite, number: int) -> read.HeadReading:
    """Read one head of a stream."""
    key = (trace.key, "head read", site.stream, site.layer, site.call, number)
    return caching.cached(key, lambda: read.head(chosen(trace), trace, site, number))


def telling_cell(trace: Trace, site: AttentionSite, number: int) -> tuple[int, int] | None:
    """Find the cell in which a head does most what the page says of it."""
    key = (trace.key, "telling cell", site.stream, site.layer, site.call, number)
    return caching.cached(key, lambda: read.telling_cell(trace, site, head(trace, site, number)))


def grid(trace: Trace, stream: str) -> read.Grid:
    """Read all heads of a stream."""
    by_chance = overview.by_chance(trace, stream=stream)
    make = partial(read.grid, chosen(trace), trace, stream=stream, by_chance=by_chance)
    return caching.cached((trace.key, "grid read", stream), make)


def wishes(trace: Trace, stream: str) -> tuple[str, ...]:
    """Name the wishes that some head of a stream can fulfil."""
    return caching.cached((trace.key, "wishes", stream), lambda: tuple(find.possible(chosen(trace), stream=stream)))


def chosen(trace: Trace) -> pd.DataFrame:
    """Return the measures over the queries that have a choice, see `heads.with_choice`."""
    return caching.cached((trace.key, "with choice"), lambda: heads.with_choice(overview.measures(trace), trace))
