"""The section RNN, LSTM, GRU: a gradient through torch.nn's recurrent networks and attention, on random input."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from inspector import distance
from inspector.distance import Kind, Setting
from inspector.plots.time import recurrent as draw
from inspector.readings.time import recurrent as read
from inspector.views.figures import chart
from inspector.views.shell import measuring, sentence, session, widgets
from inspector.views.shell.session import Inspected
from inspector.wording.english.time import recurrent as words

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE, NARROW = 150, 64  # steps, width: the parts of as many are measured without being asked for
IN_THE_LAB = {
    "lab_topic": "Recurrence",
    "lab_task": "reverse",
    "lab_length": "8",
    "lab_steps": "300",
    "lab_rate": "0.005",
    "lab_a_network": "RNN with attention",
    "lab_b_network": "RNN",
}
"""The Lab's experiment RNN with attention or without, as its link has it."""
PYTHON = """from inspector import distance

setting = distance.{setting}
table = distance.{function}(setting)"""


def show(_: Inspected) -> None:
    """Draw the gradient by distance, each step's part in the shared weights, and what positions stand in for."""
    said = st.container()
    setting = _setting()
    table, radius, order = session.cached(
        ("recurrent", setting), lambda: (distance.curves(setting), distance.radius(setting), distance.shuffled(setting))
    )
    found = read.recurrence(table, setting=setting, radius=radius)
    names = {kind: words.name(kind, setting) for kind in distance.KINDS}
    with said:
        sentence.show(words.recurrence(found), ["gradient of a state", "forget bias"])
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Gradient by distance", anchor=False)
        chart.show(
            partial(draw.by_distance, table, names, title="Gradient by distance", quantity="‖∂s / ∂x_t‖"),
            alt="Size of the gradient of the last output by distance, on a logarithmic scale: "
            + words.recurrence(found),
            key="recurrent-gradient",
            python=PYTHON.format(setting=setting, function="curves"),
            table=table,
        )
    with right:
        st.subheader("Each step's part in the shared weights", anchor=False)
        parts = _parts(setting, names)
    points = [*words.claims(found), words.order(read.ordered(order))]
    if parts is not None:
        points.insert(2, words.shared_weights(read.shared(parts)))
    st.markdown("\n".join(f"- {line}" for line in points))
    st.markdown(
        r"$\partial s / \partial x_1 = (\partial h_1 / \partial x_1)^\top J_2^\top \cdots "
        rf"J_{{{setting.steps}}}^\top \mathbf{{1}}$, with $J_k = \partial h_k / \partial h_{{k-1}}$; in the tanh-RNN "
        r"$J_k = \mathrm{diag}(1 - h_k^2)\, W_{hh}$"
    )
    st.caption(words.setting(setting) + words.zeros(found))
    _tables(setting, order)
    st.page_link(
        Path(__file__).parents[1] / "lab" / "page.py",
        label="Train an RNN with and without attention: Lab",
        icon=":material/science:",
        query_params=IN_THE_LAB,
    )


def _setting() -> Setting:
    """Let the reader choose the sizes."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return Setting(
            steps=widgets.number("Steps T", "recurrent_steps", default=100, first=2, last=distance.MOST_STEPS),
            width=widgets.number("Width", "recurrent_width", default=32, first=2, last=distance.MOST_WIDTH),
            forget_bias=widgets.decimal("Forget bias", "recurrent_bias", default=2.0, first=0.0, last=8.0),
            scale=widgets.decimal(
                "Factor on W_hh",
                "recurrent_scale",
                default=1.0,
                first=0.0,
                last=10.0,
                help="Multiplies the recurrent weights as torch.nn draws them: 4 makes a tanh-RNN explode.",
            ),
            seed=widgets.number("First seed", "recurrent_seed", default=0, last=distance.MOST_SEED),
        )


def _parts(setting: Setting, names: Mapping[Kind, str]) -> pd.DataFrame | None:
    """Draw each step's part; of many steps or a large width once the reader asked for it."""
    if setting.steps <= AT_ONCE and setting.width <= NARROW:
        parts = session.cached(("recurrent parts", setting), lambda: distance.parts(setting))
    else:
        parts = measuring.run(
            lambda watch, keep: distance.parts(setting, on_progress=watch),
            known=("recurrent parts", setting),
            key="recurrent-parts-start",
            about=f"{setting.steps} steps of width {setting.width}, each with weights of its own, take a few seconds.",
        )
    if parts is None:
        return None
    chart.show(
        partial(
            draw.by_distance,
            parts,
            names,
            title="Each step's part in the shared weights",
            quantity="‖part of ∂s / ∂(W_ih, W_hh)‖",
        ),
        alt="Size of each step's part in the gradient of the recurrent networks' shared weights, by distance",
        key="recurrent-parts",
        python=PYTHON.format(setting=setting, function="parts"),
        table=parts,
    )
    return parts


def _tables(setting: Setting, order: pd.DataFrame) -> None:
    """Draw the path lengths, what shuffling changes, and what the listed attention methods are."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Work and paths of a layer", anchor=False)
        widgets.table(words.paths(setting), name="path-lengths")
        st.caption(
            f"Vaswani et al. (2017), Table 1, with n = {setting.steps} and d = {setting.width}. The longest path "
            "counts the layers or steps between the two inputs that are farthest apart."
        )
    with right:
        st.subheader("What the order of the inputs changes", anchor=False)
        widgets.table(words.ordered(order, setting), name="shuffled")
        st.caption("All inputs but the last are shuffled: ‖out_T' − out_T‖ / ‖out_T‖, the median of five seeds.")
    st.subheader("Which of these are attention methods?", anchor=False)
    st.table(words.methods().set_index("Method"))  # its words wrap where there is little room
    st.caption("Only the first two rows are score functions. Positions and memory go with any of them.")
