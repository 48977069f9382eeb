"""Generate: how a model writes, token by token; what the KV cache saves; the texts that a beam search weighs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from inspector import generating
from inspector.generating import beams
from inspector.plots import beams as draw_beams
from inspector.views.components.width import is_narrow
from inspector.views.figures import chart
from inspector.views.generate.asking import waits
from inspector.views.generate.cache import cache
from inspector.views.generate.derived import derived
from inspector.views.generate.steps import steps
from inspector.views.shell import (
    appearance,
    caching,
    controls,
    link,
    loaded_models,
    problems,
    progress,
    readings,
    stand_in,
)
from inspector.wording import generate as words
from models import failures

GREEDY, SAMPLE = "greedy", "sample"
WRITERS = ("mini-gpt", "translator")  # shown in place of a model that does not write, the best first
MOST = 256  # new tokens
LIMITS = {
    "translator": words.TRANSLATOR_LIMITS,
    "mini-gpt": words.MINI_GPT_LIMITS,
    "smollm2": words.SMOLLM2_LIMITS,
    "smollm2-own": words.SMOLLM2_LIMITS,
}
SCORE = {"wu": r"$\log P\,/\,((5 + n) / 6)", "power": r"$\log P\,/\,n"}
BEAM_WORDS = {
    "text": "Text",
    "found_by": "Found by",
    "score": "Score",
    "log_probability": "log P",
    "tokens": "Tokens",
    "ended": "Ended by itself",
}


def chosen_decoding(room: int) -> tuple[generating.Decoding, int]:
    """Return how the reader wants the next token chosen, and how many tokens at most."""
    with st.popover(words.HOW_IT_WRITES, icon=":material/tune:", type=appearance.quiet_button()):
        how = st.segmented_control(
            "Next token", [GREEDY, SAMPLE], default=GREEDY, key="decoding", required=True,
            bind=link.bind_choice("decoding", default=GREEDY, options=[GREEDY, SAMPLE]),
            help=words.DECODING_HELP,
        )  # fmt: skip
        new_tokens = controls.number(
            "New tokens, at most", "new_tokens", default=min(40, room), last=room, first=1,
            help=words.NEW_TOKENS_HELP,
        )  # fmt: skip
        if how != SAMPLE:
            return generating.Decoding(), new_tokens
        temperature = controls.decimal(
            "Temperature", "temperature", default=1.0, first=0.05, last=5.0,
            help=words.TEMPERATURE_HELP,
        )  # fmt: skip
        top_k = controls.number("Top-k", "top_k", default=0, last=1000, help=words.TOP_K_HELP)
        top_p = controls.decimal(
            "Top-p", "top_p", default=1.0, first=0.05, last=1.0,
            help=words.TOP_P_HELP,
        )  # fmt: skip
        seed = controls.number("Seed", "seed", default=0, last=9999, help=words.SEED_HELP)
        return generating.Decoding(True, temperature, top_k or None, top_p, seed), new_tokens


def in_words(how: generating.Decoding, new_tokens: int, *, brief: bool) -> str:
    """Say how the next token is chosen; brief: in a few words, for a narrow window."""
    if brief:
        return words.brief_decoding(sampled=how.sampled, most=new_tokens)
    if not how.sampled:
        return words.greedy(most=new_tokens)
    return words.sampled(most=new_tokens, seed=how.seed)


def written() -> generating.WrittenText:
    """Write the text with and without the cache, once, with a bar and a Stop where that is long."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop="stop writing")

    def write() -> generating.WrittenText:
        with bar.turn("Writing"):
            return generating.write(loaded, text, how=how, new_tokens=new_tokens, watch=seen)

    def seen(done: int) -> None:
        bar.draw(done, 2 * new_tokens, words.decoded(done=done))

    made = caching.cached(("written", loaded.card.id, text, how, new_tokens), write)
    place.empty()
    return made


def tree(width: int) -> beams.BeamTree:
    """A beam search with all its steps, once."""
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


def beam_search() -> None:
    """The texts that a beam search ended with, and its tree."""
    width = controls.number("Beams", "beams", default=4, last=6, first=1, help=words.BEAMS_HELP)
    if waits("Search", loaded, tokens=(width + 1) * (given + new_tokens), of=asked, key="generate.search"):
        return
    grown = tree(width)
    st.markdown(words.beam_about(score=SCORE[grown.divides_by], penalty=grown.length_penalty))
    readings.table(beams.texts(loaded, grown, greedy=tree(1)), name="beam", words=BEAM_WORDS)
    st.caption(words.LOG_P)
    chart.show(
        partial(draw_beams.tree, grown),
        alt="the beam search as a tree",
        key="tree",
        name="beam-search",
        table=beams.table(grown),
        python=f"{beginning}\nfrom inspector import beams\n\n"
        f"tree = beams.search(loaded, {text!r}, beams={width}, new_tokens={new_tokens})",
    )
    st.caption(words.TREE_READ)


link.parameters("step")
shown = stand_in.inspected("does not write", can=lambda loaded: loaded.write is not None, instead=WRITERS)
loaded, text = shown.loaded, shown.trace.text
loaded = replace(loaded, max_tokens=min(loaded.max_tokens, loaded_models.tokens_allowed(loaded.card.id)))
try:
    prompt = generating.prompt(loaded, text)
    given = len(prompt.encoding)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        told = st.empty()
        how, new_tokens = chosen_decoding(min(prompt.room, MOST))
    told.markdown(in_words(how, new_tokens, brief=is_narrow()), width="content")
    beginning = f"import models\n\nloaded = models.load({loaded.card.id!r})"
    asked = (loaded.card.id, text, how, new_tokens)
    if waits("Write", loaded, tokens=new_tokens * (given + new_tokens), of=asked, key="generate.write"):
        st.stop()
    with failures.told("Writing the text", instead="It is kept: change it, or choose another model."):
        made = written()
except ValueError as error:
    problems.show(str(error))
    st.stop()
table = made.table()
lines = (
    f"{beginning}\nfrom inspector import generating\n\n"
    f"made = generating.write(loaded, {text!r}, how=generating.{how!r}, new_tokens={new_tokens})"
)

steps(
    made, table, limits=LIMITS.get(loaded.card.id, "") if loaded.card.trained else "", python=lines, shape=loaded.shape
)
st.subheader(words.CACHE_SAVES, anchor=False)
cache(made, table, python=lines)
if table["cache_bytes"].any():
    derived(loaded, made, table)
st.subheader(words.BEAM_TREE, anchor=False)
beam_search()
with st.expander(words.ALL_STEPS):
    readings.table(table, name="steps", height=320)
