"""The section Gradient by distance: |d out_T / d x_t| of the loaded model by distance and depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.distance import reach, residual
from inspector.export.python import given
from inspector.plots.time import reach as draw
from inspector.readings.time import reach as read
from inspector.views.figures import chart, matrix
from inspector.views.server import queue
from inspector.views.shell import by_name, measuring, sentence, session, widgets
from inspector.views.shell.session import Inspected
from inspector.wording.english.time import reach as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import Trace
    from models import LoadedModel

AT_ONCE = 128  # tokens: of as many gradients are taken without being asked for
SMALL = 40_000_000  # parameters: and in a model of as many
STEPS = 2  # of the work: the model's own gradients, and the ways back
PYTHON = """import inspector, models
from inspector import distance

loaded = models.load({model!r})
trace = inspector.record(loaded, {text})
"""
TAKEN = "table = distance.reach.measure(distance.reach.copy_of(loaded, trace), position={position})"
CUT = "table = distance.residual.measure(distance.residual.copied_own(loaded, trace), position={position})"


@dataclass(frozen=True, eq=False)
class Taken:
    """The gradients from one token. ways: by the ways back, None where they cannot be told apart, and then why."""

    table: pd.DataFrame
    ways: pd.DataFrame | None
    why: str


def show(inspected: Inspected) -> None:
    """Draw the gradient of one token's last state by token and layer, and what the residual carries of it."""
    trace = inspected.trace
    loaded = session.at_hand(inspected, so="no gradients can be taken")
    said = st.container()
    tokens = trace.read_by("decoder" if trace.target is not None else "encoder").tokens
    position = by_name.token("Token T", tokens, name="reach_token", default=read.last_of_text(trace))
    chosen = st.container(horizontal=True, vertical_alignment="bottom")
    try:
        reach.check_size(loaded, trace)
        taken = _asked(loaded, trace, position)
    except ValueError as error:
        session.show_problem(str(error).replace(loaded.card.id, loaded.card.title))
        return
    if taken is None:
        return
    with chosen:
        scalar = _scalar(taken.table)
        stream = widgets.stream(sorted(set(taken.table["stream"])), key="reach_stream")
    ends = "decoder" if trace.target is not None else stream
    found = read.reached(taken.table, tokens=tokens, position=position, scalar=scalar, stream=stream)
    with said:
        sentence.show(words.reached(found), ["gradient of a state"])
    python = PYTHON.format(model=trace.model, text=given(trace))
    rows = taken.table[(taken.table["scalar"] == scalar) & (taken.table["stream"] == stream)]
    _gradients(rows, read.shares(taken.table, scalar=scalar, stream=stream), python + TAKEN.format(position=position))
    if scalar != "sum" or not reach.still(taken.table, "sum"):
        st.caption(words.scalar(found, width=trace.hidden.shape[-1], stream=ends))
    if reach.still(taken.table, "sum"):
        st.caption(words.moved_on("sum"))
    if taken.ways is None:
        st.caption(taken.why.replace(loaded.card.id, loaded.card.title))
    else:
        _residual(taken.ways, found, scalar, stream, python + CUT.format(position=position))
    with st.expander("All numbers"):
        widgets.table(rows.drop(columns=["scalar", "stream"]), name="reach", height=420)


def _asked(loaded: LoadedModel, trace: Trace, position: int) -> Taken | None:
    """Take the gradients; of a long text or in a large model once the reader asked for them, None until then."""
    known = (trace.key, "reach", position)
    tokens = max(len(trace.encoding), len(trace.target or ()))
    parameters = sum(tensor.numel() for tensor in loaded.network.parameters())
    if tokens > AT_ONCE or parameters > SMALL:
        return measuring.run(
            lambda watch, keep: _taken(loaded, trace, position, watch),
            known=known,
            key="reach-start",
            about=words.too_long(tokens),
        )

    def make() -> Taken:
        told = failures.told("Taking gradients", instead="Choose another text or model.")
        with told, queue.turn("Taking gradients"), st.spinner("Taking gradients"):
            return _taken(loaded, trace, position, lambda done, total: None)

    return session.cached(known, make)


def _taken(loaded: LoadedModel, trace: Trace, position: int, watch: Callable[[int, int], object]) -> Taken:
    watch(0, STEPS)
    table = reach.measure(reach.copy_of(loaded, trace), position=position)
    watch(1, STEPS)
    try:
        ways, why = residual.measure(residual.copied_own(loaded, trace), position=position), ""
    except ValueError as error:
        ways, why = None, f"The residual is not taken apart here: {error}."
    return Taken(table, ways, why)


def _scalar(table: pd.DataFrame) -> reach.Scalar:
    """Let the reader choose what is differentiated; at first the sum, or a direction where the sum does not move."""
    options = [scalar for scalar in reach.SCALARS if scalar in set(table["scalar"])]
    return widgets.bar(
        "What is differentiated",
        options,
        "reach_scalar",
        default=read.told(table, "sum"),
        words=words.SCALARS.__getitem__,
    )


def _gradients(rows: pd.DataFrame, shares: pd.DataFrame, python: str) -> None:
    """Draw the map of layers and tokens, and the curves of three layers."""
    layers = len(shares)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("By layer and token", anchor=False)
        first = rows[rows["layer"] == 0]
        panel = matrix.Panel(
            shares.to_numpy(), rows=[f"into {layer}" for layer in range(layers)], columns=list(first["token"])
        )
        matrix.show(
            panel,
            row_title="x into layer",
            column_title="token t",
            quantity="share of the layer's gradient",
            numbered="columns",
            name="reach-map",
            key="reach-map",
            scale="sqrt",
            python=python,
        )
    with right:
        st.subheader("By distance", anchor=False)
        chart.show(
            partial(draw.by_distance, rows, layers=sorted({0, (layers - 1) // 2, layers - 1})),
            alt="Size of the gradient at each token by its distance from T, on a logarithmic scale",
            key="reach-distance",
            python=python,
            table=rows,
        )


def _residual(ways: pd.DataFrame, found: read.Reached, scalar: reach.Scalar, stream: str, python: str) -> None:
    """Draw the ways back, and say what each brings."""
    carried = read.carried(ways, scalar=scalar, stream=stream)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("With the residual, and without", anchor=False)
        chart.show(
            partial(draw.by_way, read.by_layer(ways, scalar=scalar, stream=stream), words.WAYS),
            alt="Size of the whole gradient by layer: all ways, through the sublayers alone, and the skip alone",
            key="reach-ways",
            python=python,
            table=ways,
        )
    with right:
        st.markdown(words.carried(carried, found))
        if not found.source:  # within a line: a display of its own would scroll where the column is narrow
            last, end = carried.parts, r"\, \partial s / \partial out"
            st.markdown(
                rf"$\partial s / \partial x = (I + J_1)^\top \cdots (I + J_{{{last}}})^\top {end}$; "
                rf"sublayers alone: $J_1^\top \cdots J_{{{last}}}^\top {end}$"
            )
        st.caption(words.WAYS_BACK)
