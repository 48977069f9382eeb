"""The grid of a model whose layers mix tokens in several ways: a row for each, softmax attention and others in order.

One scale of colours for all has its zero in the middle: weights of softmax attention fill its upper half up to 1, and
each picture of another mixer both halves up to its own weight farthest from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.components.grid import Options, grid_bytes, roles, sides
from inspector.plots import theme
from inspector.trace import MixerSite
from inspector.views.attention import all_heads, one_token
from inspector.views.components.grid import grid
from inspector.views.shell import caching, link, overview, progress, site_words
from inspector.wording import attention as said
from inspector.wording import mixers as words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from inspector.maps import Arrangement
    from inspector.trace import Array, AttentionSite, Trace


@dataclass(frozen=True, eq=False)
class Pictures:
    """Small pictures of a mixer's heads as shares of each head's weight farthest from 0, in -1 .. 1: [H, rows, cols].

    A layer with a map for each channel has one picture, of their mean size; a map that is not what the layer did is
    zeros. notes: a line for each.
    """

    shares: Array
    notes: Sequence[str]

    def bytes(self, scale: theme.Scale) -> NDArray[np.uint8]:
        """The shares as a message holds them."""
        return signed_bytes(self.shares, scale)


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
        heads = max(site.tiles for site in sites)
        rows = [at for at, site in enumerate(sites) if site.kind == "softmax"]
        attention = _attention(trace, shown, measures, stream=stream, scale=scale, options=options, token=token)
        mixers = {} if token is not None else pictures(trace, shown, stream=stream)
        size = (next(iter(mixers.values())).shares if attention is None else attention.pictures).shape[-2:]
        cells = np.full((len(sites), heads, *size), signed_bytes(np.zeros(1, np.float32), scale)[0], np.uint8)
        notes, names = ([[""] * heads for _ in sites] for _ in range(2))
        measured: dict[str, list[list[float | None]] | None] = {}
        if attention is not None:
            for at, of_attention in enumerate(rows):
                cells[of_attention, : attention.pictures.shape[1]] = attention.pictures[at]
                notes[of_attention][: len(attention.notes[at])] = attention.notes[at]
                names[of_attention][: len(attention.roles[at])] = attention.roles[at]
            for name, numbers in attention.measures.items():
                measured[name] = None if numbers is None else _widened(numbers, rows, shape=(len(sites), heads))
        for at, mixer in mixers.items():
            count = len(mixer.shares)
            cells[at, :count] = mixer.bytes(scale)
            notes[at][:count] = mixer.notes
        named = None if token is None else one_token.named(trace, token, stream=stream)
        return grid_bytes(
            cells,
            tokens=len(shown.keys.labels),
            colours=theme.DIVERGING,
            diverging=True,
            scale="sqrt",  # which takes the bytes as they are
            notes=notes,
            names=[_name(site) for site in sites],
            measures=measured or None,
            roles=None if attention is None else replace(roles.roles(measures), names=names),
            options=options,
            selected=selected,
            named=None if named is None else (rows[named[0]], named[1]),
            widths=[site.tiles for site in sites],
            joined={at: words.CHANNELS for at, site in enumerate(sites) if _by_channel(site)},
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


def pictures(trace: Trace, shown: Arrangement, *, stream: str) -> dict[int, Pictures]:
    """Make small pictures of every mixer of a stream, once: by its row among all that mixes the stream's tokens."""
    from inspector import mixers

    sites = trace.mixing_sites_of(stream)
    side = sides(trace.mixing_sites)[stream]
    rows = {at: site for at, site in enumerate(sites) if isinstance(site, MixerSite)}

    def of_site(site: MixerSite) -> Pictures:
        record = trace.mixer(layer=site.layer, kind=site.kind)
        whole = overview.mixer_pictures(trace)[site.layer, site.kind]
        if whole is not None and shown.is_plain(site):
            cells = whole
        elif whole is not None and site.by_channel:
            cells = mixers.averaged(record, shown, side=side)[None]
        elif whole is not None:
            cells = mixers.pooled(record, shown, side=side)
        else:
            length = -(-len(shown.keys.members) // -(-len(shown.keys.members) // side))
            return Pictures(np.zeros((site.tiles, length, length), np.float32), [words.refused(site.kind)] * site.tiles)
        if site.by_channel:
            told = [words.averaged(site.kind, channels=site.heads, sampled=len(record.sampled))]
            return Pictures(cells / (cells.max() or 1), told)
        flat = cells.reshape(site.heads, -1)
        farthest = np.take_along_axis(flat, np.abs(flat).argmax(axis=1)[:, None], axis=1)[:, 0]
        size = np.where(farthest == 0, 1, np.abs(farthest))[:, None, None]
        return Pictures((cells / size).astype(np.float32), [words.note(site.kind, largest=float(x)) for x in farthest])

    def make() -> dict[int, Pictures]:
        drawn = {}
        with progress.layers("Drawing the heads") as on_progress:
            for done, (at, site) in enumerate(rows.items()):
                on_progress(done, len(rows))
                drawn[at] = of_site(site)
        return drawn

    return caching.cached((trace.key, "pictures of mixers", stream, shown), make)


@dataclass(frozen=True, eq=False)
class _Attention:
    """Pictures of a stream's softmax attentions: uint8 [L, H, rows, cols], and tables by layer and head."""

    pictures: NDArray[np.uint8]
    notes: Sequence[Sequence[str]]
    roles: Sequence[Sequence[str]]
    measures: dict[str, list[list[float | None]] | list[list[float]] | None]


def _attention(
    trace: Trace,
    shown: Arrangement,
    measures: pd.DataFrame,
    *,
    stream: str,
    scale: theme.Scale,
    options: Options,
    token: one_token.OneToken | None,
) -> _Attention | None:
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
    shares = np.float32(drawn) / 255  # the root of the share of the top
    cells = signed_bytes(np.square(shares), scale)
    return _Attention(cells, site_words.notes(sites, notes), roles.roles(measures).names, sorts)


def signed_bytes(shares: NDArray[np.floating], scale: theme.Scale) -> NDArray[np.uint8]:
    """Round shares in -1 .. 1 to the bytes of a picture, zero in the middle."""
    drawn = np.sign(shares) * np.sqrt(np.abs(shares)) if scale == "sqrt" else shares
    rounded: NDArray[np.uint8] = np.rint(127.5 + 127.5 * drawn).astype(np.uint8)
    return rounded


def _widened(
    numbers: Sequence[Sequence[float | None]], rows: Sequence[int], *, shape: tuple[int, int]
) -> list[list[float | None]]:
    """Put numbers of softmax attentions into their rows; None for every other head."""
    table: list[list[float | None]] = [[None] * shape[1] for _ in range(shape[0])]
    for row, of_heads in zip(rows, numbers, strict=True):
        table[row][: len(of_heads)] = of_heads
    return table


def _by_channel(site: AttentionSite | MixerSite) -> bool:
    return isinstance(site, MixerSite) and site.by_channel


def _name(site: AttentionSite | MixerSite) -> str:
    name = f"layer {site.layer}" if isinstance(site, MixerSite) else site_words.layer_names([site])[0]
    return words.row(name, site.kind)
