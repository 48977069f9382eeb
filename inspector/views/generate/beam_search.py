"""The texts that a beam search ended with, and the search as a tree."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.generating import beams
from inspector.plots import beams as draw_beams
from inspector.views.figures import chart
from inspector.views.generate.asking import waits
from inspector.views.shell import caching, controls, progress, readings, sentence
from inspector.wording import generate as words

if TYPE_CHECKING:
    from models import LoadedModel

SCORE = {"wu": r"$\log P\,/\,((5 + n) / 6)", "power": r"$\log P\,/\,n"}


def draw(loaded: LoadedModel, text: str, *, given: int, new_tokens: int, of: Hashable, python: str) -> None:
    """Draw a beam search: what it found beside greedy decoding, the tree, and its texts.

    given: how many tokens the model begins from; new_tokens: how many it writes at most. of: what is written. python:
    the lines that load the model.
    """
    told = st.container()
    width = controls.number("Beams", "beams", default=4, last=6, first=1, help=words.BEAMS_HELP)
    if waits("Search", loaded, tokens=(width + 1) * (given + new_tokens), of=of, key="generate.search"):
        return
    grown, greedy = (_tree(loaded, text, width=beam, new_tokens=new_tokens) for beam in (width, 1))
    texts = beams.texts(loaded, grown, greedy=greedy)
    with told:
        sentence.show(words.gained(beams.gain(texts)))
    chart.show(
        partial(draw_beams.tree, grown),
        alt="the beam search as a tree",
        key="tree",
        heading=words.BEAM_TREE,
        name="beam-search",
        table=beams.table(grown),
        python=f"{python}\nfrom inspector import beams\n\n"
        f"tree = beams.search(loaded, {text!r}, beams={width}, new_tokens={new_tokens})",
    )
    st.caption(words.TREE_READ)
    readings.table(texts.assign(ended=texts["ended"].map(words.ENDED)), name="beam", words=words.BEAM_COLUMNS)
    st.caption(words.beam_about(score=SCORE[grown.divides_by], penalty=grown.length_penalty))


def _tree(loaded: LoadedModel, text: str, *, width: int, new_tokens: int) -> beams.BeamTree:
    """Search with all steps, once, with a bar and a Stop where that is long."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop=f"stop searching {width}")

    def search() -> beams.BeamTree:
        with bar.turn("The beam search"):
            return beams.search(loaded, text, beams=width, new_tokens=new_tokens, watch=seen)

    def seen(done: int) -> None:
        bar.draw(done, new_tokens, words.searched(done=done, width=width))

    grown = caching.cached(("beams", loaded.card.id, text, width, new_tokens), search)
    place.empty()
    return grown
