"""The open head: its map and lines, whole or in the window of a long text, with what is said of them and the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from inspector import maps, row_statistics
from inspector.components.head import ColouredHead, HeadMessage, HeadOptions, Segments, WholeMap
from inspector.export import python
from inspector.plots import attention as draw_attention
from inspector.plots import flow as draw_flow
from inspector.plots import theme
from inspector.plots.chart import Chart
from inspector.text import named
from inspector.views.attention import downloads, head_choice, quantities, sink_column
from inspector.views.components.clicks import is_drawn
from inspector.views.components.head import Choice, Pan, Step, head
from inspector.views.figures import chart
from inspector.views.shell import controls, link, loaded_models, map_words, overview, problems, session, site_words
from inspector.wording import attention as said

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.trace import Array, AttentionSite, Trace

Follow = Callable[[Choice | Step, maps.Groups], None]
Window = tuple[slice, slice]
"""Queries and keys in sight of a long text."""


ALL = (slice(None), slice(None))


def draw(
    inspected: session.Inspected,
    shown: maps.Arrangement,
    *,
    window: Window,
    kind: quantities.Quantity,
    which: head_choice.WhichHeads,
    sites: Sequence[AttentionSite],
    row: int,
    place: int,
    number: int,
    pinned: Sequence[int],
    chosen: tuple[int, int] | None,
    named: tuple[int | None, int] | None,
    sentence: str,
    options: HeadOptions,
    scale: theme.Scale,
    view: str,
    follow: Follow,
    on_open: Callable[[int, int], None],
    files: DeltaGenerator,
) -> Callable[[], None]:
    """Map and lines of one head as `shown`, or of those in `which`; returns what draws the formula and the files.

    sites: of the stream; row: of the one that is open; place: its row in the grid. pinned: the positions of queries;
    chosen: query and key of the cell that the reader chose. named: those that the page's sentence names, the query None
    for all; sentence: what the page says of the head. options: of `options`. view: what `every_head` calls the maps
    that it sends. files: the place of the menu.

    follow(event, the queries in sight) and on_open(row, head) are called before the run that the reader's act causes.
    """
    trace, site = inspected.trace, sites[row]
    stream = site.stream
    weights = kind.name == "weights"
    down, across = window
    seen = maps.part(shown, queries=down, keys=across)
    rows = [at for at in map(seen.queries.containing, pinned) if at is not None]
    record = trace.record_of(site.layer, stream, call=site.call)
    statistics = row_statistics.reader(record, seen) if weights and not which.name else None
    on_block = None if statistics is None else statistics.see  # the map and its rows' numbers in one pass
    try:
        readers = [
            quantities.reader(inspected, kind, site=sites[at], number=head, on_block=on_block)
            for at, head in which.places
        ]
        each = [maps.rows(shown, read, queries=down)[1] for read in readers]
        mean: Array = each[0] if len(each) == 1 else np.stack(each).mean(axis=0, dtype=np.float64).astype(np.float32)
        values = mean[:, across]
        drawn_sink = sink_column.of_head(trace, seen, site=site, head=number) if weights and not which.name else None
        keys, drawn, ordinals = seen.keys.labels, values, (shown.queries.ordinals[down], shown.keys.ordinals[across])
        of_texts = segments(trace, seen, stream=stream)
        if drawn_sink is not None:
            keys, drawn, ordinals = drawn_sink.named(keys), drawn_sink.behind(values), (ordinals[0], (*ordinals[1], 0))
            of_texts = drawn_sink.segmented(of_texts)
        data = HeadMessage(
            np.where(np.isneginf(drawn), np.float32(np.nan), drawn),
            queries=seen.queries.labels,
            keys=keys,
            layer=place,
            head=number,
            title=which.name or title(trace, site, number),
            scale=scale,
            chosen=rows,
            first=(down.start or 0, across.start or 0),
            vmax=top([of_head[:, across] for of_head in each] if which.in_colours else [drawn]),
            diverging=kind.signed,
            quantity=f"mean {kind.quantity}" if which.name else kind.quantity,
            rows=None if statistics is None else statistics.result(),
            segments=of_texts,
            options=options,
            parts=[
                ColouredHead(f"head {head}", of_head[:, across])
                for (_, head), of_head in zip(which.places, each, strict=True)
                if which.in_colours
            ],
            whole=_whole(trace, shown, which, stream=stream, beside=len(keys) - values.shape[1])
            if shown.is_long
            else None,
            compact=True,
            ordinals=ordinals if shown.is_long else None,
            view=view,
            marked=marked(seen, named),
            picked=marked(seen, chosen),
        ).to_bytes(at_hand=any(is_drawn(key, view, (place, number)) for key in ("head-view", "grid-view")))
    except ValueError as error:  # more heads in colours than fit, or a model that is not at hand
        problems.show(str(error))
        return lambda: None
    head(
        data,
        key="head-view",
        on_event=lambda event: follow(event, seen.queries),
        on_open=on_open,
        on_options=keep,
        on_pan=partial(move, stream=stream),
    )

    def explain() -> None:
        if shown.is_long:
            st.caption(in_words(shown, window))
        if weights:
            st.caption(map_words.what_is_drawn(trace, shown, mean, site=site, sink=drawn_sink is not None))
        else:
            st.caption(quantities.caption(kind, trace, values, site=site))
        with files:
            downloads.open_head(
                trace,
                seen,
                values,
                sink=drawn_sink,
                whole=shown,
                site=site,
                head=number,
                title=title(trace, site, number),
                scale=scale,
                kind=kind,
                mean=which.name,
                sentence=sentence,
                named=marked(seen, named),
                pinned=rows,
            )
        if beside := _convolutions(inspected, site):
            st.caption(beside)
        if not which.name:
            _gate(trace, site=site, number=number)
        if kind.name == "norm-weighted":
            _handed_over(inspected, seen.keys, site=site, number=number)

    return explain


def options() -> HeadOptions:
    """Return the options that the reader, or the link, chose for a head's view."""
    patterns = HeadOptions.PATTERNS.items()
    return HeadOptions(**{name: link.text(name, pattern=pattern) for name, pattern in patterns})


