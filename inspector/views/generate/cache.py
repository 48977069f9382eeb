"""The savings of the KV cache: bytes kept and FLOPs saved, both as measured."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import streamlit as st

from inspector.generating import WrittenText
from inspector.plots import generating as plots
from inspector.views.figures import chart
from inspector.views.generate.derived import derived
from inspector.views.shell import controls, sentence
from inspector.wording import generate as words

if TYPE_CHECKING:
    from models import LoadedModel

AMOUNTS: dict[str, plots.Amount] = {"up to each step": "total", "each step": "flops"}


def draw(loaded: LoadedModel, made: WrittenText, *, python: str) -> None:
    """Draw the bytes in the cache and the FLOPs with it and without; python: the lines that write the text."""
    table = made.table()
    if not table["cache_bytes"].any():
        sentence.show(words.NO_CACHE, words.CACHE_TERMS)
        return
    cached, uncached = sum(step.flops for step in made.steps), sum(made.uncached_flops)
    sentence.show(words.saved(cached=cached, uncached=uncached, same=made.same_without_cache), words.CACHE_TERMS)
    left, right = st.columns(2, gap="medium")
    with left:
        place = st.container()
        amount = AMOUNTS[controls.bar("FLOPs of", list(AMOUNTS), "flops_of")]
        columns = ["step", *(f"{amount}_{kind}" for kind in ("cached", "uncached"))]
        with place:
            chart.show(
                plots.flops(table, amount=amount),
                alt=words.flops_alt(amount),
                key="flops",
                sentence=words.DECODER_FLOPS,
                name="flops",
                python=f"{python}\nmade.table()[{columns!r}]",
                table=table[columns],
            )
    with right:
        chart.show(
            plots.cache(table[["step", "cache_bytes"]]),
            alt="bytes in the KV cache after each step",
            key="cache",
            sentence=words.CACHE_BYTES,
            name="kv-cache",
            python=f'{python}\nmade.table()[["step", "cache_bytes"]]',
            table=table[["step", "cache_bytes"]],
        )
    _same(made)
    derived(loaded, made, table)
    with st.expander(words.MORE_CACHE):
        st.markdown(words.flops_read(alone=made.source is None))
        st.markdown(_kept(made))


def _same(made: WrittenText) -> None:
    """Say whether the text is the same without the cache, and how long it took."""
    if not made.same_without_cache:
        st.badge(words.OTHER_TOKENS, icon=":material/warning:", color="red", help=words.OTHER_TOKENS_HELP)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(words.SAME_TOKENS, icon=":material/verified:", color="green")
        seconds = sum(step.seconds for step in made.steps), sum(made.uncached_seconds)
        st.markdown(words.cache_times(*seconds), width="stretch")


def _kept(made: WrittenText) -> str:
    """Say how the cache grows, as measured."""
    grows = {after.cache_bytes - before.cache_bytes for before, after in pairwise(made.steps)}
    more = f"{min(grows):,}" if len(grows) == 1 else f"{min(grows, default=0):,} to {max(grows, default=0):,}"
    each = words.step_adds(more=more) if grows else ""
    source = "" if made.source is None else words.source_kept(tokens=made.source)
    return words.cache_grows(each=each, source=source)
