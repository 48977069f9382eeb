"""Take it away: what is seen as a picture or a table, the trace, or a page of its own. Made when asked for."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from inspector import export
from inspector.export import python, spreadsheet
from inspector.plots import attention, raster, vector
from inspector.views.shell import available_models, session, site_words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.maps import Arrangement, Groups
    from inspector.plots.theme import Scale
    from inspector.trace import Array, AttentionSite, Trace
    from inspector.views.attention.quantities import Kind
    from inspector.views.what_if.before_after import Drawn

T = TypeVar("T")


def head(
    trace: Trace,
    shown: Arrangement,
    values: Array,
    *,
    whole: Arrangement,
    site: AttentionSite,
    head: int,
    scale: Scale,
    kind: Kind,
    mean: str = "",
) -> None:
    """Files of the open head, and Python lines and a link that give the same view.

    values: [Q, T] as the reader sees them, between the groups of `shown`: all of `whole`, or of a long text the window
    in sight. mean: what they are a mean of, where they are; then there is no page and no Python of the one head.
    """
    which = re.sub(r"\W+", "-", mean.lower()) if mean else f"{site_words.in_file(site)}-head{head}"
    stream = site.stream
    name = f"{trace.model.replace('/', '-')}-{stream}-{which}{kind.suffix}"
    queries, keys = shown.queries.labels, shown.keys.labels
    window = _tokens(shown) if whole.is_long else None
    as_recorded = kind.name == "weights" and not mean
    what = mean or attention.title(site.layer, head, stream, call=site.call)
    title, mode = f"{trace.model}: {what.lower()}", session.mode()
    title += "" if kind.name == "weights" else f", {kind.quantity}"
    title += "" if available_models.trained(trace.model) else ", untrained"
    title += "" if len(queries) == len(trace.read_by(stream).tokens) else ", a part, or tokens hidden or merged"

    def picture(draw: Callable[..., T]) -> T:
        look = {
            "queries": queries,
            "keys": keys,
            "title": title,
            "mode": mode,
            "scale": scale,
            "quantity": kind.quantity,
            "diverging": kind.signed,
        }
        return draw(values, **look)

    with st.container(horizontal=True, gap="small"):
        _button(f"{name}.png", lambda: picture(raster.png), "image/png", "The map as you see it")
        _button(
            f"{name}.svg",
            lambda: picture(vector.svg).encode(),
            "image/svg+xml",
            "The map as you see it, sharp at any size",
        )
        _button(
            f"{name}.csv",
            partial(_csv, values, queries, keys),
            "text/csv",
            f"{kind.title} as you see them, to the last digit",
        )
        _button(
            f"{name}.npz",
            lambda: _arrays({"values": values, "queries": np.array(queries), "keys": np.array(keys)}),
            "application/octet-stream",
            f"{kind.title} as you see them, bit by bit: numpy.load() gives values, queries, keys",
        )
        if as_recorded:
            look = session.first_look(trace)
            _button(
                f"{name}.html",
                lambda: export.html(
                    trace,
                    layer=site.layer,
                    head=head,
                    stream=stream,
                    call=site.call,
                    scale=scale,
                    window=window,
                    look=look,
                ).encode(),
                "text/html",
                "An interactive page that works offline: heads as recorded, nothing hidden or merged"
                + ("; of this long text the window that you see" if window else ""),
            )
        _button(
            f"{trace.model.replace('/', '-')}.npz",
            lambda: _npz(trace),
            "application/octet-stream",
            "The whole trace: opens here again, or with inspector.open()",
            label="Trace",
        )
        with st.popover("Python, link", icon=":material/code:"):
            if as_recorded:
                st.caption("The same numbers without the page:")
                part = _groups(whole, shown) if whole.is_long else None
                lines = python.lines(
                    trace, whole, layer=site.layer, head=head, stream=stream, call=site.call, window=part
                )
                st.code(lines, language="python")
            st.caption("This view as a link; a text over 1,000 characters is not in it:")
            st.code(_link(), language=None)


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


def change(predictions: pd.DataFrame | None, drawn: Drawn | None, *, name: str) -> None:
    """Buttons for a changed text: what is predicted as CSV; the open head's maps [Q, T] and their keys as NPZ."""
    with st.container(horizontal=True, gap="small"):
        if predictions is not None:
            _button(
                f"{name}-guesses.csv",
                lambda: spreadsheet.csv(predictions),
                "text/csv",
                "The likeliest tokens and the true one, before and after, to the last digit",
                label="Guesses, CSV",
            )
        if drawn is not None:
            _button(
                f"{name}-attention.npz",
                lambda: _arrays({**drawn.maps, "tokens": np.array(drawn.keys)}),
                "application/octet-stream",
                "The open head between the tokens as you see them: numpy.load() gives " + ", ".join(drawn.maps),
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


def _tokens(shown: Arrangement) -> tuple[slice, slice]:
    """The tokens of the text from the first to the last that are seen."""
    down, across = shown.queries.positions, shown.keys.positions
    return slice(int(down[0]), int(down[-1]) + 1), slice(int(across[0]), int(across[-1]) + 1)


def _groups(whole: Arrangement, shown: Arrangement) -> tuple[slice, slice]:
    """Which groups of the whole are seen."""

    def part(every: Groups, seen: Groups) -> slice:
        first = every.members.index(seen.members[0])
        return slice(first, first + len(seen.members))

    return part(whole.queries, shown.queries), part(whole.keys, shown.keys)


def _link() -> str:
    """The address of this view."""
    return f"{st.context.url}?{urlencode(st.query_params.to_dict())}"


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
