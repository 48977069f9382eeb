"""Heads of one panel against those of another, or among themselves: how alike they are, the best matches named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import pandas as pd
import streamlit as st

from inspector import alignment, head_distances, pairs
from inspector.export import python
from inspector.head_distances import CrossDistances, HeadDistances, HeadPlace
from inspector.plots import head_distances as draw
from inspector.text import number, plain
from inspector.views.compare.panels import Panel, assign, key, open_in
from inspector.views.figures import chart, matrix
from inspector.views.shell import caching, controls, overview
from inspector.wording import compare as wording
from models.formatting import layer_name

MAP = "map-of-heads"
NAMED = 6  # best matches that are named


def section(panels: Sequence[Panel]) -> None:
    """The distances of every head of one panel from every head of another, or of the same panel."""
    offered, refused = _offered(panels)
    a, b = offered[controls.bar("Heads of", list(offered), "heads_pair")]
    same = _same(a, b)
    with st.spinner("Comparing every head with every other"):
        found = _among(a) if same else _between(a, b)
    sides = (found.places, found.places) if isinstance(found, HeadDistances) else (list(found.a), list(found.b))
    if same and len(sides[0]) < 2:
        st.caption(wording.ONE_HEAD)
        return
    models = [panel.model for panel in (a, b)]
    if not same and models[0] == models[1]:
        models = [a.name, b.name]
    into = (a.name, a.name if b.name == a.name else b.name)
    left, right = st.columns([3, 2], gap="medium")
    read = pairs.heads(found)
    named = (sides[0].index(read.best.a), sides[1].index(read.best.b)) if read.nearest == 1 else None
    with left:
        rows, columns = ([_name(place) for place in side] for side in sides)
        matrix.show(
            matrix.Panel(
                found.values,
                rows=rows,
                columns=columns,
                marked=[sides[0].index(here) for here in (_open(a),) if here is not None],
                named=named,
            ),
            row_title=models[0],
            column_title=models[1],
            quantity=wording.DISTANCE,
            numbered="neither",
            heading=wording.heads(read, a=plain(models[0]), b=plain(models[1])),
            name="heads",
            key="heads-matrix",
            python=_python(a, b, same=same),
            on_pick=lambda pick: _open_pair(panels, into, sides[0][pick.row], sides[1][pick.column]),
        )
    with right:
        _best(panels, into, found, names=(models[0], models[1]))
    st.caption(_caption(found))
    if refused:
        st.caption(wording.unmatched(why=refused))


def plane(a: Panel, b: Panel) -> None:
    """Every head of the first panel's model as a point, near those that attend alike."""
    with st.spinner("Comparing every head with every other"):
        found = _among(a)
    same = _same(a, b)
    places = [found.places.index(here) for here in (_open(a), _open(b) if same else None) if here is not None]
    measures = overview.measures(a.trace, stream=a.stream)
    points, share = head_distances.plane(found.values)
    table = pd.DataFrame(found.places, columns=["layer", "head", "call"])
    chart.show(
        lambda *, mode: draw.map_of_heads(found, list(measures["label"]), opened=places, mode=mode)[0],
        alt="every head as a point, near the heads that attend alike",
        key=MAP,
        name="heads-on-a-plane",
        python=python.plane(a.trace, stream=a.stream),
        table=table.assign(label=list(measures["label"]), x=points[:, 0], y=points[:, 1]),
        on_pick=_open_point,
    )
    st.caption(wording.plane_read(share=share))


# --- distances ---------------------------------------------------------------------------------------------------


def _offered(panels: Sequence[Panel]) -> tuple[dict[str, tuple[Panel, Panel]], str]:
    """The pairs of panels whose heads can be matched, the first panel alone last, and why others cannot be."""
    offered, refused = dict[str, tuple[Panel, Panel]](), ""
    for a, b in combinations(panels, 2):
        try:
            alignment.pairing_of_one_text(a.axes, b.axes)
            offered[f"{a.name} and {b.name}"] = (a, b)
        except ValueError as error:
            refused = str(error)
    return offered | {f"{panels[0].name} alone": (panels[0], panels[0])}, refused


def _same(a: Panel, b: Panel) -> bool:
    """Return True for two panels of the same recording and stream, whose heads are compared among themselves."""
    return a.trace is b.trace and a.stream == b.stream


def _among(a: Panel) -> HeadDistances:
    found: HeadDistances = caching.cached(
        (a.trace.key, "head distances", a.stream),
        lambda: head_distances.measure(a.trace, stream=a.stream),
    )
    return found


def _between(a: Panel, b: Panel) -> CrossDistances:
    pairing = alignment.pairing_of_one_text(a.axes, b.axes)
    found: CrossDistances = caching.cached(
        (a.trace.key, b.trace.key, "head distances", a.stream, b.stream, a.shown, b.shown),
        lambda: head_distances.between(a.trace, b.trace, streams=(a.stream, b.stream), pairing=pairing),
    )
    return found


def _caption(found: HeadDistances | CrossDistances) -> str:
    rows = wording.which_rows(queries=found.queries, of=found.of)
    return wording.distances_read(queries=found.queries, rows=rows)


def _python(a: Panel, b: Panel, *, same: bool) -> str:
    if same:
        return python.heads_among(a.trace, stream=a.stream)
    return python.matched_heads(a.compared, b.compared)


# --- pairs of heads ------------------------------------------------------------------------------------------------


def _best(
    panels: Sequence[Panel], into: tuple[str, str], found: HeadDistances | CrossDistances, *, names: tuple[str, str]
) -> None:
    """The best matches, each as a row that opens the pair."""
    pairs = head_distances.matches(found).query("mutual").head(NAMED)
    whose = "" if names[0] == names[1] else f", {plain(names[0])} and {plain(names[1])}"
    st.markdown(wording.best_matches(whose=whose))
    with st.container(gap="xsmall"):
        for place, match in enumerate(pairs.itertuples()):
            a = (int(match.a_layer), int(match.a_head), int(match.a_call))
            b = (int(match.b_layer), int(match.b_head), int(match.b_call))
            st.button(
                f"{_name(a)} and {_name(b)}: {number(match.distance)} nats",
                key=f"match-{place}",
                icon=":material/chevron_right:",
                icon_position="right",
                on_click=partial(_open_pair, panels, into, a, b),
                width="stretch",
            )


def _name(place: HeadPlace) -> str:
    layer, head, call = place
    return f"{layer_name(layer, call)}, head {head}"


def _open(panel: Panel) -> HeadPlace | None:
    return None if panel.head is None else (panel.site.layer, panel.head, panel.site.call)


def _open_pair(panels: Sequence[Panel], into: tuple[str, str], a: HeadPlace, b: HeadPlace) -> None:
    """Show two heads in their panels; of two heads of one panel the second is shown in the panel that follows."""
    first, second = into
    if first == second:
        names = [panel.name for panel in panels]
        second = names[(names.index(first) + 1) % len(names)]
        assign(second, "model", panels[names.index(first)].trace.model)
        for setting in ("text", "stream"):
            if key(first, setting) in st.session_state:
                assign(second, setting, st.session_state[key(first, setting)])
    open_in(first, *a)
    open_in(second, *b)


def _open_point() -> None:
    points = st.session_state[MAP]["selection"]["points"]
    if points and "customdata" in points[0]:
        layer, number, call = points[0]["customdata"][:3]
        open_in("A", int(layer), int(number), int(call))
