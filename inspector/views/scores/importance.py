"""The section Importance: each token left out in turn, and which heads attend accordingly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.interventions import leave_one_out, maskable, most_telling
from inspector.plots.scores import left_out as draw
from inspector.readings import left_out as read
from inspector.readings.scores import place
from inspector.views.figures import chart, matrix
from inspector.views.scores.subject import Subject
from inspector.views.server import queue
from inspector.views.shell import by_name, progress, sentence, session, site_words, widgets
from inspector.wording.english import left_out as words
from inspector.wording.english.scores import head as named_head
from models import failures

if TYPE_CHECKING:
    from inspector.interventions.leave_one_out import LeftOut
    from models import LoadedModel

AT_ONCE = 64  # tokens: as many are left out without being asked for
MOST = 600
BEST, MIDDLE, OPEN = "Best head", "Median head", "Open head"
AXES = {"divergence": "KL(p ‖ p′), bits", "turned": "1 − cosine"}
PYTHON = "left = inspector.leave_one_out.leave_out(loaded, trace, query={query})\n"
TABLE = "table = inspector.leave_one_out.correlations(left)"


def show(subject: Subject) -> None:
    """Draw what each token's absence changes, and how every head's attention ranks the tokens beside it."""
    loaded = session.at_hand(subject.inspected, so="no token can be left out")
    said = st.container()
    query = _looked_at(subject, loaded)
    try:
        with failures.told("Leaving tokens out", instead="Choose another text or model."):
            left = _left_out(subject, loaded, query)
    except ValueError as error:
        session.show_problem(str(error).replace(loaded.card.id, loaded.card.title))
        return
    if left is None:
        return
    own = subject.stream in left.streams
    if not own:
        stream = left.streams[-1]
        subject = replace(subject, stream=stream, sites=subject.trace.sites_of(stream), row=0, head=0)
    every = session.cached((left.trace.key, "left out rho", query), lambda: leave_one_out.correlations(left))
    table = every[every["stream"] == subject.stream].reset_index(drop=True)
    ranked = int(table["rho"].notna().sum()) or 1
    chance = session.cached(
        ("rho by chance", len(left.positions), ranked),
        lambda: leave_one_out.chance(len(left.positions), heads=ranked),
    )
    told = read.tokens(left, whole=subject.trace.tokens, guesses=loaded.fills_masks)
    found = read.heads(table, chance)
    with said:
        sentence.show(f"{words.tokens(told)} {words.heads(found)}", ["attention", "rank correlation"])
    if not own:
        st.caption("The decoder's own keys are no tokens of the source: you see its attention to the source.")
    if found is not None:
        _heads(subject, left, table, found, query=query)
    st.subheader("What each token's absence changes", anchor=False)
    python = subject.python + PYTHON.format(query=query)
    chart.show(
        partial(draw.changes, left.tokens, left.changes, title=AXES[left.measure]),
        alt="A bar for each token that was left out",
        key="left-out-changes",
        python=python,
    )
    st.caption(_how(left, loaded))
    if found is not None:
        st.markdown(words.chance(found, count=len(left.positions)))
    st.markdown(words.PAPERS)
    with st.expander("All numbers"):
        widgets.table(_numbers(left), name="left-out-tokens", height=300)
        widgets.table(every, name="left-out-heads", height=300)


def _looked_at(subject: Subject, loaded: LoadedModel) -> int | None:
    """Draw the choice of what is looked at: the output at a token, or all last states."""
    trace = subject.trace
    read_tokens = (trace.target or trace.encoding).tokens
    special = trace.encoding.special if loaded.fills_masks else (False,) * len(read_tokens)
    places = maskable(trace.encoding)
    enough: list[int] = []
    if len(places) > leave_one_out.LEAST:
        first = places[leave_one_out.LEAST - 1] + 1 if loaded.shape == "decoder" else 0
        enough = [place for place in range(first, len(read_tokens)) if not special[place]]
    names = ["All tokens: last states", *(f"{place} {read_tokens[place]}" for place in enough)]
    default = 0
    if loaded.predict is not None and enough:
        telling = {
            "encoder": lambda: most_telling(loaded, trace.encoding),
            "decoder": lambda: enough[-1],
            "encoder-decoder": lambda: enough[min(1, len(enough) - 1)],
        }[loaded.shape]
        chosen = session.cached((trace.key, "left out first"), telling)
        default = 1 + enough.index(chosen) if chosen in enough else 1
    label = "Output at" if loaded.predict is None else "Guess at" if loaded.fills_masks else "Prediction after"
    chosen = by_name.one(label, names, name="left_at", default=default)
    return None if chosen == 0 else enough[chosen - 1]


def _left_out(subject: Subject, loaded: LoadedModel, query: int | None) -> LeftOut | None:
    """Leave each token out, at once in a short text and at a button in a long one; None until it is pressed."""
    trace = subject.trace
    count = len(leave_one_out.candidates(loaded, trace, query=query))
    key = (trace.key, "left out", query)
    done: set[object] = st.session_state.setdefault("left_out.done", set())
    if count > MOST:
        raise ValueError(
            f"the text has {count:,} tokens to leave out, a run of the model each, and this page makes up to {MOST}; "
            "from Python there is no limit"
        )
    asked, place = st.empty(), st.empty()
    if count > AT_ONCE and key not in done:
        seconds = session.cached((trace.key, "seconds a run"), lambda: leave_one_out.seconds(loaded, trace))
        with asked.container():
            st.caption(
                f"Each of {count:,} tokens is left out once, a run of the model each: about "
                f"{max(1, round(count * seconds))} s here."
            )
            if not st.button("Leave out each token", icon=":material/play_arrow:", key="left-out-start"):
                return None

    def make() -> LeftOut:
        bar = progress.Bar(place, at_once=count > AT_ONCE, stop="left-out-stop", holds=count <= AT_ONCE)
        with queue.turn("Leaving tokens out"):
            return leave_one_out.leave_out(
                loaded,
                trace,
                query=query,
                on_progress=lambda finished, total: bar.draw(finished, total, f"{finished} of {total} tokens"),
            )

    left = session.cached(key, make)
    asked.empty()
    place.empty()
    done.add(key)
    return left


def _heads(subject: Subject, left: LeftOut, table: pd.DataFrame, found: read.Heads, *, query: int | None) -> None:
    """Draw rho of every head of a stream, and one head's ranks."""
    sites = subject.sites
    shown = widgets.bar("Head beside it", [BEST, MIDDLE, OPEN], "left_head")
    if shown == OPEN:
        site, head = subject.site, subject.head
    else:
        at = found.best if shown == BEST else found.middle
        site = next(one for one in sites if (one.layer, one.call) == (at.layer, at.call))
        head = at.head
    rows = [(one.layer, one.call) for one in sites]
    calls: Sequence[int] = table["call"].tolist() if "call" in table else [0] * len(table)
    wide = table.assign(row=[rows.index(one) for one in zip(table["layer"], calls, strict=True)])
    values = wide.pivot(index="row", columns="head", values="rho").to_numpy(float)
    python = subject.python + PYTHON.format(query=query) + TABLE

    def pick(one: matrix.Pick) -> None:
        subject.open(row=one.row, head=one.column)
        st.session_state["left_head"] = OPEN

    left_side, right_side = st.columns(2, gap="medium")
    with left_side:
        st.subheader("Spearman's ρ of every head", anchor=False)
        matrix.show(
            matrix.Panel(
                values,
                rows=[name.capitalize() for name in site_words.layer_names(sites)],
                columns=[f"head {number}" for number in range(values.shape[1])],
                marked=(sites.index(site),),
            ),
            row_title="layer",
            column_title="head",
            quantity="Spearman's ρ",
            numbered="neither",
            top=1.0,
            diverging=True,
            name="left-out-rho",
            key="left-out-rho",
            python=python,
            on_pick=pick,
        )
    own = (table["layer"] == site.layer) & (table["head"] == head) & (pd.Series(calls) == site.call)
    rho = float(table.loc[own, "rho"].iloc[0])
    name = named_head(place(table[own].iloc[0]))
    with right_side:
        st.subheader(name, anchor=False)
        attention = session.cached(
            (left.trace.key, "left out attention", site.stream, site.layer, site.call, query),
            lambda: leave_one_out.received(left, site),
        )[head]
        chart.show(
            partial(draw.ranks, left.tokens, attention, left.changes, head=name, rho=rho),
            alt=f"The tokens ranked by the attention of {name} and by what their absence changes",
            key="left-out-ranks",
            python=python,
            table=_numbers(left).assign(attention=attention),
        )


def _numbers(left: LeftOut) -> pd.DataFrame:
    """Return a row per token that was left out: position, token, what it changes."""
    table = pd.DataFrame({"position": left.positions, "token": left.tokens, left.measure: left.changes})
    return table.assign(variation=left.variation) if left.variation else table


def _how(left: LeftOut, loaded: LoadedModel) -> str:
    """Say how a token is left out, and what is compared."""
    where = "from the chosen token" if left.query is not None else "the mean over the other tokens that see it"
    encoder = " (in the encoder the mean over its queries)" if left.trace.target is not None and left.query else ""
    compared = (
        "KL divergence of the predictions with all tokens and with one left out, in bits (total variation: the table)"
        if left.measure == "divergence"
        else "1 − cosine of the last hidden state, before and after"
    )
    hidden = " The token to guess is hidden in all runs." if loaded.fills_masks and left.query is not None else ""
    return (
        "A token is left out as padding is: hidden as a key from every query of every layer, so that the rest of each "
        "row is shared out again. Positions stay, no [MASK] takes its place, and special tokens are never left out. "
        f"Compared: {compared}. Attention: {where}{encoder}.{hidden}"
    )
