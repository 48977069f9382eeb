"""One panel minus another: the signed difference where both have the same tokens or words, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations

import streamlit as st

from inspector import alignment, compare, export, maps
from inspector.alignment import Common, Number
from inspector.components.head import HeadMessage, Linked
from inspector.plots import theme
from inspector.trace import Array
from inspector.views.compare.panels import Panel
from inspector.views.components.head import head
from inspector.views.shell import downloads, link, session, widgets

Numbers = tuple[tuple[Number, ...], tuple[Number, ...]]
MOST_NAMES = 8  # words named as not aligned


def section(panels: Sequence[Panel], numbers: Sequence[Numbers]) -> None:
    """The difference of two of the panels; numbers: of their queries and keys, for what lights up."""
    choices = {f"{a.name} minus {b.name}": (a, b) for a, b in permutations(panels, 2)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("What differs", width="content")
        first = next(iter(choices))
        named = st.selectbox(
            "Difference",
            list(choices),
            key="difference",
            bind=link.bind_choice("difference", default=first, options=list(choices)),
            label_visibility="collapsed",
            width=160,
        )
    a, b = choices[named]
    try:
        queries, keys = (alignment.common(*sides) for sides in zip(a.axes, b.axes, strict=True))
    except ValueError as error:
        session.show_problem(str(error))
        return
    apart = compare.subtract(
        a.between(maps.Arrangement(queries.a, keys.a)),
        b.between(maps.Arrangement(queries.b, keys.b)),
        queries=queries.a.labels,
        keys=keys.a.labels,
    )
    widgets.cards(_cards(apart, keys, a=a.name, b=b.name), width=150)
    st.caption(_alignment(keys, a.name, b.name))
    own = numbers[panels.index(a)]
    data = HeadMessage(
        apart.values,
        queries=apart.queries,
        keys=apart.keys,
        title=named,
        vmax=apart.largest or 1.0,
        diverging=True,
        quantity="difference of weights",
        linked=Linked("compare", _numbers(queries.a, a.shown.queries, own[0]), _numbers(keys.a, a.shown.keys, own[1])),
    ).to_bytes()
    head(data, key="difference-map")
    end = theme.number(apart.largest)
    st.caption(
        f"$A_{{{a.name}}} - A_{{{b.name}}}$, no unit: indigo where {a.name} attends more, amber where {b.name} does, "
        f"from −{end} to {end}."
        if apart.largest
        else f"$A_{{{a.name}}} - A_{{{b.name}}} = 0$ everywhere: the two maps are equal."
    )
    drawn = {panel.name: (panel.weights, panel.shown.queries.labels, panel.shown.keys.labels) for panel in panels}
    with st.container(horizontal=True, gap="small"):
        for name, (weights, down, across) in {**drawn, named: (apart.values, apart.queries, apart.keys)}.items():
            downloads.button(
                f"{name.lower().replace(' ', '-')}.csv",
                partial(_csv, weights, down, across),
                "The weights as you see them, to the last digit",
                label=f"{name}, CSV",
            )


def _csv(weights: Array, queries: Sequence[str], keys: Sequence[str]) -> bytes:
    return export.csv(weights, queries=queries, keys=keys).encode()


def _cards(apart: compare.Difference, keys: Common, *, a: str, b: str) -> list[tuple[str, str, str]]:
    change = theme.number(apart.entropy_change).replace("-", "−")
    sign = "+" if apart.entropy_change > 0 else ""
    return [
        (
            f"Shared {keys.unit}",
            f"{len(keys.a.labels)}",
            f"Keys that both have; {len(keys.alone[0])} are in {a} alone and {len(keys.alone[1])} in {b} alone",
        ),
        (
            "Divergence",
            f"{theme.number(apart.jensen_shannon)} nats",
            "Jensen-Shannon divergence of the rows over the shared keys, mean over queries; 0 to ln 2 = 0.693",
        ),
        (
            "Spearman",
            theme.number(apart.spearman).replace("-", "−"),
            "Spearman's rank correlation of the cells of each row, mean over queries, −1 to 1; equal "
            "weights share their mean rank",
        ),
        (
            "Entropy change",
            f"{sign}{change} nats",
            f"Entropy -Σ A ln A of {a} less that of {b}, mean over queries: above 0 {a} looks more broadly",
        ),
        ("Largest", theme.number(apart.largest), "Largest difference of two weights, without its sign"),
    ]


def _alignment(keys: Common, a: str, b: str) -> str:
    """Say how many tokens or words were aligned, and which were not."""
    if keys.unit == "words":
        begin = (
            f"Two tokenizers cut the text in two ways, so its words are compared, {len(keys.a.labels)} of them: to a "
            "word the sum over its pieces, from a word the mean (Clark et al. 2019, 4.1)."
        )
    else:
        begin = f"{len(keys.a.labels)} {'groups' if _merged(keys) else 'tokens'} are compared, matched by name."
    rest = [
        f"Only in {name}: {', '.join(map(widgets.plain, alone[:MOST_NAMES]))}"
        + (f" and {len(alone) - MOST_NAMES} more." if len(alone) > MOST_NAMES else ".")
        for name, alone in zip((a, b), keys.alone, strict=True)
        if alone
    ]
    return " ".join([begin, *(rest or ["Nothing is left over."])])


def _merged(keys: Common) -> bool:
    return any(len(group) > 1 for group in keys.a.members)


def _numbers(common: maps.Groups, shown: maps.Groups, numbers: tuple[Number, ...]) -> tuple[Number, ...]:
    """The numbers of a panel's tokens, for the rows or columns of its difference from another."""
    places = (shown.containing(group[0]) for group in common.members)
    return tuple(None if place is None else numbers[place] for place in places)
