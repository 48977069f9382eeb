"""All heads in numbers: sorted, filtered, to take away."""

from __future__ import annotations

import io

import pandas as pd
import streamlit as st

from inspector import heads as labels
from inspector.atlas import MEASURES, Atlas
from inspector.export import spreadsheet
from inspector.views.atlas.colour import Colour
from inspector.views.shell import downloads, widgets

_SHOWN = ("entropy", "distance", "confidence", "previous", "next", "self", "cls", "sep", "first", "punctuation")


def draw(atlas: Atlas, colour: Colour, *, stream: str) -> None:
    """Draw a row per head of a stream, the strongest first, with filters and downloads."""
    means = atlas.table()
    means["label"] = labels.label(means)
    means.insert(4, colour.title, colour.values)
    own = means[means["stream"] == stream].sort_values(colour.title, ascending=False, kind="stable")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layers = st.multiselect("Layers", sorted(own["layer"].unique()), key="atlas_layers", width=260)
        kinds = st.multiselect("What a head mostly does", sorted(own["label"].unique()), key="atlas_labels", width=320)
    chosen = own[own["layer"].isin(layers or own["layer"]) & own["label"].isin(kinds or own["label"])]
    if chosen.empty:
        st.info("No head is left: take a filter away.")
        return
    columns = dict.fromkeys(["layer", "head", colour.title, "label", *_SHOWN])
    if (own["call"] > 0).any():
        columns = dict.fromkeys(["layer", "call", *columns])
    st.caption(f"{len(chosen)} of {len(own)} heads; each number is the mean over all texts that have it.")
    widgets.table(chosen[list(columns)].dropna(axis=1, how="all"), name="atlas", height=320)
    with st.container(horizontal=True):
        downloads.button(
            "atlas-heads.csv", lambda: spreadsheet.csv(means), f"all {len(MEASURES)} numbers of every head"
        )
        downloads.button("atlas-heads.parquet", lambda: _parquet(means), "the same for pandas and DuckDB")
        if (scores := atlas.scores) is not None:
            downloads.button("atlas-relations.csv", lambda: spreadsheet.csv(scores), "every relation's scores")


def _parquet(table: pd.DataFrame) -> bytes:
    sink = io.BytesIO()
    table.to_parquet(sink, index=False)
    return sink.getvalue()
