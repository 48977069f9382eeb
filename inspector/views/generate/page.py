"""Generate: how a model writes, token by token; what the KV cache saves; the texts that a beam search weighs."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import streamlit as st

from inspector import generating
from inspector.generating import beams
from inspector.plots import beams as draw_beams
from inspector.plots import generating as draw
from inspector.plots import theme
from inspector.views.generate.steps import steps
from inspector.views.shell import link, progress, queue, session, stand_in, widgets
from models import failures

TRANSLATOR = "translator"
GREEDY, SAMPLE = "greedy", "sample"
SCORE = {"wu": r"$\log P\,/\,((5 + n) / 6)", "power": r"$\log P\,/\,n"}
AMOUNTS: dict[str, draw.Amount] = {"each step": "flops", "up to each step": "total"}

link.parameters("step")
shown = stand_in.inspected("does not write", can=lambda loaded: loaded.write is not None, instead=[TRANSLATOR])
loaded, text, mode = shown.loaded, shown.trace.text, session.mode()


def chosen_decoding() -> generating.Decoding:
    """Return the reader's way to choose the next token: greedy, or drawn with the parameters that the reader sets."""
    how = st.segmented_control(
        "Next token", [GREEDY, SAMPLE], default=GREEDY, key="decoding", required=True,
        bind=link.bind_choice("decoding", default=GREEDY, options=[GREEDY, SAMPLE]),
        help="greedy: the likeliest each time. sample: drawn by its probability.",
    )  # fmt: skip
    if how != SAMPLE:
        return generating.Decoding()
    temperature = widgets.decimal(
        "Temperature", "temperature", default=1.0, first=0.05, last=5.0,
        help="Divides the scores: below 1 the likely tokens become likelier, above 1 the unlikely ones.",
    )  # fmt: skip
    top_k = widgets.number(
        "Top-k", "top_k", default=0, last=1000, help="Draw from the k likeliest alone; 0 for all (Fan et al. 2018)."
    )
    top_p = widgets.decimal(
        "Top-p", "top_p", default=1.0, first=0.05, last=1.0,
        help="Of the tokens that Top-k leaves, draw from the fewest that hold this share (Holtzman et al. 2020).",
    )  # fmt: skip
    seed = widgets.number("Seed", "seed", default=0, last=9999, help="The same seed draws the same text again.")
    return generating.Decoding(True, temperature, top_k or None, top_p, seed)


