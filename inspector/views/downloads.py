"""Take it away: what is seen as a picture or a table, the trace, or a page of its own. Made when asked for."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from inspector import export
from inspector.maps import WHOLE
from inspector.plots import attention, raster
from inspector.views import chosen_models, session

if TYPE_CHECKING:
    import pandas as pd

    from inspector.maps import Arrangement
    from inspector.plots.theme import Scale
    from inspector.trace import Array, Trace
    from inspector.views.kinds import Kind


def head(
    trace: Trace, shown: Arrangement, values: Array, *, layer: int, head: int, stream: str, scale: Scale, kind: Kind
) -> None:
    """Buttons for the open head: `values` [Q, T] as the reader sees them, between the groups of `shown`."""
    name = f"{trace.model.replace('/', '-')}-{stream}-layer{layer}-head{head}{kind.suffix}"
    queries, keys = shown.queries.labels, shown.keys.labels
    title, mode = f"{trace.model}: {attention.title(layer, head, stream).lower()}", session.mode()
    title += "" if kind.name == "weights" else f", {kind.quantity}"
    title += "" if chosen_models.trained(trace.model) else ", untrained"
    title += "" if len(queries) == len(trace.read_by(stream).tokens) else ", a part, or tokens hidden or merged"
    with st.container(horizontal=True, gap="small"):
        _button(
            f"{name}.png",
            lambda: raster.png(
                values,
                queries=queries,
                keys=keys,
                title=title,
                mode=mode,
                scale=scale,
                quantity=kind.quantity,
                diverging=kind.signed,
            ),
            "image/png",
            "The map as you see it",
        )
        _button(
            f"{name}.csv",
            partial(_csv, values, queries, keys),
            "text/csv",
            f"{kind.title} as you see them, to the last digit",
        )
        if kind.name == "weights" and len(trace.read_by(stream).tokens) <= WHOLE:
            _button(
                f"{name}.html",
                lambda: export.html(trace, layer=layer, head=head, stream=stream, scale=scale).encode(),
                "text/html",
                "An interactive page that works offline: the heads as recorded, nothing hidden or merged",
            )
        _button(
            f"{trace.model.replace('/', '-')}.npz",
            lambda: _npz(trace),
            "application/octet-stream",
            "The whole trace: opens here again, or with inspector.open()",
        )


def comparison(maps: Mapping[str, tuple[Array, Sequence[str], Sequence[str]]]) -> None:
    """A CSV button for each compared map: name -> (weights [Q, T], query labels, key labels)."""
    with st.container(horizontal=True, gap="small"):
        for name, (weights, queries, keys) in maps.items():
            _button(
                f"{name.lower().replace(' ', '-')}.csv",
                partial(_csv, weights, queries, keys),
                "text/csv",
                "The weights as you see them, to the last digit",
                label=f"{name}, CSV",
            )


def masking(predictions: pd.DataFrame, maps: Mapping[str, Array], tokens: Sequence[str], *, name: str) -> None:
    """Buttons for a masked text: every guess as CSV; the open head's maps [Q, T] and their tokens as NPZ."""
    with st.container(horizontal=True, gap="small"):
        _button(
            f"{name}-guesses.csv",
            lambda: predictions.to_csv(index=False).encode(),
            "text/csv",
            "The likeliest tokens and the true one, masked and seen, to the last digit",
            label="Guesses, CSV",
        )
        _button(
            f"{name}-attention.npz",
            lambda: _arrays({**maps, "tokens": np.array(tokens)}),
            "application/octet-stream",
            "The open head between the tokens as you see them: numpy.load() gives " + ", ".join(maps),
            label="Maps, NPZ",
        )


def _button(file: str, make: Callable[[], bytes], mime: str, meaning: str, *, label: str = "") -> None:
    ending = Path(file).suffix.removeprefix(".")
    st.download_button(
        label or ending.upper(),
        make,
        file_name=file,
        mime=mime,
        help=meaning,
        icon=":material/download:",
        on_click="ignore",
        key=f"download {label or ending}",
    )


def _csv(weights: Array, queries: Sequence[str], keys: Sequence[str]) -> bytes:
    return export.csv(weights, queries=queries, keys=keys).encode()


def _arrays(arrays: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _npz(trace: Trace) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()
