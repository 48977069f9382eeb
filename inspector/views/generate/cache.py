"""The savings of the KV cache: bytes kept and FLOPs saved, both as measured."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pandas as pd
import streamlit as st

from inspector.generating import Written
from inspector.plots import generating as draw
from inspector.plots import theme
from inspector.views.figures import chart
from inspector.views.shell import widgets
from inspector.wording.english import generate as words

AMOUNTS: dict[str, draw.Amount] = {"each step": "flops", "up to each step": "total"}


def cache(made: Written, table: pd.DataFrame, *, python: str) -> None:
    """Draw the bytes in the cache and the FLOPs with it and without; python: the lines that write the text."""
    if not table["cache_bytes"].any():
        st.markdown("This model keeps no cache: it reads all tokens again at every step.")
        return
    _same(made)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Bytes in the cache after each step**")
        chart.show(
            partial(draw.cache, table[["step", "cache_bytes"]]),
            alt="bytes in the KV cache after each step",
            key="cache",
            name="kv-cache",
            python=f'{python}\nmade.table()[["step", "cache_bytes"]]',
            table=table[["step", "cache_bytes"]],
        )
        st.caption(_kept(made))
    with right:
        st.markdown("**FLOPs of the decoder**")
        amount = widgets.bar("FLOPs of", list(AMOUNTS), "flops_of", default="each step")
        columns = ["step", *(f"{AMOUNTS[amount]}_{kind}" for kind in ("cached", "uncached"))]
        chart.show(
            partial(draw.flops, table, amount=AMOUNTS[amount]),
            alt=f"FLOPs of {amount}, with the cache and without",
            key="flops",
            name="flops",
            python=f"{python}\nmade.table()[{columns!r}]",
            table=table[columns],
        )
        st.caption(
            "With the cache a step works on the newest token alone, without it on all tokens so far. Counted as the "
            "decoder ran: its matrix products, 1 multiply-add = 2 FLOPs."
            + ("" if made.source is None else " The encoder reads the source once, either way; that is left out.")
        )


def _same(made: Written) -> None:
    """Say how many FLOPs the cache saved, and whether the text is the same without it."""
    cached, uncached = sum(step.flops for step in made.steps), sum(made.uncached_flops)
    with st.container(horizontal=True, vertical_alignment="center"):
        if made.same_without_cache:
            st.badge("Same tokens with and without", icon=":material/verified:", color="green")
            st.markdown(
                f"With the cache the decoder wrote this text with {theme.number(uncached / cached)} times fewer FLOPs: "
                f"{theme.quantity(cached)} instead of {theme.quantity(uncached)}. "
                + words.cache_times(sum(step.seconds for step in made.steps), sum(made.uncached_seconds)),
                width="stretch",
            )
        else:
            st.badge(
                "Other tokens without", icon=":material/warning:", color="red",
                help="Where two tokens are all but equally likely, the last digit decides, and the two ways compute in "
                "another order. A few models of transformers compute otherwise without their cache.",
            )  # fmt: skip


def _kept(made: Written) -> str:
    """Say how the cache grows, as measured."""
    grows = {after.cache_bytes - before.cache_bytes for before, after in pairwise(made.steps)}
    more = f"{min(grows):,}" if len(grows) == 1 else f"{min(grows, default=0):,} to {max(grows, default=0):,}"
    each = f"Each step adds {more} bytes, as measured. " if grows else ""
    source = (
        "" if made.source is None else f" Those of the source's {made.source} tokens are kept too, and do not grow."
    )
    return (
        rf"{each}A layer that attends to the whole text keeps $2 K E b$ bytes of each token, its key and its value "
        rf"($K$ key heads, $E$ numbers each of $b$ bytes); a layer with a window keeps the last tokens alone.{source}"
    )
