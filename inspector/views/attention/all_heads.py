"""Every head of a stream at once, as small pictures of which a click opens one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from inspector.components.grid import Options, grid_bytes, roles, widths
from inspector.plots import theme
from inspector.views.attention import one_token
from inspector.views.components.grid import grid
from inspector.views.shell import caching, link, overview, site_words
from inspector.wording import attention as said

if TYPE_CHECKING:
    import pandas as pd

    from inspector.maps import Arrangement
    from inspector.trace import AttentionSite, Trace


def draw(
    trace: Trace,
    shown: Arrangement,
    measures: pd.DataFrame,
    *,
    stream: str,
    scale: theme.Scale,
    options: Options,
    on_open: Callable[[int, int], None],
    selected: tuple[int, int] | None = None,
    token: one_token.OneToken | None = None,
) -> None:
    """The grid of the stream's heads; `measures` of overview.measures, those of this stream.

    selected: the head to frame where none is drawn beside the grid, which would say it by itself. token: whose rows or
    columns stand in the place of the maps.
    """
    sites = trace.sites_of(stream)
    options = replace(options, sort=one_token.sorted_by(options.sort, shown, token))

    def make() -> tuple[bytes, float]:
        sorts: dict[str, list[list[float | None]] | list[list[float]] | None] = dict(roles.sortable(measures))
        if token is None:
            (pictures, top), notes = overview.thumbnails(trace, shown, stream=stream), roles.notes(measures)
        else:
            strips = one_token.strips(trace, shown, token, stream=stream, sort=options.sort)
            pictures, top, notes = strips.pictures, strips.top, strips.notes
            sorts |= strips.measures
        data = grid_bytes(
            pictures,
            tokens=len(shown.keys.labels),
            scale=scale,
            notes=site_words.notes(sites, notes),
            names=site_words.layer_names(sites),
            widths=widths(sites),
            measures=sorts,
            roles=roles.roles(measures),
            options=options,
            selected=selected,
            named=None if token is None else one_token.named(trace, token, stream=stream),
        )
        return data, top

    with st.container(gap=None):  # a bar while they are drawn leaves no gap behind
        with st.container():  # in which the grid stays as it was where a click opened a head
            data, top = caching.cached(
                (trace.key, "grid message", stream, shown, scale, options, selected, token), make
            )
        grid(data, key="grid-view", on_open=on_open, on_options=keep)
    if shown.is_long:
        st.caption(said.tiles_read(top=top, root=scale == "sqrt"))


def explain(sites: Sequence[AttentionSite]) -> None:
    """Say how the grid is read and walked."""
    st.caption(said.GRID_READ)
    if rows := site_words.rows(sites):
        st.caption(rows)


def options(trace: Trace, measures: pd.DataFrame, *, stream: str) -> Options:
    """Return the reader's or the link's order of heads (a minus: rising), and the roles that are shown."""
    known = caching.cached((trace.key, "known measures", stream), lambda: tuple(roles.known(measures).values()))
    site = trace.sites_of(stream)[0]
    tokens = max(len(site.queries), len(site.keys))
    names = [*known, *one_token.orders(tokens)]
    asked = f"; it can be {', '.join(known)}, or of a pinned token key 0 to {tokens - 1}. You see all instead."
    sort = next(iter(link.words("sort", allowed=[*names, *(f"-{name}" for name in names)], but=asked)), "")
    only = link.words("only", allowed=list(roles.MEANINGS))
    return Options(sort.removeprefix("-") or None, sort.startswith("-"), only)


def keep(options: Options) -> None:
    """Keep a choice made in the grid, before the run that follows it."""
    sort = one_token.in_link(options.sort) if options.sort else None
    link.assign("sort", (f"{'-' if options.rising else ''}{sort}",) if sort else None)
    link.assign("only", options.only)
