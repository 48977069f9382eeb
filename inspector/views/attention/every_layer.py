"""The grid of a model whose layers mix tokens in several ways, and the row of it that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from inspector.components.grid import AttentionPictures, MixerPictures, Options, all_kinds_bytes, roles, sides
from inspector.plots import theme
from inspector.trace import MixerSite
from inspector.views.attention import all_heads, one_token
from inspector.views.components.grid import grid
from inspector.views.shell import caching, link, overview, progress, site_words
from inspector.wording import attention as said
from inspector.wording import mixers as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.maps import Arrangement
    from inspector.trace import AttentionSite, Trace


def row(sites: Sequence[AttentionSite | MixerSite], *, default: int) -> int:
    """Find the row that the reader opened or the link names by layer, kind and call; else the first of `default`."""
    mixing = sorted({site.layer for site in sites})
    layer = link.layer("layer", default=default, attend=mixing, said=words.mixing)
    of_layer = [site for site in sites if site.layer == layer]
    kinds = list(dict.fromkeys(site.kind for site in of_layer))
    kind = link.choice("mixer", default=kinds[0], options=kinds)
    chosen = [site for site in of_layer if site.kind == kind]
    call = link.number("call", default=0, last=len(chosen) - 1) or 0
    return next(at for at, site in enumerate(sites) if site is chosen[call])


def choose(site: AttentionSite | MixerSite, sites: Sequence[AttentionSite | MixerSite]) -> None:
    """Open one of the sites in the run that follows; its kind stands in the link where its layer has several."""
    first = next(other for other in sites if other.layer == site.layer)
    link.assign("layer", site.layer)
    link.assign("call", site.call or None)
    link.assign("mixer", None if site.kind == first.kind else site.kind)


def neighbour(sites: Sequence[AttentionSite | MixerSite], opened: tuple[int, int], *, by: int) -> tuple[int, int]:
    """Give the row and the head `by` places further, row by row; the last head's next is the first."""
    places = [(at, head) for at, site in enumerate(sites) for head in range(site.tiles)]
    row, head = opened
    return places[(places.index((row, min(head, sites[row].tiles - 1))) + by) % len(places)]


def options(trace: Trace, measures: pd.DataFrame, *, stream: str) -> Options:
    """Return the reader's or the link's order of heads and the roles that are shown, see `all_heads.options`."""
    return all_heads.options(trace, measures, stream=stream) if trace.sites_of(stream) else Options()


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
    """Draw the grid, see `all_heads.draw`; `selected` and `on_open` count the rows of all layers."""
    sites = trace.mixing_sites_of(stream)
    options = replace(options, sort=one_token.sorted_by(options.sort, shown, token))

    def make() -> bytes:
        mixers = {} if token is not None else pictures(trace, shown, stream=stream)
        return all_kinds_bytes(
            sites,
            _attention(trace, shown, measures, stream=stream, options=options, token=token),
            mixers,
            tokens=len(shown.keys.labels),
            scale=scale,
            options=options,
            selected=selected,
            named=None if token is None else one_token.named(trace, token, stream=stream),
        )

    with st.container(gap=None):  # a bar while they are drawn leaves no gap behind
        with st.container():  # in which the grid stays as it was where a click opened a head
            key = (trace.key, "grid of all layers", stream, shown, scale, options, selected, token)
            data = caching.cached(key, make)
        grid(data, key="grid-view", on_open=on_open, on_options=all_heads.keep)
    if token is not None:
        st.caption(words.ONE_TOKEN_OF_SOFTMAX)
    elif shown.is_long:
        st.caption(words.TILES_READ)


def explain() -> None:
    """Say how the grid is read and walked."""
    st.caption(f"{said.GRID_READ} {words.GRID_OF_ALL}")


def pictures(trace: Trace, shown: Arrangement, *, stream: str) -> dict[int, MixerPictures]:
    """Make small pictures of every mixer of a stream, once: by its row among all that mixes the stream's tokens."""
    from inspector import mixers

    side, tokens = sides(trace.mixing_sites)[stream], len(shown.keys.members)
    rows = {at: site for at, site in enumerate(trace.mixing_sites_of(stream)) if isinstance(site, MixerSite)}

    def of_site(site: MixerSite) -> MixerPictures:
        record = trace.mixer(layer=site.layer, kind=site.kind)
        cells = overview.mixer_pictures(trace)[site.layer, site.kind]
        if cells is not None and not shown.is_plain(site):
            by_channel = site.by_channel
            cells = (
                mixers.averaged(record, shown, side=side)[None]
                if by_channel
                else mixers.pooled(record, shown, side=side)
            )
        return MixerPictures.of(record, cells, side=side, tokens=tokens)

    def make() -> dict[int, MixerPictures]:
        drawn = {}
        with progress.layers("Drawing the heads") as on_progress:
            for done, (at, site) in enumerate(rows.items()):
                on_progress(done, len(rows))
                drawn[at] = of_site(site)
        return drawn

    return caching.cached((trace.key, "pictures of mixers", stream, shown), make)


def _attention(
    trace: Trace,
    shown: Arrangement,
    measures: pd.DataFrame,
    *,
    stream: str,
    options: Options,
    token: one_token.OneToken | None,
) -> AttentionPictures | None:
    sites = trace.sites_of(stream)
    if not sites:
        return None
    sorts: dict[str, list[list[float | None]] | list[list[float]] | None] = dict(roles.sortable(measures))
    if token is None:
        (drawn, _), notes = overview.thumbnails(trace, shown, stream=stream), roles.notes(measures)
    else:
        strips = one_token.strips(trace, shown, token, stream=stream, sort=options.sort)
        drawn, notes = strips.pictures, strips.notes
        sorts |= strips.measures
    return AttentionPictures(drawn, site_words.notes(sites, notes), roles.roles(measures), sorts)
