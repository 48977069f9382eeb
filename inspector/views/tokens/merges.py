"""The section How pieces are learned: the merges of BPE, WordPiece and unigram, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots.tokens import chips
from inspector.plots.tokens import merges as draw
from inspector.readings.tokens import merges as read
from inspector.views.components.width import is_narrow
from inspector.views.figures import chart
from inspector.views.shell import link, sentence, session, widgets
from inspector.views.shell.player import Player
from inspector.views.tokens import corpus as corpora
from inspector.views.tokens import cutting
from inspector.wording.english.tokens import merges as words
from models import failures

if TYPE_CHECKING:
    from inspector.vocabularies import Corpus, Learned, Rule

PLAYER = Player("merges", interval=1.2, first=1)
MOST_WORDS = 60  # of the corpus, the most frequent first
FIRST_MERGES = 12


def show(inspected: session.Inspected) -> None:
    """Draw the section."""
    text = inspected.trace.text
    try:
        with st.popover("Corpus to learn from", icon=":material/edit_note:", type=widgets.quiet_button()):
            corpus, pieces = corpora.chosen(text)
        with failures.told("Learning pieces from this corpus", instead="Choose another corpus."):
            learned = session.cached(("merges", corpus.text, pieces), partial(_learned, corpus, pieces))
    except ValueError as error:
        session.show_problem(str(error))
        return
    if not learned["count"].merges:
        session.show_problem(words.no_merges(least=corpora.LEAST, pieces=pieces), what="Nothing to show")
        return
    first = session.cached(("telling merge", corpus.text, pieces), partial(read.telling, learned["count"]))
    if PLAYER.load((corpus.text, pieces)):
        link.assign("merge", None)
    if PLAYER.playing:
        link.assign("merge", _at(first))  # the link waits until it stops
    PLAYER.panel(_panel)(learned, corpus, pieces, first)
    cutting.show(corpus, pieces=pieces)


def _learned(corpus: Corpus, pieces: int) -> dict[Rule, Learned]:
    from inspector import vocabularies

    return {
        rule: vocabularies.learn(corpus.marked, merges=pieces, rule=rule, least=corpora.LEAST)
        for rule in vocabularies.RULES
    }


def _panel(learned: dict[Rule, Learned], corpus: Corpus, pieces: int, first: int) -> None:
    bpe = learned["count"]
    last = len(bpe.merges)
    at, go = partial(_at, first), partial(_go, last)
    PLAYER.advance(last, at=at, go=go)
    step = link.number("merge", default=first, last=last, first=1) or first
    if not PLAYER.playing:  # as it plays the link stays, or the browser's Back would go through every step
        link.publish()
    PLAYER.follow()
    table = read.pairs(bpe, step)
    sentence.show(words.merging(read.merging(bpe, step, table=table), merges=last), words.TERMS)
    _controls(step, last, at=at)
    python = (
        "from inspector import vocabularies\n\n"
        f"corpus = vocabularies.Corpus.of({corpus.text!r})\n"
        f"learned = vocabularies.learn(corpus.marked, merges={pieces}, least={corpora.LEAST})\n"
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("The corpus's words after this merge", anchor=False)
        spelled = bpe.spelled(step)
        shown = [(word, spelled[word], times) for word, times in list(bpe.words.items())[:MOST_WORDS]]
        chart.show(
            partial(
                chips.words, shown, newest=bpe.merges[step - 1].piece, width=chips.NARROW if is_narrow() else chips.WIDE
            ),
            alt="the words of the corpus as their pieces",
            key="spelled",
            name=f"words-after-merge-{step}",
            python=f"{python}learned.spelled({step})",
        )
        st.caption(
            f"The {len(shown)} most frequent of {len(bpe.words)} different words; × says how often each stands in the "
            "corpus, ▁ is the space before a word, and a thick frame marks the piece that this merge makes."
        )
    with right:
        st.subheader("The pairs it chose among", anchor=False)
        chart.show(
            partial(draw.pairs, table, top=read.TOP),
            alt="the ten most frequent pairs before this merge",
            key="pairs",
            name=f"pairs-of-merge-{step}",
            python=f"{python}table = learned.pairs({step - 1})",
            table=table,
        )
        st.caption(words.weighed(table))
    _rules(learned, step=step, python=python)


def _rules(learned: dict[Rule, Learned], *, step: int, python: str) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Length of the corpus under three rules", anchor=False)
        chart.show(
            partial(
                draw.lengths,
                {rule: one.lengths() for rule, one in learned.items()},
                names=words.RULES,
                step=step,
            ),
            alt="symbols of the corpus by merges, a line for each rule",
            key="lengths",
            name="corpus-by-merges",
            python=f"{python}learned.lengths()",
        )
    with right:
        st.subheader("What each rule joins first", anchor=False)
        widgets.table(read.first_merges(learned, most=FIRST_MERGES), name="first-merges", words=words.HEADS, height=320)
    st.caption(words.LIBRARY)


# --- the step that is seen -------------------------------------------------------------------------------------------


def _at(first: int) -> int:
    return link.remembered("merge", first)


def _go(last: int, step: int) -> None:
    link.assign("merge", min(max(step, 1), last))


def _stop_at(last: int, step: int) -> None:
    PLAYER.stop()
    _go(last, step)
    link.publish()  # at once, so that a run of the whole page finds it there


def _moved(slider: int, last: int) -> None:
    """Go where the reader moved the slider; a slow browser may still tell of a slider that is gone."""
    state = st.session_state
    if slider == state["merges.slider"]:
        state["merges.slider_at"] = state[f"merges.slider {slider}"]
        _stop_at(last, state["merges.slider_at"])


def _controls(step: int, last: int, *, at: Callable[[], int]) -> None:
    go = partial(_go, last)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        PLAYER.button(last, at=at, go=go, key="play-merges", pause=lambda: _stop_at(last, at()))
        st.button("Back", icon=":material/skip_previous:", on_click=_stop_at, args=(last, step - 1), shortcut="B")
        st.button("Next", icon=":material/skip_next:", on_click=_stop_at, args=(last, step + 1), shortcut="N")
        if last == 1:
            return
        # A slider that something else has moved is a new one: what the browser still sends of the old one counts no
        # more.
        state = st.session_state
        slider: int = state.get("merges.slider", 0) + (state.get("merges.slider_at", step) != step)
        state["merges.slider"], state["merges.slider_at"] = slider, step
        st.slider(
            "Merge",
            1,
            last,
            step,
            key=f"merges.slider {slider}",
            on_change=_moved,
            args=(slider, last),
            label_visibility="collapsed",
        )
