"""Two recordings of a text, before and after it was changed: which heads look elsewhere, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from inspector import compare, maps
from inspector.components.grid import changes, grid_bytes, roles
from inspector.components.head import HeadMessage, SharedLayout
from inspector.interventions import Change, effects
from inspector.plots import attention
from inspector.plots import interventions as figures
from inspector.text import number, token_name
from inspector.trace import Array, AttentionSite, Trace
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head
from inspector.views.figures import chart
from inspector.views.figures.map_files import MapPicture
from inspector.views.figures.map_options import MapOptions
from inspector.views.shell import caching, link, open_site, readings, site_words
from inspector.wording import what_if as wording

MOST = 8  # heads in the table
LINKED = ("mask_layer", "mask_call")


@dataclass(frozen=True, eq=False)
class OpenChange:
    """A change as its maps are seen: between which tokens, and which head is open.

    changed: of compare.changed_heads. row: the open head's row among `sites`. pinned: the row of a map that is pinned.
    about: how many queries the order of the heads is about, 0 for all.
    """

    change: Change
    shown: tuple[maps.Arrangement, maps.Arrangement]
    sites: Sequence[AttentionSite]
    changed: pd.DataFrame
    row: int
    number: int
    pinned: int | None
    options: MapOptions
    about: int

    @property
    def stream(self) -> str:
        """The stream of the maps."""
        return self.sites[0].stream

    @property
    def title(self) -> str:
        """The open head in words."""
        site = self.sites[self.row]
        named = self.stream if len(self.change.before.streams) > 1 else None
        return attention.title(site.layer, self.number, named, call=site.call).lower()

    @property
    def maps(self) -> tuple[Array, Array]:
        """The open head before and after."""
        site, traces = self.sites[self.row], (self.change.before, self.change.after)
        a, b = (
            how.apply(trace.attention(layer=site.layer, head=self.number, stream=self.stream, call=site.call))
            for how, trace in zip(self.shown, traces, strict=True)
        )
        return a, b

    @property
    def measured(self) -> pd.Series:
        """The row of `changed` of the open head."""
        site, table = self.sites[self.row], self.changed
        here = (table["layer"] == site.layer) & (table["head"] == self.number)
        return table[here & (table["call"] == site.call) if "call" in table else here].iloc[0]


def open_head(site: AttentionSite | None, number: int | None) -> None:
    """Choose a head before the run that follows the click; None: the most changed head."""
    open_site.choose(site, names=LINKED)
    link.assign("mask_head", number)


def open_change(change: Change, *, stream: str, options: MapOptions, about: Sequence[int] = ()) -> OpenChange | str:
    """Find the heads that moved and the open one; a sentence where the text is too long for whole maps.

    stream: whose heads. about: positions of the queries that the order of the heads is about, the first of them pinned
    where it is alone; none for all.
    """
    shown = _arranged(change, stream=stream, hide=options.hide, words=options.merge)
    if shown[0].is_long:
        return wording.too_long(keys=len(shown[0].keys.members), most=maps.WHOLE)
    changed = _changed(change, stream=stream, about=about)
    sites = change.before.sites_of(stream)
    row = open_site.row(sites, default=int(changed["layer"][0]), names=LINKED)
    number = link.number("mask_head", default=int(changed["head"][0]), last=sites[0].heads - 1) or 0
    pinned = shown[0].queries.containing(about[0]) if len(about) == 1 else None
    return OpenChange(change, shown, sites, changed, row, number, pinned, options, len(about))


def moved(opened: OpenChange | str) -> effects.MovedHead | None:
    """The head that moved most; None where none did, and for a text that is too long."""
    return None if isinstance(opened, str) else effects.moved(opened.changed, hidden=opened.about)


def heads(opened: OpenChange | str) -> None:
    """Draw |after - before| of every head as thumbnails; a click opens one."""
    if isinstance(opened, str):
        st.info(opened)
        return
    most, sites = moved(opened), opened.sites
    if most is None:
        st.caption(wording.NONE_MOVED)
        return
    pictures, _ = _changes(opened)
    st.markdown(wording.HEADS_MOVED)
    data = grid_bytes(
        pictures,
        tokens=len(opened.shown[0].keys.labels),
        scale="sqrt",
        selected=(opened.row, opened.number),
        named=_place(most, sites),
        notes=_notes(opened.changed),
        names=site_words.layer_names(sites),
    )
    grid(data, key="grid-change", on_open=lambda row, number: open_head(sites[row], number))


def _changes(opened: OpenChange) -> tuple[NDArray[np.uint8], float]:
    """Make the small pictures of |after - before|, and give the value of their last colour, once."""
    before, after = opened.change.before, opened.change.after
    shown, now = opened.shown

    def apply(trace: Trace, how: maps.Arrangement) -> list[Array]:
        return [
            how.apply(trace.attention(layer=site.layer, stream=site.stream, call=site.call)) for site in opened.sites
        ]

    return caching.cached(
        ("changes", before.key, after.key, opened.stream, opened.shown),
        lambda: changes(list(zip(apply(before, shown), apply(after, now), strict=True))),
    )


def before_and_after(
    opened: OpenChange | str,
    *,
    files: Callable[[OpenChange, Mapping[str, MapPicture]], None],
    about: Sequence[int] = (),
) -> None:
    """Draw the open head before, after and their difference, aligned, and its numbers.

    files: draws the menu of the maps by their names on the page. about: the places of tokens that are others now.
    """
    if isinstance(opened, str):
        return
    a, b = opened.maps
    apart: Array = b - a
    shown, now = opened.shown
    top, largest = max(float(a.max()), float(b.max())) or 1.0, float(abs(apart).max())
    beside = SharedLayout.around([(each.queries.labels, each.keys.labels) for each in (shown, now)])
    scale = opened.options.scale
    pictures = {
        "Before": MapPicture(f"Before: {opened.title}", a, shown.queries.labels, shown.keys.labels, top, scale),
        "After": MapPicture(f"After: {opened.title}", b, now.queries.labels, now.keys.labels, top, scale),
        "After minus before": MapPicture.difference(
            "After minus before", apart, shown.queries.labels, shown.keys.labels
        ),
    }
    with st.container(gap=None):
        files(opened, pictures)
        for place, key, picture in zip(
            st.columns(3, gap="medium"), ("before", "after", "change"), pictures.values(), strict=True
        ):
            with place:
                _map(picture, opened, key=f"map-{key}", beside=beside)
    readings.line(_told(opened, about=about))
    small = "" if moved(opened) is None else f" {wording.heads_read(largest=_changes(opened)[1])}"
    st.caption(wording.maps_read(largest=largest, top=top, alone=opened.pinned is None) + small)


def table(opened: OpenChange | str, *, about: Sequence[int] = ()) -> None:
    """The heads that moved most, in numbers."""
    if isinstance(opened, str):
        return
    with st.expander(wording.IN_NUMBERS):
        st.dataframe(
            opened.changed.head(MOST).drop(columns="stream"),
            hide_index=True,
            column_config={
                "jensen_shannon": st.column_config.NumberColumn(wording.DIVERGENCE_HEAD, format="%.3g"),
                "total_variation": st.column_config.NumberColumn(wording.MOVED_HEAD, format="%.3g"),
                "call": st.column_config.NumberColumn(wording.CALL_HEAD),
            },
        )
        which = wording.which_heads(about=bool(about))
        st.caption(wording.listed_heads(which=which))


@dataclass(frozen=True, eq=False)
class States:
    """The turn of each token's last hidden state, [tokens], and the places of those that were changed themselves."""

    turned: pd.DataFrame
    tokens: Sequence[str]
    changed: Sequence[int]

    @property
    def read(self) -> effects.TurnedToken | None:
        """The token that turned most."""
        return effects.turned(self.turned["turned"].to_numpy(), tokens=self.tokens, changed=self.changed)


