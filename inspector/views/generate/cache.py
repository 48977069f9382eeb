"""The savings of the KV cache: bytes kept and FLOPs saved, both as measured."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import streamlit as st

from inspector.generating import WrittenText
from inspector.plots import generating as draw
from inspector.views.figures import chart
from inspector.views.shell import controls
from inspector.wording import generate as words

AMOUNTS: dict[str, draw.Amount] = {"each step": "flops", "up to each step": "total"}


def cache(made: WrittenText, table: pd.DataFrame, *, python: str) -> None:
    """Draw the bytes in the cache and the FLOPs with it and without; python: the lines that write the text."""
    if not table["cache_bytes"].any():
        st.markdown(words.NO_CACHE)
        return
    _same(made)
    left, right = st.columns(2, gap="medium")
    with left:
        chart.show(
            draw.cache(table[["step", "cache_bytes"]]),
            alt="bytes in the KV cache after each step",
            key="cache",
            sentence=words.CACHE_BYTES,
            name="kv-cache",
            python=f'{python}\nmade.table()[["step", "cache_bytes"]]',
            table=table[["step", "cache_bytes"]],
        )
        st.caption(_kept(made))
    with right:
        place = st.container()
        amount = controls.bar("FLOPs of", list(AMOUNTS), "flops_of", default="each step")
        columns = ["step", *(f"{AMOUNTS[amount]}_{kind}" for kind in ("cached", "uncached"))]
        with place:
            chart.show(
                draw.flops(table, amount=AMOUNTS[amount]),
                alt=f"FLOPs of {amount}, with the cache and without",
                key="flops",
                sentence=words.DECODER_FLOPS,
                name="flops",
                python=f"{python}\nmade.table()[{columns!r}]",
                table=table[columns],
            )
        st.caption(words.flops_read(alone=made.source is None))


def _same(made: WrittenText) -> None:
    """Say how many FLOPs the cache saved, and whether the text is the same without it."""
    cached, uncached = sum(step.flops for step in made.steps), sum(made.uncached_flops)
    with st.container(horizontal=True, vertical_alignment="center"):
        if made.same_without_cache:
            st.badge(words.SAME_TOKENS, icon=":material/verified:", color="green")
            st.markdown(
                words.flops_saved(cached=cached, uncached=uncached)
                + words.cache_times(sum(step.seconds for step in made.steps), sum(made.uncached_seconds)),
                width="stretch",
            )
        else:
            st.badge(
                words.OTHER_TOKENS, icon=":material/warning:", color="red",
                help=words.OTHER_TOKENS_HELP,
            )  # fmt: skip


def _kept(made: WrittenText) -> str:
    """Say how the cache grows, as measured."""
    grows = {after.cache_bytes - before.cache_bytes for before, after in pairwise(made.steps)}
    more = f"{min(grows):,}" if len(grows) == 1 else f"{min(grows, default=0):,} to {max(grows, default=0):,}"
    each = words.step_adds(more=more) if grows else ""
    source = "" if made.source is None else words.source_kept(tokens=made.source)
    return words.cache_grows(each=each, source=source)
