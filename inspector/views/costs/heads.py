"""More heads or fewer: the products cost the same, the softmax does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots.theme import quantity
from inspector.readings import costs as read
from inspector.views.shell import link, session, widgets

if TYPE_CHECKING:
    from inspector.views.costs.subject import Subject


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
    n, d = subject.tokens, layer.width
    st.caption(
        f"{heads} heads of width {cost.head_width}: each map takes 2 n² d/h FLOPs for its scores, so {heads} of them "
        f"take 2 n² d = {2 * n * n * d:,} together at n = {n:,} and d = {d:,}. What grows with the heads is the number "
        f"of weights, h n² = {heads * n * n:,}, and with it the softmax and the time. Heads as wide as the model each, "
        f"without the reduction to d/h, would cost {heads} times as much: {quantity(heads * cost.products, 'FLOP')}. "
        "Here every head has its own keys and values."
    )
