"""The open head of a layer that mixes tokens without softmax attention: its map, what it is a map of, and the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import chance, export, maps
from inspector.components.grid import signed_bytes
from inspector.components.head import HeadMessage, HeadOptions, WholeMap
from inspector.export import python
from inspector.sections.section import File
from inspector.text import named, quoted
from inspector.views.attention import (
    compare_with,
    head_line,
    mixer_state,
    open_head,
    view_options,
    why_mixer,
)
from inspector.views.attention import downloads as head_files
from inspector.views.components.head import Choice, Step, head
from inspector.views.figures import save
from inspector.views.figures.map_files import MapPicture
from inspector.views.shell import caching, downloads, link, overview, problems, recording_notes, sentence
from inspector.wording import mixers as words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.mixers import HeadOfMixer
    from inspector.plots.theme import Mode, Scale
    from inspector.trace import Array, MixerSite, Trace
    from inspector.views.attention.room import Places

SIDE = 96  # cells of the small picture of a long text's whole map, in either direction
Follow = Callable[[Choice | Step, maps.Groups], None]


def draw(
    trace: Trace,
    site: MixerSite,
    number: int,
    *,
    row: int,
    places: Places,
    pinned: Sequence[int],
    chosen: tuple[int, int] | None,
    drawn: HeadOptions,
    long: bool,
    follow: Follow,
    on_open: Callable[[int, int], None],
    grid: Callable[[maps.Arrangement, view_options.ViewOptions], None],
) -> None:
    """Draw the head in the page's places, the refusal in place of the map where its map is not what the layer did.

    row: of the grid. grid: draws the grid of all layers. The rest is as of `open_head.draw`.
    """
    with places.bar:
        options = view_options.choose(long=long, sums=False)
        if site.by_channel:
            _choose_channel(site, number)
        compare_with.choose(trace, trace.mixing_sites_of(site.stream), row=row, number=number)
    try:
        shown = replace(options.arrange(trace, stream=site.stream), renormalise=False)
    except ValueError as error:
        problems.show(str(error))
        return
    with places.bar:
        window = open_head.window(shown, stream=site.stream) if shown.is_long else open_head.ALL
    refused = ""
    try:
        with places.head:
            read = reading(trace, site, number)
            values, seen = _map(
                trace,
                site,
                number,
                shown=shown,
                window=window,
                read=read,
                row=row,
                pinned=pinned,
                chosen=chosen,
                drawn=drawn,
                options=options,
                follow=follow,
                on_open=on_open,
            )
    except ValueError as error:
        refused = str(error)
        with places.head:
            problems.show(refused)
    with places.line:
        recording_notes.badge(trace.model, trace)
        head_line.draw(words.title(site, number), () if refused else words.numbers(read))
    with places.sentence:
        told = words.REFUSED if refused else _sentence(trace, read)
        sentence.show(told)
    with places.grid:
        grid(shown, options)
    if refused:
        return
    with places.proof:
        why_mixer.draw(trace, read, query=pinned[-1] if pinned else None, key=chosen[1] if chosen else None)
    # Before the formula, of which invisible parts reach up and would take a press on the switch above.
    st.caption(words.held(read.difference, again=trace.mixer(layer=site.layer, kind=site.kind).again))
    st.caption(words.what(read))
    mixer_state.draw(trace, site, number)
    if shown.is_long:
        st.caption(open_head.in_words(shown, window, tile=words.FARTHEST_OF_TILE))
    _files(trace, seen, values, whole=shown, window=window, read=read, options=options, place=places.line)


def _choose_channel(site: MixerSite, number: int) -> None:
    """Draw the choice of a channel, of which a layer has thousands."""
    key = f"{words.CHANNEL} of layer {site.layer}"
    st.session_state[key] = number
    st.number_input(
        words.CHANNEL,
        0,
        site.heads - 1,
        key=key,
        on_change=lambda: link.assign("head", st.session_state[key]),
        width=140,
    )


def reading(trace: Trace, site: MixerSite, number: int) -> HeadOfMixer:
    """Read a head's map, once for a text; ValueError where it is not what the layer did."""
    from inspector import mixers

    key = (trace.key, "mixer read", site.layer, site.kind, number)
    return caching.cached(key, lambda: mixers.read(trace.mixer(layer=site.layer, kind=site.kind), number))


def _sentence(trace: Trace, read: HeadOfMixer) -> str:
    query, key = (named(read.site.queries, at) for at in (read.query, read.key))
    return words.head(read, query=query, key=key, untrained=chance.untrained(trace))


def _named(trace: Trace, read: HeadOfMixer) -> tuple[int, int] | None:
    """The cell that the sentence names, None where it names none."""
    return None if chance.untrained(trace) or len(read.site.queries) == 1 else (read.query, read.key)


