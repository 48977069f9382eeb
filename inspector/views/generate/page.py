"""Generate: how a model writes, token by token; what the KV cache saves; the texts that a beam search weighs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from inspector import generating
from inspector.costs import decoding
from inspector.generating import beams
from inspector.plots import beams as draw_beams
from inspector.plots import generating as draw
from inspector.plots import theme
from inspector.views.generate.steps import steps
from inspector.views.shell import link, progress, queue, session, widgets
from models import failures

TRANSLATOR = "translator"
GREEDY, SAMPLE = "greedy", "sample"
AMOUNTS: dict[str, draw.Amount] = {"each step": "flops", "up to each step": "total"}

link.parameters("step")
st.title("Generate")
inspected = session.inspected()
if inspected.loaded is None:
    session.show_problem(f"The model {inspected.trace.model!r} of this saved trace is not at hand, so it cannot write.")
    st.stop()
loaded, text, mode = inspected.loaded, inspected.trace.text, session.mode()


def to_the_translator() -> None:
    """The text stays."""
    st.session_state["model"] = TRANSLATOR


def only_reads() -> None:
    """Say why this model does not write here, and offer a model that does."""
    why = (
        "is an encoder: it reads a whole text at once and does not write. Writing is the work of a decoder, which adds "
        "one token after the other."
        if loaded.write is None
        else "is run by transformers, and this page follows the KV cache of the project's own Transformer, token by "
        "token. The other pages show this model as it reads."
    )
    st.info(f"{loaded.card.title} {why}", icon=":material/menu_book:")
    opened = st.session_state.get("file") is not None
    st.button(
        "Switch to the translator, with this text",
        type="primary",
        icon=":material/translate:",
        on_click=to_the_translator,
        disabled=opened,
        help="Remove the saved trace in the sidebar first." if opened else None,
    )


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
    config, last = loaded.config, table.iloc[-1]
    number = next(loaded.network.parameters()).element_size()
    layers, key_heads, width = config.decoder_depth, config.key_heads, config.head_width
    each = 2 * layers * key_heads * width * number
    source = "" if made.source is None else (
        f" The source's {made.source} tokens are kept too, once: {each * made.source:,} bytes that do not grow."
    )  # fmt: skip
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
            f"As measured here, once: {1000 * made.seconds:.0f} ms with it, {1000 * made.uncached_seconds:.0f} ms "
            "without."
        )
    amount = st.segmented_control(
        "FLOPs of", list(AMOUNTS), default="each step", key="flops_of", required=True,
        bind=link.bind_choice("flops_of", default="each step", options=list(AMOUNTS)),
    )  # fmt: skip
    left, right = st.columns(2, gap="medium")
    with left:
        widgets.chart(draw.cache(table, mode=mode), alt="bytes in the KV cache after each step", key="cache")
        st.caption(
            rf"A token's keys and values are kept in every layer: $2 L K E n b$ bytes for $n$ tokens, here "
            rf"$2 \cdot {layers} \cdot {key_heads} \cdot {width} \cdot n \cdot {number}$ = {each:,} $n$ ($L$ decoder "
            rf"layers, $K$ key heads, $E$ numbers each of $b$ bytes).{source}"
        )
    with right:
        widgets.chart(
            draw.flops(table, amount=AMOUNTS[amount], mode=mode), alt=f"FLOPs of {amount}, both ways", key="flops"
        )
        st.caption(
            "With the cache a step works on the newest token alone, without it on all tokens so far. Matrix products "
            "of the decoder, 1 multiply-add = 2 FLOPs."
            + ("" if made.source is None else " The encoder reads the source once, either way; that is left out.")
        )


def beam_search(new_tokens: int) -> None:
    """The tree and the texts that it ended with."""
    width = widgets.number("Beams", "beams", default=4, last=6, first=1, help="How many texts are kept at each step.")
    grown = tree(width, new_tokens)
    st.caption(
        r"Greedy decoding can miss the likeliest text: a likely first token may lead to unlikely ones. A beam keeps "
        r"several texts at each step and answers with the best score, $\log P\,/\,((5 + n) / 6)^{"
        rf"{grown.length_penalty}}}$ for $n$ new tokens (Wu et al. 2016): without the division short texts would win. "
        "A line is the thicker, the likelier its token; hover over a node for the numbers."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        widgets.chart(draw_beams.tree(grown, mode=mode), alt="the beam search as a tree", key="tree")
    with right:
        widgets.table(beams.texts(loaded, grown, greedy=tree(1, new_tokens)), name="beam")
        st.caption("log P is the natural logarithm of the probability of the new tokens, the end token included.")


if loaded.write is None or loaded.backend != "own":
    only_reads()
    st.stop()
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
flops = decoding.by_step(loaded.config, steps=len(made.steps), begun=made.begun, source=made.source)
table = made.table().merge(flops, on="step")

steps(made, table)
st.subheader("What the KV cache saves")
what_the_cache_saves(made, table)
st.subheader("Beam search as a tree")
beam_search(new_tokens)
with st.expander("All steps in numbers"):
    widgets.table(table, name="steps", height=320)
