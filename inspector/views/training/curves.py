"""The curves of a training, and in sentences what they mean."""

from __future__ import annotations

from functools import partial
from math import exp, log
from typing import TYPE_CHECKING

import streamlit as st

from inspector import training
from inspector.export import python
from inspector.plots import theme
from inspector.plots import training as figures
from inspector.views.figures import chart
from inspector.views.shell import link

if TYPE_CHECKING:
    import pandas as pd

    from models.training.recipes import Recipe


def curves(rows: pd.DataFrame, *, name: str, recipe: Recipe | None, vocabulary: int | None, step: int | None) -> None:
    """Loss, accuracy and gradient norm, the replay's step marked; `rows` of training.curves."""
    st.subheader("Loss, accuracy and gradient by step", anchor=False)
    logarithmic = st.toggle("Logarithmic steps", key="log_steps", bind=link.bind_switch("log_steps"))
    along: figures.Along = "log" if logarithmic else "linear"
    smoothing = 0.0 if recipe is None else recipe.label_smoothing
    least = training.least_loss(smoothing, vocabulary=vocabulary) if vocabulary else 0.0
    chart.show(
        partial(
            figures.curves,
            rows,
            uniform=log(vocabulary) if vocabulary else None,
            least=least,
            clip=None if recipe is None else recipe.clip,
            step=step,
            along=along,
        ),
        alt="training and valid loss, valid accuracy and gradient norm by step",
        key="curves",
        name=f"{name}-curves",
        python="\n".join([*python.replay(name)[:-1], "table = training.curves(history.read_metrics(folder))"]),
        table=rows,
    )
    st.caption(" ".join(_explained(rows, recipe=recipe, vocabulary=vocabulary, least=least)))


def _explained(rows: pd.DataFrame, *, recipe: Recipe | None, vocabulary: int | None, least: float) -> list[str]:
    """Explain the curves in sentences, with their numbers."""
    masked = recipe is not None and recipe.objective == "mask"
    sentences = [
        r"Loss: the mean of $-\ln p$, in nats a token, where $p$ is what the model gives to the true "
        + ("token behind each mask." if masked else "next token.")
    ]
    if recipe is not None:
        harder = [f"with dropout {recipe.dropout:g}"] if recipe.dropout else []
        if recipe.label_smoothing:
            harder.append(
                f"with label smoothing e = {recipe.label_smoothing:g}, which keeps it above {theme.number(least)}"
            )
        made = f" is measured while it learns, {' and '.join(harder)}" if harder else " is measured while it learns"
        sentences.append(f"The training loss{made}; the valid loss on text that it never learned from, nothing added.")
    valid = rows.dropna(subset=["valid_loss"])
    if len(valid):
        first, last = (_perplexity(row["valid_loss"], row["step"]) for _, row in valid.iloc[[0, -1]].iterrows())
        sentences.append(
            rf"Perplexity is $e^{{\mathrm{{loss}}}}$, valid {first} and {last}: "
            "as unsure as among so many equally likely tokens."
        )
    if vocabulary:
        nats = theme.number(log(vocabulary))
        sentences.append(rf"A uniform guess among all $V$ = {vocabulary:,} tokens has $\ln V$ = {nats} nats.")
    return sentences


def _perplexity(loss: float, step: float) -> str:
    return f"$e^{{{theme.number(loss)}}}$ = {theme.number(exp(loss))} at step {step:,.0f}"
