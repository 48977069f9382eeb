"""The results of two trainings of the lab: accuracy at longer lengths, and one text in full with its attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
import streamlit as st

from inspector import lab
from inspector.export import spreadsheet
from inspector.plots import matrices, raster
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.views.figures import matrix, menu
from inspector.views.shell import downloads, link, session, widgets
from inspector.wording.english import lab as words
from models.training.experiments import TIMES, Experiment, Side

if TYPE_CHECKING:
    from models.training.lab import Result, Trial

PYTHON = """import inspector
from models.training.experiments import Experiment, Switches
from models.training.lab import result, train_both

experiment = {experiment}
courses = {{(course.side, course.run.seed): course for course in train_both(experiment)}}
"""
NAMES = {times: "trained length" if times == 1 else f"{times} times as long" for times in TIMES}


def python(experiment: Experiment, *lines: str) -> str:
    """Write Python lines that train as the page did, to the end, and then `lines`."""
    return PYTHON.format(experiment=experiment) + "\n".join(lines)


def accuracy(experiment: Experiment, results: Sequence[Result]) -> None:
    """The table of accuracy by length, and what a longer text means to each side."""
    st.subheader("Texts longer than the trained ones", anchor=False)
    table = lab.accuracies(results)
    st.dataframe(
        pd.DataFrame(
            {
                "side": table["side"],
                "digits": list(map(_length, table["times"], table["digits"])),
                "digits right": _shares(table, "token"),
                "texts right": _shares(table, "exact"),
            }
        ),
        hide_index=True,
    )
    downloads.button(f"lab-{experiment.task}-accuracy.csv", lambda: spreadsheet.csv(table), label="Table as CSV")
    seeds = lab.seeds(results)
    count = "one seed" if seeds == 1 else f"{seeds} seeds: the mean, with smallest and largest"
    st.caption(
        f"256 fresh texts of each length, the same for A and B; {count}. Digits named at random are right in 10% "
        "of the places; a text is right when no digit is wrong."
    )
    for side in get_args(Side):
        st.caption(f"{side}: {words.beyond(experiment.run(side, seed=0))}")


def example(experiment: Experiment, results: Sequence[Result]) -> None:
    """Draw one text that both sides read, trained from seed 0: their answers and their attention."""
    st.subheader("One text, and where the heads look", anchor=False)
    first = {side: one for side in get_args(Side) for one in results if (one.side, one.run.seed) == (side, 0)}
    tried = {side: one for side, one in first.items() if one.trials}
    if not tried:
        st.caption("Neither side can be asked: their weights are no numbers any more.")
        return
    names = list(NAMES.values())
    length = st.segmented_control(
        "Length of the text",
        names,
        default=names[0],
        key="lab_times",
        bind=link.bind_choice("lab_times", default=names[0], options=names),
        persist_state="session",
        required=True,
    )
    trials = {side: one.trials[names.index(length)] for side, one in tried.items()}
    some = next(iter(trials.values()))
    rows: dict[str, Sequence[int]] = {"read": some.digits, experiment.task: some.wanted}
    rows |= {side: trial.answer for side, trial in trials.items()}
    st.code(lab.spelled(rows, wanted=some.wanted), language=None)
    wrong = [f"{side} {_wrong(trial)} of {len(trial.wanted)}" for side, trial in trials.items()]
    st.caption(f"^ marks a wrong digit. Wrong here: {', '.join(wrong)}.")
    place, sides = names.index(length), "".join(trials)
    chosen = f"{{side: result(courses[side, 0]).trials[{place}] for side in {sides!r}}}"
    _attention(trials, lines=python(experiment, f"trials = {chosen}"))


def _attention(trials: dict[Side, Trial], *, lines: str) -> None:
    """The chosen head of both sides on one colour scale, and under it every head of every layer.

    lines: of Python, which give the trials.
    """
    shapes = {side: (len(trial.attention), len(trial.attention[0])) for side, trial in trials.items()}
    layers, heads = (max(sizes) for sizes in zip(*shapes.values(), strict=True))
    with st.container(horizontal=True):
        # The last layer of the shallower side: what a network looks at is clearest where it has to answer.
        last = min(sizes[0] for sizes in shapes.values()) - 1
        layer = widgets.number("Layer", "lab_layer", default=last, last=layers - 1)
        head = widgets.number("Head", "lab_head", default=0, last=heads - 1)
    st.caption(
        "Row: the place of the answer that looks (query). Column: the token it looks at (key), ⊢ and ⊣ are the marks "
        "around the digits. Each row sums to 1, no unit; both sides share the colours."
    )
    shown = {
        side: trial.attention[layer][head]
        for side, trial in trials.items()
        if layer < shapes[side][0] and head < shapes[side][1]
    }
    tokens = ("⊢", *map(str, next(iter(trials.values())).digits), "⊣")
    panels = [
        matrix.Panel(weights, rows=tokens, columns=tokens, title=f"{side}: layer {layer}, head {head}")
        for side, weights in shown.items()
    ]
    if panels:
        matrix.show(
            *panels,
            row_title="query",
            column_title="key",
            name="lab-attention",
            key="lab-attention",
            python=f"{lines}\nmaps = {{side: trials[side].attention[{layer}][{head}] for side in {''.join(shown)!r}}}",
        )
    for side in trials.keys() - shown.keys():
        last_layer, last_head = shapes[side][0] - 1, shapes[side][1] - 1
        st.caption(f"{side} has layers 0 to {last_layer} and heads 0 to {last_head}.")
    for column, (side, trial) in zip(st.columns(2, gap="medium"), trials.items(), strict=False):
        with column:
            for number, maps in enumerate(trial.attention):
                names = [f"{side} {number}.{index}" for index in range(len(maps))]
                st.image(raster.strip(list(maps), labels=names, mode=session.mode()), width="stretch")
    st.caption(
        "Above are all heads of each side, named by layer and head. Each small picture is one map; its colours go "
        "from 0 to 1 by square root."
    )
    _every_head(trials, tokens, layers=layers, heads=heads, lines=lines)


def _every_head(trials: dict[Side, Trial], tokens: Sequence[str], *, layers: int, heads: int, lines: str) -> None:
    """Draw Save and Slide of the small pictures; layers, heads: the most that a side has."""

    def picture(mode: Mode) -> Scene:
        maps = np.full((len(trials), layers, heads, len(tokens), len(tokens)), np.nan, np.float32)
        for place, trial in enumerate(trials.values()):
            for layer, weights in enumerate(trial.attention):
                maps[place, layer, : len(weights)] = weights
        named = [
            (f"{side}, layer {layer}", maps[place, layer])
            for place, (side, trial) in enumerate(trials.items())
            for layer in range(len(trial.attention))
        ]
        return matrices.grid(
            np.stack([one for _, one in named]),
            rows=[name for name, _ in named],
            title=f"Every head of {' and '.join(trials)}, colours from 0 to 1 by square root",
            mode=mode,
        )

    def csv() -> bytes:
        cells = (
            [side, layer, head, f"{query} {tokens[query]}", f"{key} {tokens[key]}", float(f"{weight:.9g}")]
            for side, trial in trials.items()
            for layer, weights in enumerate(trial.attention)
            for (head, query, key), weight in np.ndenumerate(weights)
        )
        return spreadsheet.rows(["side", "layer", "head", "query", "key", "weight"], cells).encode()

    name = "lab-all-heads"
    menu.draw(
        name,
        key=name,
        pictures=lambda: menu.files(name, picture),
        csv=csv,
        slide=lambda: menu.slide(picture, name=f"{name}-slide", key=name),
        python=f"{lines}\nmaps = {{side: trial.attention for side, trial in trials.items()}}",
    )


def _length(times: int, digits: int) -> str:
    return f"{digits}" if times == 1 else f"{digits} ({times}x)"


def _shares(table: pd.DataFrame, name: str) -> list[str]:
    """ "98%", or with several seeds "98% (95–100%)"."""
    columns = table[[name, f"{name}_smallest", f"{name}_largest"]].itertuples(index=False)
    return [
        f"{mean:.0%}" if smallest == largest else f"{mean:.0%} ({100 * smallest:.0f}–{largest:.0%})"
        for mean, smallest, largest in columns
    ]


def _wrong(trial: Trial) -> int:
    return sum(said != right for said, right in zip(trial.answer, trial.wanted, strict=True))