def _map(
    trace: Trace,
    site: MixerSite,
    number: int,
    *,
    shown: maps.Arrangement,
    window: open_head.Window,
    read: HeadOfMixer,
    row: int,
    pinned: Sequence[int],
    chosen: tuple[int, int] | None,
    drawn: HeadOptions,
    options: view_options.ViewOptions,
    follow: Follow,
    on_open: Callable[[int, int], None],
) -> tuple[Array, maps.Arrangement]:
    """Draw map and lines; return the values [Q, T] in sight and the tokens that they are between."""
    from inspector import mixers

    down, across = window
    seen = maps.part(shown, queries=down, keys=across)
    record = trace.mixer(layer=site.layer, kind=site.kind)
    values = maps.rows(shown, mixers.reader(record, number), queries=down)[1][:, across]
    data = HeadMessage(
        values,
        queries=seen.queries.labels,
        keys=seen.keys.labels,
        layer=row,
        head=min(number, site.tiles - 1),
        title=words.title(site, number),
        scale=options.scale,
        chosen=[at for at in map(seen.queries.containing, pinned) if at is not None],
        first=(down.start or 0, across.start or 0),
        vmax=open_head.top([values]),
        diverging=True,
        segments=open_head.segments(trace, seen, stream=site.stream),
        options=drawn,
        whole=_whole(trace, shown, site, number, scale=options.scale) if shown.is_long else None,
        compact=True,
        ordinals=(shown.queries.ordinals[down], shown.keys.ordinals[across]) if shown.is_long else None,
        marked=open_head.marked(seen, _named(trace, read)),
        picked=open_head.marked(seen, chosen),
    )
    head(
        data.to_bytes(),
        key="head-view",
        on_event=lambda event: follow(event, seen.queries),
        on_open=on_open,
        on_options=open_head.keep,
        on_pan=partial(open_head.move, stream=site.stream),
    )
    return values, seen


def _whole(trace: Trace, shown: maps.Arrangement, site: MixerSite, number: int, *, scale: Scale) -> WholeMap:
    """Make the small picture beside the window of a long text."""
    from inspector import mixers

    def make() -> Array:
        alone = trace.mixer(layer=site.layer, kind=site.kind).of_head(number)
        cells: Array = mixers.pooled(alone, shown, side=SIDE)[0]
        return cells

    cells = caching.cached((trace.key, "whole map", site.layer, site.kind, number, shown), make)
    picture = signed_bytes(cells / (np.abs(cells).max() or 1), scale)
    return WholeMap(len(shown.queries.members), len(shown.keys.members), picture)


def _files(
    trace: Trace,
    seen: maps.Arrangement,
    values: Array,
    *,
    whole: maps.Arrangement,
    window: open_head.Window,
    read: HeadOfMixer,
    options: view_options.ViewOptions,
    place: DeltaGenerator,
) -> None:
    """Draw the menu of the head: its slide, its files and the Python lines."""
    site, head = read.site, read.head
    kind = site.kind.lower().replace(" ", "-")
    name = f"{trace.model.replace('/', '-')}-layer{site.layer}-{kind}-head{head}"
    title = f"{trace.model}: {words.place(site, head)}{recording_notes.weights(trace.model)}"
    title += "" if len(seen.queries.labels) == len(trace.tokens) else ", a part, or tokens hidden or merged"
    queries, keys = seen.queries.labels, seen.keys.labels
    picture = MapPicture(
        title,
        values,
        queries,
        keys,
        open_head.top([values]),
        options.scale,
        diverging=True,
        caption=quoted(_sentence(trace, read)),
        named=open_head.marked(seen, _named(trace, read)),
    )
    labels = save.Labels(png_help=words.PNG_HELP, svg_help=words.SVG_HELP, csv_help=words.CSV_HELP)
    arrays = File(
        f"{name}.npz",
        lambda _: downloads.npz({"values": values, "queries": np.array(queries), "keys": np.array(keys)}),
        words.NPZ_HELP,
    )
    look, small = overview.of(trace) if trace.sites else None, overview.mixer_pictures(trace)

    def page(mode: Mode) -> str:
        return export.html(
            trace,
            layer=site.layer,
            head=head,
            stream=site.stream,
            kind=site.kind,
            scale=options.scale,
            window=head_files.tokens(seen) if whole.is_long else None,
            look=look,
            small=small,
        )

    pages = File(f"{name}.html", page, head_files.page_help(long=whole.is_long))
    with place:
        save.menu(
            picture.files(name, labels=labels),
            [arrays, pages, head_files.recording(trace)],
            slides=[save.slide({"": picture.slide}, name=f"{name}-slide", key="head")],
            key="head",
            about=words.title(site, head),
            python=python.mixer(trace, whole, site=site, head=head, window=window if whole.is_long else None),
            labels=labels,
        )