def hidden_states(change: Change, *, positions: Sequence[int] = ()) -> States:
    """Measure how far each token's last hidden state turned; positions: of the tokens that are others now."""
    stream = change.before.sites[-1].stream
    stream = "decoder" if stream == "cross" else stream
    groups = [side.queries for side in _arranged(change, stream=stream, hide=False, words=False)]
    tokens = [_joined(change.before, group) for group in groups[0].members]
    turned = compare.moved(change.before, change.after, groups=(groups[0], groups[1]))
    changed = [index for index, group in enumerate(groups[0].members) if set(group) & set(positions)]
    return States(pd.DataFrame({"token": tokens, "turned": turned}), tokens, changed)


def draw_states(states: States, *, name: str = "masked") -> None:
    """Draw how far each token's last hidden state turned; those that were changed stand out under `name`."""
    turned = states.turned["turned"].to_numpy()
    chart.show(
        figures.moved(turned, tokens=states.tokens, masked=states.changed, names=("as before", name)),
        alt="1 - cosine of each token's last hidden state before and after",
        key="moved",
        sentence=wording.STATES_TURNED,
        table=states.turned,
    )
    st.caption(wording.states_read(mean=float(turned.mean())))


def _joined(trace: Trace, group: Sequence[int]) -> str:
    encoding = trace.target or trace.encoding
    return " ".join(token_name(encoding.tokens[position]) for position in group)


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
    table: pd.DataFrame = caching.cached(
        (change.before.key, change.after.key, "changed heads", stream),
        lambda: compare.changed_heads(
            change.before, change.after, stream=stream, shown=(shown, now), queries=groups or None
        ),
    )
    return table


