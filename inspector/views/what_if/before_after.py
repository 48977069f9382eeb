"""Two recordings of a text, before and after it was changed: which heads look elsewhere, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from inspector import compare, maps
from inspector.components.grid import changes, grid_bytes, roles
from inspector.components.head import HeadMessage
from inspector.interventions import Change
from inspector.plots import attention, theme
from inspector.plots import interventions as figures
from inspector.trace import Array, AttentionSite, Trace
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head
from inspector.views.shell import link, open_site, session, site_words, widgets

MOST = 8  # heads in the table


@dataclass(frozen=True)
class Drawn:
    """The open head's maps: before, after and their difference, [Q, T], and the names of the keys."""

    maps: dict[str, Array]
    keys: Sequence[str]


LINKED = ("mask_layer", "mask_call")


def open_head(site: AttentionSite | None, number: int | None) -> None:
    """Called before the run that follows a click, so that this run draws the answer; None: the most changed one."""
    open_site.choose(site, names=LINKED)
    link.assign("mask_head", number)


def maps_of(change: Change, *, stream: str, about: Sequence[int] = ()) -> Drawn | None:
    """Every head by how much it changed, and one head before, after and their difference.

    stream: whose heads. about: positions of the queries that the order of the heads is about, the first of them pinned
    where it is alone; none for all. None where the text is too long for whole maps.
    """
    st.subheader("Where does the model look now?")
    before, after = change.before, change.after
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hide = st.toggle(
            "Hide special tokens", key="hide", bind=link.bind_switch("hide"), help="Rows then sum to what is left."
        )
        words = st.toggle("Merge word pieces", key="words", bind=link.bind_switch("words"))
        root = st.toggle("Square-root colour", key="sqrt", bind=link.bind_switch("sqrt"), help="Shows small weights.")
    shown, now = _arranged(change, stream=stream, hide=hide, words=words)
    if shown.is_long:
        st.info(
            f"The text has {len(shown.keys.members):,} keys, and maps before and after are compared whole, up to "
            f"{maps.WHOLE}. Choose a shorter text to see them."
        )
        return None
    changed = _changed(change, stream=stream, about=about)
    sites = before.sites_of(stream)
    row = open_site.row(sites, default=int(changed["layer"][0]), names=LINKED)
    number = link.number("mask_head", default=int(changed["head"][0]), last=sites[0].heads - 1) or 0
    opened, site = (row, number), sites[row]
    left, right = st.columns(2, gap="medium")
    with left:
        _grid(change, (shown, now), changed, opened, stream=stream)
    with right:
        _table(changed, about=about)

    a, b = (
        how.apply(trace.attention(layer=site.layer, head=number, stream=stream, call=site.call))
        for how, trace in ((shown, before), (now, after))
    )
    apart: Array = b - a
    top, largest = max(float(a.max()), float(b.max())) or 1.0, float(abs(apart).max())
    named = stream if len(before.streams) > 1 else None
    title = attention.title(site.layer, number, named, call=site.call).lower()
    pinned = shown.queries.containing(about[0]) if len(about) == 1 else None
    follow = partial(_step, opened, sites)
    draw = partial(_map, opened=opened, pinned=pinned, on_event=follow)
    scale: theme.Scale = "sqrt" if root else "linear"
    left, right = st.columns(2, gap="medium")
    with left:
        draw(f"Before: {title}", a, shown, key="map-before", top=top, scale=scale)
    with right:
        draw(f"After: {title}", b, now, key="map-after", top=top, scale=scale)
    draw(f"After minus before: {title}", apart, shown, key="map-change", top=largest or 1.0, signed=True)
    st.caption(
        rf"$A' - A$, weight after minus before, no unit, at most {theme.number(largest)}: indigo where the head "
        f"looks more now, amber where less. Before and after share one scale, from 0 to {theme.number(top)}. "
        f"Row = query, column = key{'.' if pinned is None else '; the row of the changed token is pinned.'}"
    )
    return Drawn({"before": a, "after": b, "difference": apart}, shown.keys.labels)


def hidden_states(change: Change, *, positions: Sequence[int] = (), name: str = "masked") -> None:
    """Draw how far each token's last hidden state turned; the tokens at `positions` stand out under `name`."""
    stream = change.before.sites[-1].stream
    stream = "decoder" if stream == "cross" else stream
    groups = [side.queries for side in _arranged(change, stream=stream, hide=False, words=False)]
    tokens = [_joined(change.before, group) for group in groups[0].members]
    turned = compare.moved(change.before, change.after, groups=(groups[0], groups[1]))
    changed = [index for index, group in enumerate(groups[0].members) if set(group) & set(positions)]
    widgets.chart(
        figures.moved(turned, tokens=tokens, masked=changed, names=("seen", name), mode=session.mode()),
        alt="1 - cosine of each token's last hidden state before and after",
        key="moved",
    )
    st.caption(
        r"$1 - \cos(h_i, h'_i)$ of each token's last hidden state, $h_i$ before and $h'_i$ after: 0 where both point "
        f"the same way, 1 at a right angle. No unit; the mean is {theme.number(float(turned.mean()))}."
    )


