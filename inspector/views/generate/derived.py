"""The cache's savings without running the model: from its configuration, beside what was measured."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import streamlit as st

from inspector import costs
from inspector.costs.decoding import counted_by_step
from inspector.generating import steps as read
from inspector.views.shell import caching, link, loaded_models, readings
from inspector.wording import generate as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.generating import WrittenText
    from models import LoadedModel

HEADS = {
    "what": "What",
    "counted": "Counted without running",
    "measured": "Measured",
    "seconds": "Seconds, measured",
}


def derived(loaded: LoadedModel, made: WrittenText, table: pd.DataFrame) -> None:
    """Draw the prefill, a step with the cache and without, and the cache's bytes: counted, and as measured."""
    asked = st.toggle(
        words.COMPARE_COUNT,
        key="cache_counted",
        bind=link.bind_switch("cache_counted"),
        help=words.COMPARE_COUNT_HELP,
    )
    if not asked:
        return
    try:
        with failures.told("Counting this model", instead="Choose another one."), st.spinner(words.COUNTING):
            key = ("model", loaded.card.id, loaded_models.version(loaded.card.id))
            counted = caching.cached(("costs", key), lambda: costs.count(loaded.config))
            found = counted_by_step(
                counted,
                costs.kv_cache(loaded.config),
                steps=len(table),
                begun=made.begun,
                source=made.source,
                element_bytes=next(loaded.network.parameters()).element_size(),
                last_only=_scores_last(loaded),
            )
    except ValueError as error:
        st.caption(words.not_counted(why=error))
        return
    rows = read.beside_the_count(found, table)
    st.markdown(words.beside_the_count(rows))
    readings.table(rows, name="cache-counted", words=HEADS)
    st.caption(words.COUNTED_READ)


def _scores_last(loaded: LoadedModel) -> bool:
    """Tell whether the model's code can score the vocabulary for the newest token alone, as writing asks."""
    if not hasattr(loaded.config, "model_type"):
        return True  # the project's Transformer
    return "logits_to_keep" in inspect.signature(type(loaded.network).forward).parameters
