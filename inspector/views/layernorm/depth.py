"""Pre-norm or post-norm: untrained stacks of the own Transformer by depth, and what each sublayer lets a token see."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import normalization
from inspector.normalization.depth import BATCH, LAYERS, SEED, TASK, TOKENS, WIDTH
from inspector.normalization.drift import DRIFT_LAYERS, DRIFT_STEPS
from inspector.plots import other_norms as draw
from inspector.plots.theme import number
from inspector.readings import other_norms as read
from inspector.views.figures import chart
from inspector.views.shell import link, session, widgets
from inspector.wording.english import other_norms as words

if TYPE_CHECKING:
    from models.transformer.config import Initialisation

STARTS: dict[Initialisation, str] = {
    "xavier": "Glorot, as nn.Transformer",
    "torch": "as nn.Linear",
    "normal": "0.02, as BERT",
}
PYTHON = "import inspector\n\ntable = inspector.normalization.{}"


MOVES = {
    "norm": "Norm",
    "mean": "Move of the mean",
    "deviation": "Move of the deviation",
    "first": "First loss",
    "last": "Last loss",
}
TRAIN = "Train three small stacks"


def show() -> None:
    """Draw the section."""
    st.subheader("Pre-norm or post-norm, with and without residual", anchor=False)
    widgets.untrained()
    start = widgets.bar("Initialisation", list(STARTS), "start", words=STARTS.__getitem__)
    with st.spinner("Running 24 untrained layers five times"):
        table = session.cached(("untrained depth", start), lambda: normalization.through_depth(initialisation=start))
        slopes = session.cached("untrained jacobians", normalization.jacobians)
    st.markdown(words.depth(read.depth(table)))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart.show(
            partial(draw.through_depth, table),
            alt="activation, gradient and cosine of tokens by layer, in five untrained stacks",
            key="untrained-depth",
            python=PYTHON.format(f"through_depth(initialisation={start!r})"),
            table=table,
        )
        st.caption(
            f"The own Transformer's encoder, {LAYERS} layers of width {WIDTH}, seed {SEED}, not trained. It reads "
            f"{BATCH} texts of {TOKENS} random tokens; the loss is that of a task: {TASK}. Activation: the root mean "
            "square of what a layer gives; gradient: the Euclidean norm of the loss's gradient there; cosine: of two "
            "tokens of a text, 1 where they have become one (Dong et al. 2021). Xiong et al. (2020) explain with such "
            "gradients why post-norm needs a warm-up."
        )
    with right:
        chart.show(
            partial(draw.jacobians, slopes),
            alt="norm of the Jacobian of each sublayer, from the token itself, other tokens and other texts",
            key="untrained-jacobians",
            python=PYTHON.format("jacobians()"),
            table=slopes,
        )
        by_kind = slopes.set_index("kind")
        st.caption(
            "How much a token's output changes with each input (layer 0, untrained, Glorot). "
            f"FFN and LayerNorm see the token alone ({number(by_kind['others']['FFN'])} and "
            f"{number(by_kind['others']['LayerNorm'])} from other tokens); attention sees its text "
            f"({number(by_kind['others']['attention'])}); BatchNorm in training sees the whole batch "
            f"({number(by_kind['others']['BatchNorm'])} from its text, {number(by_kind['texts']['BatchNorm'])} from "
            "other texts)."
        )
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("What the residual is for", anchor=False)
        st.markdown("\n".join(f"- {line}" for line in words.residual(read.depth(table))))
    with right:
        _shift()


def _shift() -> None:
    """Say what is known of internal covariate shift, and measure it in small trainings when asked."""
    st.subheader("Is it the internal covariate shift?", anchor=False)
    st.markdown(words.SHIFT)
    if not st.toggle(TRAIN, key="drift", bind=link.bind_switch("drift")):
        return
    with st.spinner(f"Training each for {DRIFT_STEPS} steps"):
        table = session.cached("drift", normalization.drift)
    st.markdown(words.drift(read.drift(table)))
    widgets.table(table, name="layernorm-drift", words=MOVES)
    st.caption(
        f"{DRIFT_LAYERS} layers of width {WIDTH} each, pre-norm or without, {DRIFT_STEPS} steps of Adam, one seed, the "
        "task above. Looked at is what goes into the last layer's FFN, on texts that are not learned from: the move of "
        "each dimension's mean and deviation in a step, over its deviation. Loss in nats per token."
    )
