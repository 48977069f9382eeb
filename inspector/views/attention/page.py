"""Attention: every layer and head at once, and the open head whole."""

from __future__ import annotations

import streamlit as st

from inspector import heads, maps
from inspector.views.attention import all_heads, head_choice, quantities, rollout, why
from inspector.views.attention import open_head as one_head
from inspector.views.components.head import Choice, Step
from inspector.views.shell import boundary, link, open_site, session, site_words, widgets

# The open head, its pinned queries, a key to explain, what is drawn, the order and choice of heads.
link.parameters("layer", "call", "head", "query", "key", "lines", "between", "tokens", "sort", "only")
inspected = session.inspected()
trace = inspected.trace
stream = widgets.stream(trace.streams)
sites = trace.sites_of(stream)
last_head = sites[0].heads - 1
measures = session.measures(trace).query("stream == @stream")
telling = heads.most_telling(measures)
long = session.is_long(trace)


def opened() -> tuple[int, int]:
    """Row of the grid and head that the reader opened, or that the link names, or else the most telling."""
    return open_site.row(sites, default=telling[0]), link.number("head", default=telling[1], last=last_head) or 0


def open_head(row: int, number: int) -> None:
    """Called before the run that follows a click, so that this run draws the answer."""
    open_site.choose(sites[row])
    link.assign("head", number)


def step(by: int) -> None:
    """Open the head before or after, over the ends of the layers."""
    row, number = opened()
    count = sites[0].heads
    open_head(*divmod((row * count + number + by) % (len(sites) * count), count))


def follow(event: Choice | Step, queries: maps.Groups) -> None:
    """Act on a click in the open head: pin queries (kept by their tokens), or open another head."""
    if isinstance(event, Choice):
        link.assign("query", tuple(queries.members[query][0] for query in event.queries) or None)
        link.assign("key", None)
    else:
        step(event.by)


if st.session_state.setdefault("pinned_in", trace.text) != trace.text:
    link.assign("query", None)  # another text, other tokens
    link.assign("key", None)
st.session_state["pinned_in"] = trace.text


def explorer() -> None:
    """Options, numbers, grid and open head: what a click changes, and nothing else."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row, number = opened()
        site = sites[row]
        pinned = link.several("query", default=None, allowed=range(len(sites[0].queries)), but="")
        key = link.number("key", default=None, last=len(sites[0].keys) - 1)
        drawn = one_head.options()
        arranged = all_heads.options(measures)
        link.publish()
        st.button("Previous head", icon=":material/chevron_left:", on_click=step, args=(-1,), help="Key [ in the views")
        st.button("Next head", icon=":material/chevron_right:", on_click=step, args=(1,), help="Key ] in the views")
        hide = st.toggle("Hide special tokens", key="hide", bind=link.bind_switch("hide"))
        renormalise = st.toggle(
            "Renormalise",
            key="renormalise",
            bind=link.bind_switch("renormalise"),
            disabled=not hide,
            help="Divide each row by what is left after hiding, so that it sums to 1 again.",
        )
        words = st.toggle("Merge word pieces", key="words", bind=link.bind_switch("words"))
        scale = widgets.colour_scale(long=long)
    try:
        shown = maps.arrange(trace, stream=stream, hide_special=hide, merge_words=words, renormalise=renormalise)
    except ValueError as error:
        session.show_problem(str(error))
        return
    told = measures.iloc[row * site.heads + number]  # a row per head, in the order of the sites
    widgets.cards(widgets.head_numbers(told, tokens=len(site.keys)) + site_words.cards(site, number))
    if hide or words:
        st.caption("These numbers describe the whole map, with nothing hidden or merged.")
    left, right = st.columns([2, 3], gap="medium")
    with right:  # before the grid, for which a click on a head does not have to wait
        with st.container(horizontal=True, vertical_alignment="center"):
            kind = quantities.choose()
            alone = head_choice.one(row, number)
            which = head_choice.choose(sites, row=row, number=number) if kind.name == "weights" else alone
        st.caption(kind.differs)
        seen = shown
        if kind.name != "weights":
            seen = maps.arrange(trace, stream=stream, hide_special=hide)
            if words or renormalise:
                st.caption(f"Tokens stand alone, and no row is renormalised: a {kind.quantity} is no share to add up.")
        if kind.name == "rollout":
            token = pinned[-1] if pinned else why.telling_query(trace, stream)
            rollout.draw(trace, seen, stream=stream, token=token, scale=scale)
        else:
            one_head.draw(
                inspected,
                seen,
                kind=kind,
                which=which,
                sites=sites,
                row=row,
                number=number,
                pinned=pinned,
                options=drawn,
                scale=scale,
                follow=follow,
            )
    with left:
        all_heads.draw(
            trace,
            shown,
            measures,
            stream=stream,
            scale=scale,
            options=arranged,
            on_open=open_head,
            selected=(row, number) if kind.name == "rollout" else None,
        )
    why.draw(inspected, site=site, number=number, query=pinned[-1] if pinned else None, key=key)


if long:  # a click in a fragment would have to wait until the pictures of a long text are drawn
    explorer()
else:
    st.fragment(boundary.part(explorer))()
with st.expander("What every head does, in numbers"):
    widgets.table(measures, name="heads", height=420)
