"""The number that colours the grid of an atlas: a measure, or how well a head finds the governors of a relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from inspector.atlas import Atlas, measures, search
from inspector.atlas.relations import DIRECTIONS
from inspector.views.shell import link

FIRST = "previous"
BETWEEN = "confidence"  # of cross-attention, which has no token before
MOST_ASKED = 200  # characters
_UNITS = {"share": "mean share", "nats": "mean, nats", "tokens": "mean, tokens"}
GROUPS = {
    "head": "what a head does",
    "offset": "by offset",
    "part": "by part of the text",
    "class": "by class of token",
    "norm-weighted": "weighted by what is moved",
}


@dataclass(frozen=True, eq=False)
class Colour:
    """One number for each head, float64 [N], NaN where it has none.

    key: in the link, a measure's name or "nsubj governor". title: in words. quantity: of a cell. top: the end of the
    colour scale; the largest value where None. python: the lines that give the numbers.
    """

    key: str
    title: str
    values: NDArray[np.float64]
    quantity: str
    top: float | None
    python: str


def options(atlas: Atlas, stream: str) -> list[str]:
    """The keys of all that a stream's heads can be coloured by: measures first, then relations in both directions."""
    own = np.flatnonzero(atlas.heads["stream"] == stream)
    means = atlas.statistics.mean[:, own]
    names = [name for number, name in enumerate(measures.NAMES) if np.isfinite(means[number]).any()]
    table = atlas.scores
    relations = [] if table is None else list(dict.fromkeys(table.loc[table["stream"] == stream, "relation"]))
    return [*names, *(f"{relation} {direction}" for relation in relations for direction in DIRECTIONS)]


def title(key: str) -> str:
    """Say in words what a key stands for."""
    relation, _, direction = key.rpartition(" ")
    if not relation:
        return measures.find(key).says
    return f"finds the governor of {relation}" + ("" if direction == "governor" else ", from the governor's side")


def choose(atlas: Atlas, keys: list[str]) -> Colour:
    """Let the reader choose one of the keys, or ask in words, and read the link."""
    st.text_input(
        "Find heads that …",
        key="atlas_asked",
        placeholder="governors of nsubj, previous token",
        max_chars=MOST_ASKED,
        on_change=_search,
        args=(keys,),
        width=260,
    )
    st.session_state["by"] = link.choice("by", default=FIRST if FIRST in keys else BETWEEN, options=keys)
    key: str = st.selectbox(
        "A head …",
        keys,
        key="by",
        format_func=title,
        on_change=lambda: link.assign("by", st.session_state["by"]),
        width=420,
    )
    return of(atlas, key)


def _search(keys: list[str]) -> None:
    """Show what the reader's words mean, before the run that follows."""
    found = search.find(st.session_state["atlas_asked"], among=keys)
    if found is not None:
        link.assign("by", found)
        for name in ("layer", "call", "head"):  # the head that does most of it opens
            link.assign(name, None)


def of(atlas: Atlas, key: str) -> Colour:
    """The numbers of a key for every head."""
    opened = f"import inspector\n\natlas = inspector.atlas.open({str(atlas.folder)!r})\n"
    relation, _, direction = key.rpartition(" ")
    if not relation:
        own = measures.find(key)
        values = atlas.statistics.mean[measures.NAMES.index(key)]
        top = 1.0 if own.unit == "share" and own.group == "head" else None
        return Colour(key, own.says, values, _UNITS[own.unit], top, f"{opened}atlas.table()[{key!r}]")
    table = atlas.scores
    assert table is not None
    chosen = table[(table["relation"] == relation) & (table["direction"] == direction)]
    index = pd.MultiIndex.from_frame(atlas.heads)
    found = chosen.set_index(list(atlas.heads.columns))["share"].reindex(index).to_numpy(np.float64)
    lines = f"{opened}scores = inspector.atlas.relation_scores.scores(atlas.relations, atlas.heads)\n"
    lines += f"scores.query('relation == {relation!r} and direction == {direction!r}')"
    return Colour(key, title(key), found, "share found", 1.0, lines)


def answered(atlas: Atlas, keys: list[str]) -> str:
    """Say what the reader's words were taken for, or what can be asked; "" where nothing was asked."""
    asked = st.session_state.get("atlas_asked", "").strip()
    if not asked:
        return ""
    found = search.find(asked, among=keys)
    if found is None:
        relations = ' "governors of nsubj" or another relation,' if atlas.relations is not None else ""
        return (
            f"No number of this atlas is known by these words. Ask for{relations} "
            '"previous token", "3 tokens back", "[SEP]", "punctuation", "induction" or a measure by its name.'
        )
    return f"Taken for: a head {title(found)}."
