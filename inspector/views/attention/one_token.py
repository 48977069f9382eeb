"""One token in all heads: the pinned token's row, or its column, in the place of each small map of the grid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import one_token
from inspector.components import grid
from inspector.components.pack import quantise
from inspector.export import python
from inspector.sections.section import File
from inspector.text import number, token_name
from inspector.trace.pooling import pool
from inspector.views.figures import save
from inspector.views.shell import caching, controls, link
from inspector.wording import attention as said

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.maps import Arrangement, Groups
    from inspector.token_links import TokenLink
    from inspector.trace import Array, Trace

NOTED = 3  # tokens with the largest shares, in the note of a head
_CHOICE = "one token"
_KINDS: Mapping[one_token.Side, str] = {"gives": "key", "gets": "query"}
_SORT = re.compile(r"(?P<kind>key|query) (?P<position>\d+)")


@dataclass(frozen=True)
class OneToken:
    """The token that the grid shows, by its position, and the side that is shown."""

    position: int
    side: one_token.Side


@dataclass(frozen=True, eq=False)
class Strips:
    """A token's small pictures uint8 [L, H, rows, cols], the share of their last colour, and what sorts heads.

    A row is drawn across and a column down, as they stand in a map. notes: of each head. measures: a name for each
    other token that heads can be sorted by, with numbers for the name that they are sorted by now.
    """

    pictures: NDArray[np.uint8]
    top: float
    notes: list[list[str]]
    measures: Mapping[str, list[list[float]] | None]


def choose(trace: Trace, shown: Arrangement, *, stream: str, pinned: int | None) -> OneToken | None:
    """Draw the choice of a token, which pins it, and of the side; None where no token is pinned, or it is hidden."""
    groups = shown.queries
    names = {
        group[0]: f"{group[0]} {token_name(label)}" for label, group in zip(groups.labels, groups.members, strict=True)
    }
    at = None if pinned is None else groups.containing(pinned)
    st.session_state[_CHOICE] = None if at is None else groups.members[at][0]

    def pin() -> None:
        position = st.session_state[_CHOICE]
        link.assign("query", None if position is None else (position,))
        link.assign("key", None)

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.selectbox(
            said.ONE_TOKEN,
            list(names),
            index=None,
            format_func=lambda position: names.get(position, ""),
            key=_CHOICE,
            on_change=pin,
            placeholder=said.ONE_TOKEN,
            label_visibility="collapsed",
        )
        if at is None:
            return None
        sides: list[one_token.Side] = ["gives"] if stream == "cross" else ["gives", "gets"]
        return OneToken(groups.members[at][0], controls.bar(said.SIDES, sides, "token_side"))


def sorted_by(sort: str | None, shown: Arrangement, token: OneToken | None) -> str | None:
    """Name the measure of the grid for "key 4" or "query 4", as the link has it; None where it is not there.

    A measure of another kind is named as it is.
    """
    match = _SORT.match(sort or "")
    if match is None:
        return sort
    if token is None or match["kind"] != _KINDS[token.side]:
        return None
    at = _others(shown, token).containing(int(match["position"]))
    return None if at is None else _names(shown, token)[at]


def in_link(sort: str) -> str:
    """Name a measure of the grid as the link does: "key 4" of "key 4 cat"."""
    match = _SORT.match(sort)
    return match[0] if match else sort


def orders(tokens: int) -> list[str]:
    """List what `in_link` gives for the tokens of a text."""
    return [f"{kind} {position}" for kind in _KINDS.values() for position in range(tokens)]


def strips(trace: Trace, shown: Arrangement, token: OneToken, *, stream: str, sort: str | None) -> Strips:
    """Make the small pictures of a token's shares; sort: the name of the measure that heads are sorted by."""
    values, names = shares(trace, shown, token, stream=stream), _names(shown, token)
    most = grid.side(*values.shape[:2])
    lines = values[:, :, None, :] if token.side == "gives" else values[..., None]
    cells = np.stack([pool(layer, side=most) for layer in lines])
    top = grid.readable_top(cells) if shown.is_long else 1.0
    measures = {name: values[..., at].tolist() if name == sort else None for at, name in enumerate(names)}
    return Strips(quantise(cells, top=top), top, _notes(values, names), measures)


def shares(trace: Trace, shown: Arrangement, token: OneToken, *, stream: str) -> Array:
    """Compute what the token gives or gets in every head, once."""
    return caching.cached(
        (trace.key, "one token", stream, shown, token),
        lambda: one_token.shares(trace, token.position, side=token.side, stream=stream, shown=shown),
    )


def reading(trace: Trace, token: OneToken, *, stream: str) -> one_token.TokenReading:
    """Read what the token gives or gets in every head, once."""

    def read() -> one_token.TokenReading:
        from inspector import maps

        whole = maps.arrange(trace, stream=stream)
        values = shares(trace, whole, token, stream=stream)
        return one_token.read(trace, token.position, values, side=token.side, stream=stream)

    return caching.cached((trace.key, "one token read", stream, token), read)


def strongest(trace: Trace, token: OneToken, *, stream: str, row: int, head: int) -> TokenLink | None:
    """Find what the token gives most to in one head, or gets most from."""
    from inspector import maps

    values = shares(trace, maps.arrange(trace, stream=stream), token, stream=stream)
    return one_token.strongest(trace, token.position, values, side=token.side, stream=stream, row=row, head=head)


def named(trace: Trace, token: OneToken, *, stream: str) -> tuple[int, int] | None:
    """Find the row and the head that the token's sentence names; None where it names none."""
    told = reading(trace, token, stream=stream)
    if told.other is None:
        return None
    places = [(site.layer, site.call) for site in trace.sites_of(stream)]
    return places.index((told.layer, told.call)), told.head


def draw(trace: Trace, shown: Arrangement, token: OneToken, *, stream: str) -> None:
    """Say what the token gives or gets, and offer the numbers as a file and as Python."""
    sentence = said.one_token(reading(trace, token, stream=stream))
    name = f"{trace.model.replace('/', '-')}-{stream}-token{token.position}-{token.side}"
    table = File(
        f"{name}.csv",
        lambda _: one_token.table(trace, token.position, side=token.side, stream=stream, shown=shown),
        said.ONE_TOKEN_CSV,
    )
    lines = python.one_token(trace, shown, token=token.position, side=token.side, stream=stream)
    save.menu([table], slides=[], key="one-token", sentence=sentence, about=said.ONE_TOKEN, python=lines)


def _others(shown: Arrangement, token: OneToken) -> Groups:
    return shown.keys if token.side == "gives" else shown.queries


def _names(shown: Arrangement, token: OneToken) -> list[str]:
    """Name the other tokens, in which a note, a sort and a tooltip agree: "key 4 cat"."""
    kind, others = _KINDS[token.side], _others(shown, token)
    return [
        f"{kind} {group[0]} {token_name(label)}" for label, group in zip(others.labels, others.members, strict=True)
    ]


def _notes(values: Array, names: list[str]) -> list[list[str]]:
    """Name the tokens with the largest shares of each head."""
    largest = np.argsort(-values, axis=-1, kind="stable")[..., :NOTED]
    return [
        [
            ", ".join(f"{names[at]}: {number(float(row[at]))}" for at in places)
            for row, places in zip(*head, strict=True)
        ]
        for head in zip(values, largest, strict=True)
    ]