def keep(options: HeadOptions) -> None:
    """Keep the options that the reader chose in the head's view, before the run that follows."""
    for name, value in asdict(options).items():
        link.assign(name, value or None)


def title(trace: Trace, site: AttentionSite, number: int) -> str:
    """Name the open head: "Layer 1, head 7"."""
    several = len(trace.streams) > 1
    return draw_attention.title(site.layer, number, site.stream if several else None, call=site.call)


def marked(seen: maps.Arrangement, named: tuple[int | None, int] | None) -> tuple[int | None, int] | None:
    """Find the cell of the map, or the column, that holds what the sentence names; None where it is out of sight."""
    if named is None:
        return None
    query, key = (side.containing(at) for side, at in zip((seen.queries, seen.keys), named, strict=True))
    hidden = query is None and named[0] is not None
    return None if key is None or hidden else (query, key)


def top(maps: Sequence[Array]) -> float:
    """The last colour: the value farthest from zero, without masked cells."""
    return max(float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0)) for weights in maps) or 1.0


def segments(trace: Trace, seen: maps.Arrangement, *, stream: str) -> Segments | None:
    """Return which of two texts each shown token belongs to; None for a text without a pair."""
    if trace.text_pair is None or stream == "cross":
        return None
    of_token = trace.read_by(stream).segments
    queries, keys = (tuple(of_token[group[0]] for group in side.members) for side in (seen.queries, seen.keys))
    return Segments(queries, keys)


def _whole(
    trace: Trace, shown: maps.Arrangement, which: head_choice.WhichHeads, *, stream: str, beside: int
) -> WholeMap:
    """The small picture beside a window; of several heads the brightest of each cell. beside: columns of no key."""
    pictures, _ = overview.thumbnails(trace, shown, stream=stream)
    picture = np.max([pictures[place] for place in which.places], axis=0)
    return WholeMap(len(shown.queries.members), len(shown.keys.members) + beside, picture)


