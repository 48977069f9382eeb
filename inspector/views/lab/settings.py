"""The lab's settings: the task and the switches of A and B beside each other, each in the link.

A hundred fields take a browser a second. Those of a closed panel are drawn only once they were set, by the link, the
reader or a ready experiment; the others say what they say by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, cast, get_args

import streamlit as st

from inspector.views.shell import link, problems
from inspector.wording import lab as words
from models.loaded import Shape
from models.recurrent.config import Cell
from models.training.tiny.experiments import (
    HEADS,
    LAYERS,
    LEARNING_RATES,
    LENGTHS,
    SEEDS,
    STEPS,
    Embeddings,
    Experiment,
    Network,
    Optimizer,
    Side,
    Switches,
    Task,
    idle,
)
from models.transformer.config import (
    Activation,
    Initialisation,
    Merge,
    Norm,
    NormPlacement,
    Positions,
    Scale,
    TiedEmbeddings,
    Weighting,
)

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

START = Experiment()  # what the page opens with
FIRST = ("network", "positions", "score", "scale", "norm_placement", "layers", "heads", "shared_query_key", "residual")
OPTIONS: dict[str, tuple[Any, ...]] = {
    "network": get_args(Network),
    "cell": get_args(Cell),
    "shape": (None, *get_args(Shape)),
    "decoder_layers": (None, 1, 2, 3, 4, 6),
    "width": (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
    "ffn_width": (8, 16, 32, 48, 96, 192, 256, 384, 512, 768, 1024, 2048),
    "tied_embeddings": get_args(TiedEmbeddings),
    "positions": get_args(Positions),
    "rope_base": (10000.0, 10.0, 100.0, 1000.0, 500000.0),
    "relative_buckets": (32, 4, 8, 16, 64),
    "relative_distance": (None, 2, 4, 8, 16, 32, 64, 128),
    "embedding_width": (None, 4, 8, 16, 24, 32, 48, 64, 128, 256),
    "score": ("dot", "additive", "cosine", "general", "additive_naive"),
    "scale": get_args(Scale),
    "weighting": get_args(Weighting),
    "kv_heads": (None, 1, 2, 4),
    "head_size": ("split", "full", 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128),
    "merge": get_args(Merge),
    "causal": (None, True, False),
    "window": (None, 1, 2, 3, 4, 6, 8, 16),
    "segment": (None, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 32, 64),
    "memory": (0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 18, 32, 64),
    "mask_fill": (-inf, -10000.0, -100.0, -10.0, -1.0, "zero"),
    "norm": get_args(Norm),
    "norm_placement": get_args(NormPlacement),
    "final_norm": (None, True, False),
    "norm_epsilon": (1e-5, 1e-12, 1e-8, 1e-3, 0.1),
    "activation": get_args(Activation),
    "learning_rate": (None, *LEARNING_RATES),
    "warmup": (None, 0, 10, 20, 50, 100, 200, 500),
    "optimizer": get_args(Optimizer),
    "weight_decay": (0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0),
    "clip": (None, 0.1, 0.5, 1.0, 5.0),
    "dropout": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
    "attention_dropout": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
    "initialisation": get_args(Initialisation),
    "embeddings": get_args(Embeddings),
}
"""Values that each switch can take; switches that are not here are numbers, or on and off."""
WIDTH = 128  # pixels of a widget: two stand side by side
RATES = tuple(str(rate) for rate in LEARNING_RATES)


def draw(problem: DeltaGenerator, *, folded: bool) -> Experiment | None:
    """Draw all settings; None where the switches do not fit, with the reason here and at `problem`.

    folded: whether the panel that they stand in is closed.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        task = _choice(words.TASK, "task", get_args(Task), default=START.task, folded=folded)
        length = _number(words.length(cast("Task", task)), "length", default=START.length, span=LENGTHS, folded=folded)
        steps = _number(words.STEPS, "steps", default=START.steps, span=STEPS, step=50, folded=folded)
        rate = _choice(words.RATE, "rate", RATES, default=str(START.learning_rate), folded=folded)
        seeds = _number(words.SEEDS, "seeds", default=START.seeds, span=SEEDS, folded=folded)
    values: dict[Side, dict[str, Any]] = {}
    titles: dict[Side, DeltaGenerator] = {}
    for side, default, column in zip(get_args(Side), (START.a, START.b), st.columns(2, gap="medium"), strict=True):
        with column, st.container(border=True, gap="small"):
            titles[side] = st.empty()
            titles[side].markdown(f"**{side}**")
            values[side] = _values(side, default, folded=folded)
    st.caption(words.NOT_SWITCHED)
    try:
        sides = {side: _switches(side, chosen) for side, chosen in values.items()}
        for side, title in titles.items():
            title.markdown(words.title(side, sides[side]))
        return Experiment(
            task=cast("Task", task),
            length=length,
            steps=steps,
            learning_rate=float(rate),
            seeds=seeds,
            a=sides["A"],
            b=sides["B"],
        )
    except ValueError as error:
        for place in (problem, st.container()):  # where Start is grey, and where the reader sets it right
            with place:
                problems.show(str(error))
        return None