def _place(head: effects.MovedHead, sites: Sequence[AttentionSite]) -> tuple[int, int]:
    """Find the row and the number of the head that the sentence names."""
    return [(site.layer, site.call) for site in sites].index((head.layer, head.call)), head.head


def _notes(changed: pd.DataFrame) -> list[list[str]]:
    """A line for each head, by layer and head: how much of it changed; `changed` of compare.changed_heads."""
    places = [name for name in ("layer", "call") if name in changed]
    ordered = changed.sort_values([*places, "head"])
    lines = ordered["jensen_shannon"].map("divergence {:.3g} nats".format)
    return roles.by_layer(lines, ordered)


def _told(opened: OpenChange, *, about: Sequence[int]) -> list[tuple[str, str, str]]:
    """The numbers of the open head."""
    row = opened.measured
    over = "the changed token's row" if about else "every row, mean over the rows"
    return [
        (
            wording.DIVERGENCE_OF_MAPS,
            number(row["jensen_shannon"]),
            wording.divergence_about(over=over),
        ),
        (
            "Weight moved",
            f"{row['total_variation']:.0%}",
            wording.moved_about(over=over),
        ),
    ]


def _map(picture: MapPicture, opened: OpenChange, *, key: str, beside: SharedLayout) -> None:
    """Draw one map [Q, T], from 0 to its top; a signed map from -top to top on the diverging scale."""
    data = HeadMessage(
        picture.weights,
        queries=picture.queries,
        keys=picture.keys,
        layer=opened.row,
        head=opened.number,
        title=picture.title,
        scale=picture.scale,
        chosen=opened.pinned,
        vmax=picture.top,
        diverging=picture.diverging,
        quantity="difference of weights" if picture.diverging else "weight",
        beside=beside,
        lines=opened.options.lines,
    ).to_bytes()
    follow: Callable[[Choice | Step], None] = partial(_step, (opened.row, opened.number), opened.sites)
    head(data, key=key, on_event=follow)


def _step(opened: tuple[int, int], sites: Sequence[AttentionSite], event: Choice | Step) -> None:
    """The keys [ and ] in a map open the head before or after, over the ends of the layers."""
    if isinstance(event, Step):
        row, number = event.leads_to(*opened, rows=len(sites), heads=sites[0].heads)
        open_head(sites[row], number)
