"""Rollout from a token: the pinned query followed back through all layers, every head counted alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from inspector import flow, maps
from inspector.export import python
from inspector.flow import Float64Array
from inspector.text import named, token_name
from inspector.views.figures import matrix
from inspector.views.shell import caching, controls, problems
from inspector.wording import attention as said
from models.formatting import layer_name

if TYPE_CHECKING:
    from inspector.plots import theme
    from inspector.trace import Trace


def title(trace: Trace, *, stream: str, token: int) -> str:
    """Name the rollout: "Rollout from 9 it"."""
    return f"Rollout from {token} {token_name(trace.read_by(stream).tokens[token])}"


def sentence(trace: Trace, *, stream: str, token: int) -> str:
    """Say which other token most of the token's last state came from, and how much of it from the token itself.

    Empty for cross-attention, which leads from one text to another.
    """
    try:
        shares = _shares(trace, stream=stream, token=token)[0]
    except ValueError:
        return ""
    tokens, most = trace.read_by(stream).tokens, _most(shares, token)
    return said.rollout(
        named(tokens, token),
        layer=trace.sites_of(stream)[-1].name,
        most=None if most is None else named(tokens, most),
        share=0.0 if most is None else float(shares[most]),
        itself=float(shares[token]),
    )


def draw(trace: Trace, shown: maps.Arrangement, *, stream: str, token: int, scale: theme.Scale) -> Callable[[], None]:
    """The picture; returns what draws its formula and file below.

    token: the position of a query; shown: the tokens in sight, each alone.
    """
    try:
        shares = _shares(trace, stream=stream, token=token)
    except ValueError as error:
        problems.show(str(error))
        return lambda: None
    across = _columns(len(shown.keys.members))
    seen = maps.Groups(shown.keys.labels[across], shown.keys.members[across])
    layers = [site.name for site in trace.sites if site.stream == stream]
    rows = [f"after {layers[-1]}", *(f"before {name}" for name in reversed(layers))]
    most = seen.containing(_most(shares[0], token))
    counted = seen.positions.tolist() == list(range(len(seen.positions)))
    matrix.show(
        matrix.Panel(
            shares[::-1, seen.positions],
            rows=rows,
            columns=seen.labels,
            named=None if most is None else (len(rows) - 1, most),
        ),
        row_title="",
        column_title="token",
        quantity="share",
        numbered="columns" if counted else "neither",
        top=float(shares[:-1].max()) or 1.0,
        scale=scale,
        name=f"{trace.model.replace('/', '-')}-{stream}-rollout-from{token}",
        key="rollout",
        python=python.rollout(trace, token=token, stream=stream),
    )

    def explain() -> None:
        st.caption(said.ROLLOUT_READ)
        if layers != [layer_name(number) for number in range(len(layers))]:
            st.caption(said.ATTENTION_ALONE)

    return explain


def _shares(trace: Trace, *, stream: str, token: int) -> Float64Array:
    return caching.cached(
        ("rollout", trace.key, stream, token), lambda: flow.rollout(trace, token=token, stream=stream)
    )


def _most(shares: Float64Array, token: int) -> int | None:
    """Find the other token that most of the token's state came from; None where all of it came from itself."""
    others = shares.copy()
    others[token] = 0
    return int(others.argmax()) if others.any() else None


def _columns(count: int) -> slice:
    """The tokens in sight: all, or of a long text a window that the reader moves."""
    if count <= maps.WHOLE:
        return slice(0, count)
    last = count - maps.WINDOW
    start = controls.number("Tokens from", "column", default=0, last=last, step=maps.WINDOW // 2)
    return slice(start, start + maps.WINDOW)