def _switches(side: Side, values: dict[str, Any]) -> Switches:
    """Put the values of one side together; raise ValueError, which names the side, where they do not fit."""
    try:
        return Switches(**values)
    except ValueError as error:
        raise ValueError(f"{side} cannot be built: {error}") from error


def _values(side: Side, default: Switches, *, folded: bool) -> dict[str, Any]:
    """Draw the widgets of one side: the first switches, and all others folded away.

    Those that do not act in the chosen network are grey, and have no say.
    """
    values: dict[str, Any] = {}
    waiting: frozenset[str] = frozenset()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        for name in FIRST:
            values[name] = _switch_of(side, name, default, waits=name in waiting, folded=folded)
            if name == "network":
                waiting = idle(values[name])
    if waits := words.waits(values["network"]):
        st.caption(waits)
    with st.expander(words.MORE, key=f"lab_{side.lower()}_more", on_change="rerun") as more:
        for group, names in words.GROUPS.items():
            st.caption(group)
            with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
                for name in names:
                    values[name] = _switch_of(
                        side, name, default, waits=name in waiting, folded=folded or not more.open
                    )
    return values


def _switch_of(side: Side, name: str, default: Switches, *, waits: bool, folded: bool) -> Any:
    """Draw one switch: a choice, a number, or on and off; of a grey switch return what it is without a choice."""
    chosen = _widget_of(side, name, default, waits=waits, folded=folded)
    return getattr(Switches(), name) if waits else chosen


def _widget_of(side: Side, name: str, default: Switches, *, waits: bool, folded: bool) -> Any:
    key, usual = f"{side.lower()}_{name}", getattr(default, name)
    label = f"{words.NAMES[name][0].upper()}{words.NAMES[name][1:]}"
    if name in OPTIONS:
        options = {words.value(name, value): value for value in OPTIONS[name]}
        width = 2 * WIDTH if name == "network" else WIDTH
        usual = words.value(name, usual)
        return options[_choice(label, key, tuple(options), default=usual, grey=waits, width=width, folded=folded)]
    if isinstance(usual, bool):
        return _switch(label, key, default=usual, grey=waits, folded=folded)
    span = (1, LAYERS if name == "layers" else HEADS)
    return _number(label, key, default=usual, span=span, grey=waits, folded=folded)


def _stays_out(key: str, *, folded: bool) -> bool:
    """Return whether a widget may be left out: nobody sees it, and nobody set it."""
    return folded and key not in st.session_state and key not in st.query_params


def _choice(
    label: str, name: str, options: Sequence[str], *, default: str, folded: bool, grey: bool = False, width: int = WIDTH
) -> str:
    key = f"lab_{name}"
    if _stays_out(key, folded=folded):
        return default
    return st.selectbox(
        label,
        options,
        options.index(default),
        key=key,
        bind=link.bind_choice(key, default=default, options=options),
        persist_state="session",
        width=width,
        disabled=grey,
    )


def _number(
    label: str, name: str, *, default: int, span: tuple[int, int], folded: bool, step: int = 1, grey: bool = False
) -> int:
    key = f"lab_{name}"
    if _stays_out(key, folded=folded):
        return default
    return st.number_input(
        label,
        *span,
        default,
        step,
        key=key,
        bind=link.bind_number(key, default=default, first=span[0], last=span[1]),
        persist_state="session",
        width=WIDTH,
        disabled=grey,
    )


def _switch(label: str, name: str, *, default: bool, grey: bool, folded: bool) -> bool:
    key = f"lab_{name}"
    if _stays_out(key, folded=folded):
        return default
    return st.toggle(
        label, default, key=key, bind=link.bind_switch(key, default=default), persist_state="session", disabled=grey
    )
