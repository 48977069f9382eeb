"""The heads in the open view: the open head, several heads of its layer, or their mean over all layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import link
from inspector.wording import attention as words

if TYPE_CHECKING:
    from inspector.trace import AttentionSite
    from inspector.views.attention.quantities import Quantity

IN_COLOURS = 6  # heads at most, as many as there are colours


@dataclass(frozen=True)
class WhichHeads:
    """(row of the grid, head) of each head that is shown.

    in_colours: with lines in a colour each, else their mean alone. name: what a title says of several; "" of one.
    """

    places: tuple[tuple[int, int], ...]
    in_colours: bool
    name: str


def choose(sites: Sequence[AttentionSite], *, row: int, number: int, kind: Quantity) -> WhichHeads:
    """Widgets for the heads beside the open one, all in the link; of another kind than weights it says why not."""
    count = sites[0].heads
    if kind.name != "weights":
        st.popover("Several heads", icon=":material/stacks:", disabled=True, help=kind.alone)
        return WhichHeads(((row, number),), False, "")
    with st.popover("Several heads", icon=":material/stacks:"):
        chosen = st.pills(
            "Heads together",
            range(count),
            selection_mode="multi",
            key="heads",
            bind=link.bind_several("heads", options=range(count)),
            help=words.heads_help(number=number),
        )
        every = st.toggle(
            "All layers",
            key="layers",
            bind=link.bind_switch("layers"),
            help=words.LAYERS_HELP,
        )
        few = 2 <= len(chosen) <= IN_COLOURS and not every
        colours = st.toggle(
            "In colours",
            key="colours",
            bind=link.bind_switch("colours"),
            disabled=not few,
            help=words.colours_help(most=IN_COLOURS),
        )
    heads = sorted(chosen) or [number]
    rows = range(len(sites)) if every else [row]
    places = tuple((at, head) for at in rows for head in heads)
    where = "All layers" if every else sites[row].name.capitalize()
    which = f"heads {', '.join(map(str, heads))}" if len(heads) > 1 else f"head {heads[0]}"
    name = f"{where}, mean of {which}" if len(places) > 1 else ""
    return WhichHeads(places, colours and few, name)
