"""The choice of a ready experiment, which sets all settings but the number of seeds, and what it answered here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.lab.presets import PRESETS, Preset
from inspector.views.lab.settings import OPTIONS, START
from inspector.views.shell import link
from inspector.wording import lab as words
from models.training.tiny.experiments import Experiment

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_TOPIC = "lab_topic"  # in the link too, which has the settings beside it
_EXPERIMENT = "lab_experiment"


def choose(experiment: Experiment | None, *, topics: DeltaGenerator, listed: DeltaGenerator) -> Preset | None:
    """Draw the topics, and the experiments of one; return the one that is set, None for settings of the reader's own.

    experiment: as the settings have it, None where they do not fit.
    """
    chosen = next(
        (preset for preset in PRESETS if experiment is not None and replace(experiment, seeds=1) == preset.experiment),
        None,
    )
    offered = list(dict.fromkeys(preset.topic for preset in PRESETS))
    with topics:
        topic = st.selectbox(
            words.READY,
            offered,
            0 if chosen is None else offered.index(chosen.topic),
            key=_TOPIC,
            bind=link.bind_choice(_TOPIC, default=offered[0], options=offered),
            persist_state="session",
            on_change=_take_first,
            width=220,
        )
    names = [preset.name for preset in PRESETS if preset.topic == topic]
    st.session_state[_EXPERIMENT] = chosen.name if chosen is not None and chosen.name in names else None
    with listed:
        st.selectbox(
            words.EXPERIMENT,
            names,
            index=None if st.session_state[_EXPERIMENT] is None else 0,  # with none it has a cross that empties it
            placeholder=words.OWN_SETTINGS,
            key=_EXPERIMENT,
            on_change=_take_named,
            width=320,
        )
    return chosen


def answer(preset: Preset) -> None:
    """Draw what three seeds answered, folded for each experiment anew, so that the reader can guess first."""
    with st.expander(words.ANSWERED, key=f"lab_answer {preset.name}"):
        st.markdown(preset.measured)


def _take_first() -> None:
    """Set the first experiment of the topic that the reader chose."""
    _take(next(preset for preset in PRESETS if preset.topic == st.session_state[_TOPIC]))


def _take_named() -> None:
    """Set the experiment that the reader chose; none where the list was emptied."""
    for preset in PRESETS:
        if preset.name == st.session_state[_EXPERIMENT]:
            _take(preset)


def _take(preset: Preset) -> None:
    """Set all widgets but the number of seeds, without those that nobody set and that say the same by default."""
    usual = _shown(START)
    for key, value in _shown(preset.experiment).items():
        if key in st.session_state or key in st.query_params or value != usual[key]:
            st.session_state[key] = value


def _shown(experiment: Experiment) -> dict[str, object]:
    """Return what each widget shows of an experiment, by its key."""
    values: dict[str, object] = {
        "task": experiment.task,
        "length": experiment.length,
        "steps": experiment.steps,
        "rate": str(experiment.learning_rate),
    }
    for side, switches in (("a", experiment.a), ("b", experiment.b)):
        for name, value in vars(switches).items():
            values[f"{side}_{name}"] = words.value(name, value) if name in OPTIONS else value
    return {f"lab_{name}": value for name, value in values.items()}
