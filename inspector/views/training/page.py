"""Training: how the shipped models learned, from the files that their trainings left."""

from __future__ import annotations

from functools import partial
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from inspector import training
from inspector.plots import theme
from inspector.plots import training as draw
from inspector.readings import training as read
from inspector.views.figures import chart
from inspector.views.shell import available_models, link, sentence, session, widgets
from inspector.views.training import replay
from inspector.wording.english import training as words
from models import checkpoints
from models.training import history
from models.training.recipes import RECIPES, Recipe
from models.training.schedules import last_constant

if TYPE_CHECKING:
    import pandas as pd

DECAYS = {
    "linear": r"{peak}\left(1 - \frac{{t - {warmup}}}{{{steps} - {warmup}}}\right)",
    "cosine": r"\frac{{{peak}}}{{2}}\left(1 + \cos \pi\frac{{t - {warmup}}}{{{steps} - {warmup}}}\right)",
    "noam": r"{peak}\sqrt{{{warmup} / t}}",
    "late": r"{peak}\min\left(1, \frac{{{steps} - t}}{{{steps} - {constant}}}\right)",
}
FIT = (
    0.01  # of the highest rate: what the measured rates may differ from the recipe's, which are written in four digits
)


def about(folder: Path, table: pd.DataFrame | None, recipe: Recipe | None, size: history.CheckpointSize | None) -> None:
    """Show what was trained, on what, for how long."""
    st.subheader("What was trained", anchor=False)
    numbers = []
    if size is not None:
        numbers.append(("Parameters", theme.quantity(size.parameters), f"{size.parameters:,} numbers were learned"))
    if table is not None:
        last, valid = table.iloc[-1], table["valid_loss"].dropna()
        numbers += [
            ("Steps", f"{last['step']:,.0f}", "Each step reads a batch and moves every weight a little"),
            ("Time", f"{theme.number(last['seconds'] / 60)} min", f"{last['seconds']:,.0f} s, interruptions left out"),
        ]
        if len(valid):
            loss = valid.iloc[-1]
            numbers.append(("Perplexity", theme.number(exp(loss)), f"At the end, valid split: e^{loss:.4g}"))
    seed = "" if recipe is None else f" ({recipe.seed})"
    numbers.append(("Seeds", "1", f"One training, one seed{seed}"))
    widgets.cards(numbers)
    try:
        card = history.read_card(folder)
    except ValueError as error:
        session.show_problem(str(error))
    else:
        data = "; ".join(line.removeprefix("- ") for line in history.section(card, "Data").splitlines())
        hardware = history.section(card, "Hardware and time")
        st.caption(f"Data: {data}. Hardware: {hardware}".replace("$", r"\$"))
        with st.expander("The model's card: data, recipe, scores, limits", icon=":material/description:"):
            st.markdown(card.partition("\n")[2].replace("$", r"\$"))
    st.caption(
        f"**One training, one seed{seed}**: with other random numbers every curve here would run a little differently, "
        "and a curve of one seed proves nothing about another choice of recipe."
    )


def schedule(recipe: Recipe, table: pd.DataFrame, *, steps: int) -> None:
    """The learning rate that the recipe asks for, others beside it, and what was measured."""
    st.subheader("Learning rate by step", anchor=False)
    numbers = {
        "peak": f"{recipe.learning_rate:g}",
        "warmup": recipe.warmup,
        "steps": steps,
        "constant": last_constant(steps),
    }
    st.caption(
        "How far a step moves the weights. It rises in a warm-up, while the gradients of random weights are still "
        "rough, and falls so that the weights come to rest. "
        rf"$\eta_t = {recipe.learning_rate:g} \cdot t / {recipe.warmup}$ up to step {recipe.warmup}, then "
        rf"$\eta_t = {DECAYS[recipe.decay].format(**numbers)}$ ({recipe.decay}) to step {steps:,}."
    )
    rates = training.schedules(recipe, steps=steps)
    chart.show(
        partial(draw.schedule, rates, decay=recipe.decay, measured=table),
        alt=f"learning rate by step, {recipe.decay} decay after a warm-up, beside the other decays",
        key="schedule",
        name=f"{recipe.name}-learning-rate",
        python="from inspector import training\nfrom models.training.recipes import RECIPES\n\n"
        f"rates = training.schedules(RECIPES[{recipe.name!r}], steps={steps})",
    )
    off = (
        rates.set_index("step")[recipe.decay].reindex(table["step"]) - table.set_index("step")["learning_rate"]
    ).abs()
    if not off.max() <= FIT * recipe.learning_rate:
        st.warning(
            f"The measured rates are not those of this recipe: models/training/recipes.py was changed after "
            f"{recipe.name} was trained. The card below has the recipe that it was trained by.",
            icon=":material/difference:",
        )
    else:
        st.caption(f"The {len(table)} measured points lie on the formula: the largest difference is {off.max():.1e}.")


link.parameters("run", "replay_layer", "replay_head")
names = history.names(checkpoints.FOLDER)
if not names:
    session.show_problem(
        f"No model in {checkpoints.FOLDER} tells of its training. Train one: python -m models.train --help."
    )
    st.stop()
opening = st.container()
st.session_state["run"] = link.choice("run", default=names[0], options=names)
run: str = st.selectbox(
    "Trained model",
    names,
    key="run",
    format_func=available_models.title,  # the link has the id
    on_change=lambda: link.assign("run", st.session_state["run"]),
    width=300,
    label_visibility="collapsed",
)
folder, recipe = checkpoints.FOLDER / run, RECIPES.get(run)
rows: pd.DataFrame | None = None
size: history.CheckpointSize | None = None
problems = []
try:
    rows = training.curves(history.read_metrics(folder))
except ValueError as error:
    problems.append(str(error))
try:
    size = history.read_size(folder)
except ValueError as error:
    problems.append(str(error))
fall = None if rows is None else read.fall(rows)
if fall is not None:
    with opening:
        sentence.show(words.fall(fall), ["valid loss", "perplexity"])
replay.draw(folder, rows, recipe=recipe, vocabulary=None if size is None else size.vocabulary)
for problem in problems:
    session.show_problem(problem)
if rows is not None and recipe is None:
    st.caption(f"models/training/recipes.py has no recipe {run}, so its learning rate is not drawn.")
elif rows is not None and recipe is not None:
    schedule(recipe, rows, steps=int(rows["step"].iloc[-1]))
about(folder, rows, recipe, size)
link.publish()  # of a model without a replay too, which publishes as it is drawn
