"""Attention: every layer and head at once, and the open head whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from inspector import maps
from inspector.trace import MixerSite
from inspector.views.attention import (
    all_heads,
    compare_with,
    every_head,
    every_layer,
    find_head,
    head_choice,
    head_line,
    mixers,
    one_token,
    open_head,
    quantities,
    reading,
    rollout,
    room,
    usual,
    view_options,
    why,
    wrote,
)
from inspector.views.components import proof
from inspector.views.components.head import Choice, Step
from inspector.views.shell import (
    boundary,
    controls,
    link,
    open_site,
    overview,
    problems,
    readings,
    recording_notes,
    sentence,
    session,
    site_words,
)
from inspector.wording import attention as said
from models import checkpoints
from models.training import history

# The open head, its pinned queries, a key to explain, what is drawn, the order and choice of heads.
link.parameters(
    *("layer", "mixer", "call", "head", "query", "key", "lines", "between", "tokens", "sort", "only"),
    *(wrote.TRAIL, wrote.OPENED),
)
with st.container(gap=None):  # what is said while the text is read leaves no gap behind
    inspected = session.inspected(notes_weights=False, attends=False)
    place = st.container()
trace = inspected.trace
with place:
    stream = controls.stream(trace.streams)
rows = trace.mixing_sites_of(stream)  # of the grid: the attentions, and with them layers that mix in another way
sites = trace.sites_of(stream)
measures = overview.measures(trace, stream=stream)
telling = overview.first_head(trace, stream=stream) if sites else (rows[0].layer, 0)
long = session.is_long(trace)
mixed = len(rows) > len(sites)
board = every_layer if mixed else all_heads


def opened() -> tuple[int, int]:
    """Row of the grid and head that the reader opened, or that the link names, or else the most telling."""
    row = every_layer.row(rows, default=telling[0]) if mixed else open_site.row(sites, default=telling[0])
    last = rows[row].heads - 1
    return row, link.number("head", default=min(telling[1], last), last=last) or 0


def choose_head(row: int, number: int) -> None:
    """Choose a head before the run that follows the click, so that this run draws it."""
    if mixed:
        every_layer.choose(rows[row], rows)
    else:
        open_site.choose(sites[row])
    link.assign("head", number)


def choose_attention(row: int, number: int) -> None:
    """Choose a head by the row of its attention among the stream's."""
    choose_head(rows.index(sites[row]), number)


def choose_cell(query: int, key: int) -> None:
    """Choose a cell before the run that follows the click: its query is pinned, and the cell is framed in the map."""
    link.assign("query", (query,))
    link.assign("key", key)


def follow(event: Choice | Step, queries: maps.Groups) -> None:
    """Act on a click in the open head: pin queries (kept by their tokens), or open the head before or after."""
    if isinstance(event, Choice):
        link.assign("query", tuple(queries.members[query][0] for query in event.queries) or None)
        link.assign("key", None)
    else:
        choose_head(*every_layer.neighbour(rows, opened(), by=event.by))


if st.session_state.setdefault("pinned_in", trace.text) != trace.text and not link.followed():
    link.assign("query", None)  # another text, other tokens
    link.assign("key", None)
st.session_state["pinned_in"] = trace.text