def written(how: generating.Decoding, new_tokens: int) -> generating.Written:
    """Write the text with and without the cache, once, with a bar where that is long; a rerun of the page stops it."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False)

    def write() -> generating.Written:
        with queue.turn("Writing"):
            return generating.write(loaded, text, how=how, new_tokens=new_tokens, watch=seen)

    def seen(done: int) -> None:
        bar.draw(done, 2 * new_tokens, f"{done} tokens decoded, with the cache and then without")

    key = ("written", loaded.card.id, text, how, new_tokens)
    made = session.cached(key, write)
    place.empty()
    return made


def tree(width: int, new_tokens: int) -> beams.Tree:
    """A beam search with all its steps, once."""

    def search() -> beams.Tree:
        with queue.turn("The beam search"):
            return beams.search(loaded, text, beams=width, new_tokens=new_tokens)

    return session.cached(("beams", loaded.card.id, text, width, new_tokens), search)


def what_the_cache_saves(made: generating.Written, table: pd.DataFrame) -> None:
    """Bytes kept and FLOPs saved, as figures with their formulas."""
    last = table.iloc[-1]
    with st.container(horizontal=True, vertical_alignment="center"):
        if made.same:
            st.badge("Same tokens with and without", icon=":material/verified:", color="green")
        else:
            st.badge(
                "Other tokens without", icon=":material/warning:", color="red",
                help="Both ways compute the same in another order; where two tokens are all but equally likely, the "
                "last digit decides.",
            )  # fmt: skip
        st.caption(
            f"With the cache the decoder wrote this text with {theme.number(last.total_uncached / last.total_cached)} "
            f"times fewer FLOPs: {theme.quantity(last.total_cached)} instead of {theme.quantity(last.total_uncached)}. "
        )
    amount = st.segmented_control(
        "FLOPs of", list(AMOUNTS), default="each step", key="flops_of", required=True,
        bind=link.bind_choice("flops_of", default="each step", options=list(AMOUNTS)),
    )  # fmt: skip
    left, right = st.columns(2, gap="medium")
    with left:
        widgets.chart(draw.cache(table, mode=mode), alt="bytes in the KV cache after each step", key="cache")
        st.caption(kept_for_a_token(made))
    with right:
        widgets.chart(
            draw.flops(table, amount=AMOUNTS[amount], mode=mode), alt=f"FLOPs of {amount}, both ways", key="flops"
        )
        st.caption(
            "With the cache a step works on the newest token alone, without it on all tokens so far. Matrix products "
            "of the decoder, 1 multiply-add = 2 FLOPs."
            + ("" if made.source is None else " The encoder reads the source once, either way; that is left out.")
        )


def kept_for_a_token(made: generating.Written) -> str:
    """Say how the cache grows, as measured."""
    grows = {after.cache_bytes - before.cache_bytes for before, after in pairwise(made.steps)} or {0}
    more = f"{min(grows):,}" if len(grows) == 1 else f"{min(grows):,} to {max(grows):,}"
    each = f"Each step adds {more} bytes to it, as measured. " if len(made.steps) > 1 else ""
    source = (
        "" if made.source is None else f" Those of the source's {made.source} tokens are kept too, and do not grow."
    )
    return (
        rf"{each}A token's keys and values are kept in every layer: $2 L K E b$ bytes ($L$ decoder layers, $K$ key "
        rf"heads, $E$ numbers each of $b$ bytes), unless a layer keeps the last tokens alone or something else.{source}"
    )


def beam_search(new_tokens: int) -> None:
    """The tree and the texts that it ended with."""
    width = widgets.number("Beams", "beams", default=4, last=6, first=1, help="How many texts are kept at each step.")
    grown = tree(width, new_tokens)
    st.caption(
        r"Greedy decoding can miss the likeliest text: a likely first token may lead to unlikely ones. A beam keeps "
        rf"several texts at each step and answers with the best score, "
        rf"{SCORE[grown.divides_by]}^{{{grown.length_penalty}}}$ for $n$ new tokens: without the division short texts "
        "would win. A line is the thicker, the likelier its token; hover over a node for the numbers."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        widgets.chart(draw_beams.tree(grown, mode=mode), alt="the beam search as a tree", key="tree")
    with right:
        widgets.table(beams.texts(loaded, grown, greedy=tree(1, new_tokens)), name="beam")
        st.caption("log P is the natural logarithm of the probability of the new tokens, the end token included.")


st.caption(
    f"{'The model reads the source once, then writes' if loaded.shape == 'encoder-decoder' else 'The model goes on'} "
    "one token at a time: it gives every token that it knows a probability of coming next, one of them is chosen and "
    "added, and it is asked again. Press Play, or walk through the steps."
)
try:
    room = generating.prompt(loaded, text).room
    with st.container(horizontal=True, vertical_alignment="bottom"):
        new_tokens = widgets.number(
            "At most, tokens", "new_tokens", default=min(40, room), last=room, first=1,
            help="A text ends earlier where the model writes its end token.",
        )  # fmt: skip
        how = chosen_decoding()
    with failures.told("Writing the text", instead="It is kept: change it, or choose another model."):
        made = written(how, new_tokens)
except ValueError as error:
    session.show_problem(str(error))
    st.stop()
table = made.table()

steps(made, table)
st.subheader("What the KV cache saves")
what_the_cache_saves(made, table)
st.subheader("Beam search as a tree")
beam_search(new_tokens)
with st.expander("All steps in numbers"):
    widgets.table(table, name="steps", height=320)
