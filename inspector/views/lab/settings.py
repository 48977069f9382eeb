"""The lab's settings: the task and the switches of A and B, each in the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args

import streamlit as st

from inspector.views.lab.presets import PRESETS, Preset
from inspector.views.shell import link, session, widgets
from inspector.wording.english import lab as words
from models.training.experiments import (
    HEADS,
    LAYERS,
    LEARNING_RATES,
    LENGTHS,
    SEEDS,
    STEPS,
    Experiment,
    Side,
    Switches,
    Task,
)

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
from models.transformer.config import NormPlacement, Positions, Scale, Score

START = Experiment()  # what the page opens with
SCORES = ("dot", "additive", "cosine", "general")  # additive_naive is additive, only slower
WIDTH = 128  # pixels of a widget: two stand side by side
RATES = tuple(str(rate) for rate in LEARNING_RATES)


def draw(presets: DeltaGenerator) -> Experiment | None:
    """Widgets, and in `presets` the ready experiments; None, with the reason, where the switches do not fit."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        task = _choice("Task", "task", get_args(Task), default=START.task)
        length = _number("Digits in a text", "length", default=START.length, span=LENGTHS)
        steps = _number("Steps", "steps", default=START.steps, span=STEPS, step=50)
        rate = _choice("Learning rate", "rate", RATES, default=str(START.learning_rate))
        seeds = _number("Seeds", "seeds", default=START.seeds, span=SEEDS)
    sides = {}
    for side, default in zip(get_args(Side), (START.a, START.b), strict=True):
        with st.container(border=True, gap="small"):
            sides[side] = _switches(side, default)
    try:
        experiment = Experiment(
            task=cast("Task", task),
            length=length,
            steps=steps,
            learning_rate=float(rate),
            seeds=seeds,
            a=sides["A"],
            b=sides["B"],
        )
    except ValueError as error:
        with presets:
            _presets(None)
        session.show_problem(str(error))
        return None
    with presets:
        _presets(experiment)
    st.caption(words.differences(experiment))
    return experiment


def _presets(experiment: Experiment | None) -> None:
    """A button for each preset; the question of the one that is set, and what it answered here."""
    chosen = None
    with st.container(horizontal=True, gap="small"):
        for preset in PRESETS:
            current = experiment is not None and replace(experiment, seeds=1) == preset.experiment
            chosen = preset if current else chosen
            st.button(
                preset.name,
                key=f"preset {preset.name}",
                type=widgets.main_button() if current else "secondary",
                icon=":material/check:" if current else None,
                on_click=_take,
                args=(preset,),
            )
    if chosen is None:
        st.caption("Take an experiment above, or set your own.")
        return
    st.markdown(f"**{chosen.question}** Guess first, then press Start.")
    with st.expander(f"What three seeds answered here: {chosen.name}"):  # by its name it closes with the next one
        st.markdown(chosen.measured)


def _take(preset: Preset) -> None:
    """Set all widgets but the number of seeds."""
    experiment = preset.experiment
    values: dict[str, object] = {
        "task": experiment.task,
        "length": experiment.length,
        "steps": experiment.steps,
        "rate": str(experiment.learning_rate),
    }
    for side, switches in (("a", experiment.a), ("b", experiment.b)):
        values |= {f"{side}_{name}": value for name, value in vars(switches).items()}
    for name, value in values.items():
        st.session_state[f"lab_{name}"] = value


def _switches(side: Side, default: Switches) -> Switches:
    """The widgets of one side."""
    key = side.lower()
    title = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        switches = Switches(
            positions=cast(
                "Positions", _choice("Positions", f"{key}_positions", get_args(Positions), default=default.positions)
            ),
            score=cast("Score", _choice("Score", f"{key}_score", SCORES, default=default.score)),
            scale=cast("Scale", _choice("Scale", f"{key}_scale", get_args(Scale), default=default.scale)),
            norm_placement=cast(
                "NormPlacement",
                _choice("Norm", f"{key}_norm_placement", get_args(NormPlacement), default=default.norm_placement),
            ),
            layers=_number("Layers", f"{key}_layers", default=default.layers, span=(1, LAYERS)),
            heads=_number("Heads", f"{key}_heads", default=default.heads, span=(1, HEADS)),
            shared_query_key=_switch("Tied Q and K", f"{key}_shared_query_key", default=default.shared_query_key),
            residual=_switch("Residual", f"{key}_residual", default=default.residual),
        )
    title.markdown(f"**{side}**{', as in the paper' if switches == Switches() else ''}")
    return switches


def _choice(label: str, name: str, options: Sequence[str], *, default: str) -> str:
    key = f"lab_{name}"
    return st.selectbox(
        label,
        options,
        options.index(default),
        key=key,
        bind=link.bind_choice(key, default=default, options=options),
        persist_state="session",
        width=WIDTH,
    )


def _number(label: str, name: str, *, default: int, span: tuple[int, int], step: int = 1) -> int:
    key = f"lab_{name}"
    return st.number_input(
        label,
        *span,
        default,
        step,
        key=key,
        bind=link.bind_number(key, default=default, first=span[0], last=span[1]),
        persist_state="session",
        width=WIDTH,
    )


def _switch(label: str, name: str, *, default: bool) -> bool:
    key = f"lab_{name}"
    return st.toggle(label, default, key=key, bind=link.bind_switch(key, default=default), persist_state="session")