def explorer() -> None:
    """Options, the head's numbers, grid and open head: what a click changes, and nothing else."""
    place, number = opened()
    site = rows[place]
    pinned = link.several("query", default=(), allowed=range(len(site.queries)), but="")
    key = link.number("key", default=None, last=len(site.keys) - 1)
    drawn = open_head.options()
    arranged = board.options(trace, measures, stream=stream)
    wrote.keep_trail(site, number, query=pinned[-1] if pinned else None, key=key)
    link.publish()
    places = room.places()
    if isinstance(site, MixerSite):

        def grid(shown: maps.Arrangement, options: view_options.ViewOptions) -> None:
            """Draw the grid of all layers beside the head."""
            last = pinned[-1] if pinned else None
            followed = one_token.choose(trace, shown, stream=stream, pinned=last) if sites else None
            every_layer.draw(
                trace,
                shown,
                measures,
                stream=stream,
                scale=options.scale,
                options=arranged,
                on_open=choose_head,
                token=followed,
            )

        mixers.draw(
            trace,
            site,
            number,
            row=place,
            places=places,
            pinned=pinned,
            chosen=None if key is None or len(pinned) != 1 else (pinned[0], key),
            drawn=drawn,
            long=long,
            follow=follow,
            on_open=choose_head,
            grid=grid,
        )
        return
    row = sites.index(site)
    with places.bar:
        kind = quantities.choose()
        which = head_choice.choose(sites, row=row, number=number, kind=kind)
        options = view_options.choose(long=long)
        compare_with.choose(trace, rows, row=place, number=number)
        over_a_corpus = st.container(width="content")  # filled last, for the first time a large model is hashed
    try:
        shown = options.arrange(trace, stream=stream)
    except ValueError as error:
        problems.show(str(error))
        return
    seen = shown if kind.name == "weights" else options.alone(trace, stream=stream)
    rolled = kind.name == "rollout"
    with places.bar:
        window = open_head.window(seen, stream=stream) if seen.is_long and not rolled else open_head.ALL
    whole = kind.name == "weights" and not which.name
    view = every_head.view(trace, shown, sites=sites, scale=options.scale) if whole and not mixed else ""
    token = pinned[-1] if pinned else why.telling_query(trace, stream)
    chosen = None if key is None or len(pinned) != 1 else (pinned[0], key)
    alone = not (rolled or which.name)
    with places.grid:
        followed = one_token.choose(trace, shown, stream=stream, pinned=pinned[-1] if pinned else None)
    read = reading.head(trace, site, number)
    tell, link_told, named, proved = partial(said.head, read), read.link, read.named, None
    if (
        followed is not None
        and not read.is_chance
        and (strongest := one_token.strongest(trace, followed, stream=stream, row=row, head=number))
    ):
        tell, link_told = partial(said.pinned, strongest, read, side=followed.side), strongest
        named = strongest.at if followed.side == "gives" else (None, followed.position)
        proved = strongest.at
    linked = None if link_told is None else link_told.at
    with places.head:  # before the sentence, for a reader who opened a head waits for the map
        if rolled:
            explain = rollout.draw(trace, seen, stream=stream, token=token, scale=options.scale)
        else:
            explain = open_head.draw(
                inspected,
                seen,
                window=window,
                kind=kind,
                which=which,
                sites=sites,
                row=row,
                place=place,
                number=number,
                pinned=() if followed is not None and followed.side == "gets" else pinned,
                chosen=chosen,
                named=named if alone else None,
                sentence=tell() if alone else "",
                options=drawn,
                scale=options.scale,
                view=view,
                follow=follow,
                on_open=choose_head,
                files=places.line,
            )
    with places.line:
        recording_notes.badge(trace.model, trace)
        if rolled:
            head_line.draw(rollout.title(trace, stream=stream, token=token))
        elif which.name:
            head_line.draw(which.name)
        else:
            before = sum(other.heads for other in sites[:row])  # a row per head, in the order of the sites
            told = measures.iloc[before + number]
            numbers = head_line.numbers_of(told, tokens=len(site.keys)) + site_words.cards(site, number)
            head_line.draw(open_head.title(trace, site, number), numbers, whole=options.hide or options.words)
    most = said.most(reading.grid(trace, stream))
    told_head = tell(proof=proof.LINK) if alone else ""
    opening = rollout.sentence(trace, stream=stream, token=token) if rolled else told_head
    with places.sentence:
        sentence.show(opening or most, said.terms(read) if alone else ())
    with places.grid:
        board.draw(
            trace,
            shown,
            measures,
            stream=stream,
            scale=options.scale,
            options=arranged,
            on_open=choose_head,
            selected=(place, number) if rolled else None,
            token=followed,
        )
        with st.container(gap=None):  # a place of its own: the search behind it stays open where a token is pinned
            if followed is not None:
                one_token.draw(trace, shown, followed, stream=stream)
        find_head.draw(trace, sites, on_open=choose_attention, on_link=choose_cell, link=chosen or linked)
    with places.proof:
        why.draw(inspected, site=site, number=number, query=pinned[-1] if pinned else None, key=key, told=linked)
        proof.watch(opened=why.proven(), on_open=partial(why.prove, proved))
    st.caption(quantities.differs(kind, trace, site=site))
    if rolled and not pinned:
        st.caption(said.NOT_PINNED)
    if kind.name != "weights" and (options.words or options.renormalise):
        st.caption(said.no_share(quantity=kind.quantity))
    explain()
    with st.container():  # a place of its own, for many heads have nothing to add
        more = [said.head(read)] if link_told is not read.link else []
        more += [said.also(read)]
        if alone and any(more):
            sentence.note(" ".join(filter(None, more)), said.also_terms(read))
        if alone:
            usual.draw(inspected, told, site=site, head=number)
    if alone:
        with over_a_corpus:
            usual.lead(inspected, site=site, head=number)
    if view:  # last, for it is the largest message
        every_head.draw(trace, shown, sites=sites, scale=options.scale, view=view)


with place:
    if long:  # a click in a fragment would have to wait until the pictures of a long text are drawn
        explorer()
    else:
        st.fragment(boundary.part(explorer))()
    with st.expander(said.MORE, key="more", on_change="rerun") as more:
        if sites:
            st.markdown(said.grid(reading.grid(trace, stream)))
        if mixed:
            every_layer.explain()
        else:
            all_heads.explain(sites)
        # A closed table would bring a megabyte of scripts, and the pictures would wait for them.
        if more.open and sites:
            readings.table(measures, name="heads", height=420)
        if trace.model in history.names(checkpoints.FOLDER):
            training = Path(__file__).parents[1] / "training" / "page.py"
            learned = {"run": trace.model}
            st.page_link(training, label=said.BECAME, query_params=learned)