def _convolutions(inspected: session.Inspected, site: AttentionSite) -> str:
    """Name the convolutions over tokens in an attention's layer; "" where there are none, or a mixer tells them."""
    if inspected.model is None or any(mixer.layer == site.layer for mixer in inspected.trace.mixer_sites):
        return ""
    of_layer = [part for part in loaded_models.facts(inspected.model).convolutions if part.layer == site.layer]
    return said.convolutions({part.name: part.tokens for part in of_layer}) if of_layer else ""


def _gate(trace: Trace, *, site: AttentionSite, number: int) -> None:
    """Draw what an output gate lets through of a head's answers; nothing for a layer without one."""
    shares = trace.output_gate(layer=site.layer, head=number, stream=site.stream, call=site.call)
    if shares is None:
        return
    most, least = int(shares.argmax()), int(shares.argmin())
    table = pd.DataFrame({"query": range(len(shares)), "share": shares, "token": list(site.queries)})
    drawn = Chart(
        table, "query", "share", "lines", tokens=site.queries, x_title=said.GATE_QUERY, y_title=said.GATE_SHARE
    )
    chart.show(
        partial(drawn),
        alt=said.GATE,
        key="output-gate",
        heading=said.GATE,
        name=f"{trace.model.replace('/', '-')}-{site_words.in_file(site)}-head{number}-gate",
        table=table,
        python=python.output_gate(trace, site=site, head=number),
    )
    st.caption(
        said.gate(
            most=named(site.queries, most),
            least=named(site.queries, least),
            highest=float(shares[most]),
            lowest=float(shares[least]),
            mean=float(shares.mean()),
        )
    )


def _handed_over(inspected: session.Inspected, keys: maps.Groups, *, site: AttentionSite, number: int) -> None:
    norms = quantities.handed_over(inspected, site=site, number=number)[keys.positions]
    chart.show(
        partial(draw_flow.handed_over, norms, keys=keys.labels),
        alt="the length of what each key hands over in this head",
        key="handed-over",
        name=f"{inspected.trace.model.replace('/', '-')}-{site_words.in_file(site)}-head{number}-handed-over",
    )
    st.caption(said.HANDS_OVER)


def window(whole: maps.Arrangement, *, stream: str) -> Window:
    """Draw where the window of a long text begins; return its queries and keys, along the diagonal or anywhere."""
    queries, keys = (len(side.members) for side in (whole.queries, whole.keys))
    step = maps.WINDOW // 2
    with st.popover("Window", icon=":material/crop_free:", key="window"):
        row = controls.number("Queries from", "row", default=0, last=max(queries - maps.WINDOW, 0), step=step)
        apart = st.toggle(
            "Keys apart",
            key="apart",
            bind=link.bind_switch("apart"),
            help="Takes the keys from another place than the queries.",
        )
        column = row
        if apart or stream == "cross":
            column = controls.number("Keys from", "column", default=0, last=max(keys - maps.WINDOW, 0), step=step)
    return slice(row, min(row + maps.WINDOW, queries)), slice(column, min(column + maps.WINDOW, keys))


def in_words(whole: maps.Arrangement, window: Window, *, tile: str = said.LARGEST_OF_TILE) -> str:
    """Say which part of a long text is in sight; tile: what a cell of the small picture of the whole is."""
    (down, across), queries, keys = window, len(whole.queries.members), len(whole.keys.members)
    return (
        f"A window of this long text: queries {down.start} to {down.stop - 1} of {queries:,}, keys {across.start} to "
        f"{across.stop - 1} of {keys:,}, exact. Drag the map, or click the small picture of the whole below it, in "
        f"which each cell is {tile}."
    )


def move(pan: Pan, *, stream: str) -> None:
    """The window goes where the reader dragged it; off the diagonal, its keys stand apart."""
    st.session_state["row"], st.session_state["column"] = pan.query, pan.key
    if stream != "cross":
        st.session_state["apart"] = pan.query != pan.key
