"""More heads or fewer: the products cost the same, the softmax and the time do not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.costs import clock
from inspector.plots import costs as draw
from inspector.plots.theme import quantity
from inspector.readings import costs as read
from inspector.views.figures import chart
from inspector.views.shell import link, measuring, session, widgets
from inspector.wording.english import costs as words
from inspector.wording.english.phrases import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.costs.clock import Measured
    from inspector.views.costs.subject import Subject

HEADS = """from inspector.costs import clock

measured = clock.measure_heads({width}, {heads}, tokens={tokens})"""


def show(subject: Subject) -> None:
    """Draw the slider and what it changes."""
    try:
        layer = read.attention_layer(subject.config)
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    st.subheader("Does it cost more to have more heads?")
    options = [str(number) for number in layer.divisors]
    heads = int(
        st.select_slider(
            "Heads",
            options,
            value=str(layer.heads),
            key="with_heads",
            bind=link.bind_choice("with_heads", default=str(layer.heads), options=options),
            width=420,
        )
    )
    cost = layer.with_heads(heads, tokens=subject.tokens)
    widgets.numbers(
        [
            ("Width of a head", f"{cost.head_width:,}", f"{layer.width:,} / {heads}"),
            ("Parameters", quantity(cost.parameters), "4 d² without biases, whatever the number of heads."),
            ("Scores and mix", quantity(cost.products, "FLOP"), "4 n² d, whatever the number of heads."),
            ("Softmax", quantity(cost.softmax, "FLOP"), "5 h n²: as many maps as heads."),
        ],
        of=" in one layer",
    )
    st.caption(words.heads(layer, heads=heads, tokens=subject.tokens))
    _timed(subject, layer, heads)


def _timed(subject: Subject, layer: read.AttentionLayer, heads: int) -> None:
    """Draw the milliseconds of one layer's maps by the number of heads, from the clock."""
    compared = layer.compared(heads)

    def work(on_progress: measuring.Watch, so_far: Callable[[dict[int, Measured]], object]) -> dict[int, Measured]:
        def two(found: dict[int, Measured]) -> None:
            if len(found) > 1:  # one number of heads is no comparison
                so_far(found)

        return clock.measure_heads(layer.width, compared, tokens=subject.tokens, on_progress=on_progress, on_heads=two)

    measured = measuring.run(
        work,
        known=("heads", layer.width, tuple(compared), subject.tokens),
        key="measure-heads",
        about=f"Do more heads take longer? Scores, softmax and mix of one layer are timed on this machine with "
        f"{listed(list(map(str, compared)))} heads at {subject.tokens:,} tokens.",
    )
    if measured is None:
        return
    table = read.times_by_heads(measured)
    st.markdown(words.heads_timed(table, tokens=subject.tokens))
    chart.show(
        partial(draw.by_heads, table),
        alt="Milliseconds of scores, softmax and mix by the number of heads, eager and fused",
        key="by-heads",
        python=HEADS.format(width=layer.width, heads=compared, tokens=subject.tokens),
        table=table,
    )