def _joined(trace: Trace, group: Sequence[int]) -> str:
    encoding = trace.target or trace.encoding
    return " ".join(encoding.tokens[position] for position in group)


def _arranged(change: Change, *, stream: str, hide: bool, words: bool) -> tuple[maps.Arrangement, maps.Arrangement]:
    """Arrange tokens before and after: the replaced tokens are one group in both."""
    shown, now = (
        maps.arrange(trace, stream=stream, hide_special=hide, merge_words=words, block=block)
        for trace, block in zip((change.before, change.after), change.replaced, strict=True)
    )
    return shown, now


def _changed(change: Change, *, stream: str, about: Sequence[int]) -> pd.DataFrame:
    shown, now = _arranged(change, stream=stream, hide=False, words=False)
    groups = sorted({group for place in about if (group := shown.queries.containing(place)) is not None})
    table: pd.DataFrame = session.cached(
        (change.before.key, change.after.key, "changed heads", stream),
        lambda: compare.changed_heads(
            change.before, change.after, stream=stream, shown=(shown, now), queries=groups or None
        ),
    )
    return table


def _grid(
    change: Change,
    shown: tuple[maps.Arrangement, maps.Arrangement],
    changed: pd.DataFrame,
    opened: tuple[int, int],
    *,
    stream: str,
) -> None:
    """|after - before| of every head as thumbnails; a click opens one."""
    before, after = change.before, change.after
    sites = before.sites_of(stream)

    def apply(trace: Trace, how: maps.Arrangement) -> list[Array]:
        return [how.apply(trace.attention(layer=site.layer, stream=stream, call=site.call)) for site in sites]

    pictures, largest = session.cached(
        ("changes", before.key, after.key, stream, shown),
        lambda: changes(list(zip(apply(before, shown[0]), apply(after, shown[1]), strict=True))),
    )
    data = grid_bytes(
        pictures,
        tokens=len(shown[0].keys.labels),
        scale="sqrt",
        selected=opened,
        notes=_notes(changed),
        names=site_words.layer_names(sites),
    )
    grid(data, key="grid-change", on_open=lambda row, number: open_head(sites[row], number))
    st.caption(
        f"Rows are layers, columns heads: |after − before| of each cell, from 0 to {theme.number(largest)}, on a "
        "square-root scale. Click a head to open it, or walk with the arrow keys; first open is the most changed one."
    )


def _notes(changed: pd.DataFrame) -> list[list[str]]:
    """A line for each head, by layer and head: how much of it changed; `changed` of compare.changed_heads."""
    places = [name for name in ("layer", "call") if name in changed]
    ordered = changed.sort_values([*places, "head"])
    lines = ordered["jensen_shannon"].map("divergence {:.3g} nats".format)
    return roles.by_layer(lines, ordered)


def _table(changed: pd.DataFrame, *, about: Sequence[int]) -> None:
    """The heads that changed most."""
    st.dataframe(
        changed.head(MOST).drop(columns="stream"),
        hide_index=True,
        column_config={
            "jensen_shannon": st.column_config.NumberColumn("divergence, nats", format="%.3g"),
            "total_variation": st.column_config.NumberColumn("weight moved, share", format="%.3g"),
        },
    )
    which = "whose row of the changed token differs most (of several tokens: the mean)" if about else "that differ most"
    over = "the row before and after" if about else "each row before and after, mean over the rows"
    st.caption(
        f"The heads {which}. Jensen-Shannon divergence of {over} (Lin 1991), 0 to ln 2 = 0.693 nats; weight moved "
        r"$\frac{1}{2}\sum_j |A'_{ij} - A_{ij}|$, 0 to 1."
    )


def _map(
    title: str,
    weights: Array,
    labels: maps.Arrangement,
    *,
    key: str,
    top: float,
    opened: tuple[int, int],
    pinned: int | None,
    on_event: Callable[[Choice | Step], None],
    scale: theme.Scale = "linear",
    signed: bool = False,
) -> None:
    """Draw one map [Q, T], from 0 to `top`; a signed map from -top to top on the diverging scale."""
    data = HeadMessage(
        weights,
        queries=labels.queries.labels,
        keys=labels.keys.labels,
        layer=opened[0],
        head=opened[1],
        title=title,
        scale=scale,
        chosen=pinned,
        vmax=top,
        diverging=signed,
        quantity="difference of weights" if signed else "weight",
    ).to_bytes()
    head(data, key=key, on_event=on_event)


def _step(opened: tuple[int, int], sites: Sequence[AttentionSite], event: Choice | Step) -> None:
    """The keys [ and ] in a map open the head before or after, over the ends of the layers."""
    if isinstance(event, Step):
        heads = sites[0].heads
        row, number = divmod((opened[0] * heads + opened[1] + event.by) % (len(sites) * heads), heads)
        open_head(sites[row], number)
