"""The section Old keys and queries: what a longer text does to them, and who ever reads them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

import models
from inspector import examples, stepwise
from inspector.plots.time import past as draw
from inspector.readings.time import past as read
from inspector.trace import Trace
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, sentence, session, widgets
from inspector.views.time import steps
from inspector.wording.english.time import past as words
from models.transformer.config import TransformerConfig
from models.transformer.switches import id_of

BOTH_WAYS = ("mini-bert", "mini-bert-zh")  # beside a decoder, the best first
COPIED = 150e6  # weights of a model that is put under the other mask, at most
READ, DRAWN = 128, 24  # tokens of the old keys, and of the picture of reads


def show(inspected: session.Inspected) -> None:
    """Draw the section."""
    loaded, trace = session.at_hand(inspected, so="it cannot read a part of the text"), inspected.trace
    _tried(partial(_old_keys, loaded, trace))
    st.subheader("Who reads an old query? Nobody", anchor=False)
    try:
        writer, text = _writer(loaded, trace)
    except ValueError as error:
        session.show_problem(str(error))
    else:
        _tried(partial(_reads, writer, text))
        _tried(partial(_training, writer, text))
    st.page_link(
        Path(__file__).parents[1] / "generate" / "page.py",
        label="What the KV cache saves: see Generate",
        icon=":material/edit:",
    )


def _tried(part: Callable[[], None]) -> None:
    """Draw a part; where it cannot be, say why in its place."""
    try:
        part()
    except ValueError as error:
        said = f"{error}.".replace("..", ".")
        session.show_problem(f"{said[0].upper()}{said[1:]}")


# --- old keys ---------------------------------------------------------------------------------------------------------


def _old_keys(loaded: models.LoadedModel, trace: Trace) -> None:
    place = st.container()
    last = min(*stepwise.grown(trace).values(), READ) - 1
    if last < 1:
        raise ValueError("The text has one token, so none is old when another comes. Write a longer one.")
    new = widgets.number("New tokens", "later_tokens", default=1, first=1, last=min(last, 16))
    table = _compared(loaded, trace, new=new)
    several = table["stream"].nunique() > 1  # an encoder-decoder has both masks itself
    shown = {
        _name(loaded) + (f"'s {stream}" if several else ""): rows
        for stream, rows in table.groupby("stream", sort=False)
    }
    beside = None if several else _beside(loaded, trace, new=new)
    if beside is not None:
        shown[beside.name] = beside.table
    found = [read.moving(rows, name=name) for name, rows in shown.items()]
    with place:
        said = [replace(one, name=widgets.plain(one.name)) for one in found]
        sentence.show(words.moving(said[0], said[1] if len(said) > 1 else None, new=new), words.TERMS)
        if not loaded.card.trained:
            widgets.untrained()
    whole = pd.concat([rows.assign(model=name) for name, rows in shown.items()])
    chart.show(
        partial(draw.moved, shown),
        alt="change of the old tokens' keys and values by layer",
        key="past-moved",
        python=f"{steps.python(loaded, trace)}stepwise.old_keys(loaded, trace, new={new})",
        table=whole,
    )
    st.caption(words.about(found[0]) + ("" if beside is None else f" {beside.about}"))
    with st.expander("Every layer in numbers"):
        widgets.table(whole, name="old-keys", height=320)


def _compared(loaded: models.LoadedModel, trace: Trace, *, new: int) -> pd.DataFrame:
    key = ("old keys", loaded.card.id, available_models.version(loaded.card.id), trace.key, new)
    return session.cached(key, lambda: stepwise.old_keys(loaded, trace, new=new, most=READ))


def _beside(loaded: models.LoadedModel, trace: Trace, *, new: int) -> read.Beside | None:
    """Read the text under the other mask; None where no model can."""
    if loaded.shape == "decoder":
        id = next((one for one in BOTH_WAYS if examples.reads(one, trace.text)), BOTH_WAYS[0])
        other = session.record(id, trace.text)
        assert other.loaded is not None
        name = _name(other.loaded)
        return read.Beside(name, _compared(other.loaded, other.trace, new=new), words.an_encoder(name))
    id, config = loaded.card.id, loaded.config
    causal = isinstance(config, TransformerConfig) and config.is_causal
    kept = {name: value for name, value in available_models.changes(id).items() if name != "causal"}
    changes = kept if causal else {**kept, "causal": True}
    base = available_models.base(id)
    if sum(parameter.numel() for parameter in loaded.network.parameters()) > COPIED:
        return None
    try:
        under = session.load(id_of(base, changes, seed=available_models.seed(id)))
    except ValueError:
        return None
    name = f"{available_models.name(base)} with {'no' if causal else 'a'} causal mask"
    return read.Beside(
        name, _compared(under, trace, new=new), words.same_weights(widgets.plain(name), causal=not causal)
    )


def _name(loaded: models.LoadedModel) -> str:
    return available_models.name(loaded.card.id)


# --- reads ------------------------------------------------------------------------------------------------------------


def _reads(loaded: models.LoadedModel, trace: Trace) -> None:
    tokens = min(steps.room(loaded, trace), DRAWN)
    layers = steps.reads(loaded, trace, tokens=tokens)
    one, name = layers[0], widgets.plain(_name(loaded))
    alike = all(np.array_equal(one.key, other.key) for other in layers)
    st.markdown(words.reading(one, model=name, layers=len(layers), alike=alike))
    python = f"{steps.python(loaded, trace)}layer = stepwise.reads(loaded, trace, tokens={tokens})[0]\n"
    matrix.show(
        *(
            matrix.Panel(values.astype(np.float32), rows=one.tokens, columns=one.tokens, title=title)
            for title, values in (("Queries read", one.query), ("Keys and values read", one.key))
        ),
        row_title="step",
        column_title="token",
        quantity="read",
        top=1.0,
        name="reads",
        key="past-reads",
        python=f"{python}layer.query, layer.key",
    )
    st.caption(words.COMPUTED)


def _training(loaded: models.LoadedModel, trace: Trace) -> None:
    tokens = min(steps.room(loaded, trace), DRAWN)
    found = steps.forced(loaded, trace, tokens=tokens)
    st.markdown(words.training(found, model=widgets.plain(_name(loaded))))


def _writer(loaded: models.LoadedModel, trace: Trace) -> tuple[models.LoadedModel, Trace]:
    """The model whose steps are watched: the reader's, or one that writes, which the page says."""
    if not (problem := stepwise.why_not(loaded)):
        return loaded, trace
    id = steps.WRITERS[0]
    whole = examples.reads(id, trace.text)
    other = session.record(id, trace.text if whole else examples.of(id))
    assert other.loaded is not None
    st.markdown(words.stands_in(widgets.plain(_name(loaded)), problem, _name(other.loaded), on_text=whole))
    return other.loaded, other.trace
