"""The results of two trainings of the lab: accuracy at longer lengths, and one text in full with its attention."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
import streamlit as st

from inspector import lab
from inspector import lab_results as read
from inspector.export import spreadsheet
from inspector.plots import lab as draw
from inspector.plots import matrices, raster
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.text import number
from inspector.views.figures import chart, matrix, save
from inspector.views.shell import appearance, controls, downloads, link
from inspector.wording import lab as words
from inspector.wording import phrases
from models.training.tiny.experiments import SYMBOLS, TIMES, Experiment, LabRun, Side, Switches
from models.training.tiny.words import KINDS, WORDS

if TYPE_CHECKING:
    from models.attention import Stream
    from models.training.lab import LabResult, Trial

_ROUNDING = 1e-3  # what a softmax's row may miss of 1
PYTHON = """import inspector
from models.training.tiny.experiments import Experiment, Switches
from models.training.lab import result, train_both

experiment = {experiment}
courses = {{(course.side, course.run.seed): course for course in train_both(experiment)}}
"""
STREAMS: tuple[Stream, ...] = ("cross", "decoder", "encoder")  # that which shows most first
ALT = {
    "lab-depth": words.DEPTH_ALT,
    "lab-drift": words.DRIFT_ALT,
}
NAMES = {times: "trained length" if times == 1 else f"{times} times as long" for times in TIMES}


def python(experiment: Experiment, *lines: str) -> str:
    """Write Python lines that train as the page did, to the end, and then `lines`."""
    return PYTHON.format(experiment=_written(experiment)) + "\n".join(lines)


def _written(record: Experiment | Switches) -> str:
    """Write a record as Python, without what it has anyway."""
    usual = vars(type(record)())
    parts = [
        f"{name}={_written(value) if isinstance(value, Switches) else repr(value)}"
        for name, value in vars(record).items()
        if value != usual[name]
    ]
    return f"{type(record).__name__}({', '.join(parts)})"


def accuracy(experiment: Experiment, results: Sequence[LabResult]) -> None:
    """The table of accuracy by length, and what a longer text means to each side."""
    st.subheader(words.LONGER, anchor=False)
    table, unit = lab.accuracies(results), words.unit(experiment.task)
    st.dataframe(
        pd.DataFrame(
            {
                "side": table["side"],
                f"{unit}s": list(map(_length, table["times"], table["digits"])),
                f"{unit}s right": _shares(table, "token"),
                "texts right": _shares(table, "exact"),
            }
        ),
        hide_index=True,
    )
    downloads.button(f"lab-{experiment.task}-accuracy.csv", lambda: spreadsheet.csv(table), label="Table as CSV")
    seeds = lab.seeds(results)
    count = words.of_seeds(seeds=seeds)
    st.caption(f"{words.tried(experiment.task)} {count.capitalize()}.")
    for side in get_args(Side):
        st.caption(f"{side}: {words.beyond(experiment.run(side, seed=0))}")


def places(experiment: Experiment, results: Sequence[LabResult]) -> None:
    """Draw which places of the answer are right, at the length that was chosen for the one text."""
    times = TIMES[list(NAMES.values()).index(st.session_state.get("lab_times", NAMES[1]))]
    table = lab.places(results).query("times == @times")
    if table.empty:
        return
    chart.show(
        draw.places(table, guessed=1 / SYMBOLS[experiment.task]),
        alt="Share of texts in which each place of the answer is right",
        key="lab-places",
        heading=words.BY_PLACE,
        sentence=words.places(read.places(table), task=experiment.task),
        name=f"lab-{experiment.task}-places",
        python=python(
            experiment, f"table = inspector.lab.places(map(result, courses.values())).query('times == {times}')"
        ),
        table=table,
    )
    st.caption(words.places_read(length=NAMES[times]))


def layers(experiment: Experiment, results: Sequence[LabResult]) -> None:
    """Draw gradient and residual stream by depth, and the FFN's inner units by step."""
    depth = read.depth(results)
    if not depth:
        return
    st.subheader(words.BY_LAYER, anchor=False)
    st.markdown(words.depth(depth))
    recurrent = [side for side in get_args(Side) if experiment.run(side, seed=0).switches.is_recurrent]
    if recurrent:
        st.caption(words.NO_BLOCKS.format(phrases.listed(recurrent)))
    table = lab.layers(results)
    lines = "table = inspector.lab.layers(map(result, courses.values()))"
    pictures = {"lab-depth": draw.depth(table), "lab-drift": draw.drift(table, steps=experiment.steps)}
    for column, (name, picture) in zip(st.columns(2, gap="medium"), pictures.items(), strict=True):
        with column:
            chart.show(
                picture,
                alt=ALT[name],
                key=name,
                name=name,
                python=python(experiment, lines),
                table=table,
            )
    st.caption(words.LAYERS)


def example(experiment: Experiment, results: Sequence[LabResult]) -> None:
    """Draw one text that both sides read, trained from seed 0: their answers and their attention."""
    st.subheader(words.ONE_TEXT, anchor=False)
    first = {
        side: result for side in get_args(Side) for result in results if (result.side, result.run.seed) == (side, 0)
    }
    tried = {side: result for side, result in first.items() if result.trials}
    if not tried:
        st.caption(words.NEITHER)
        return
    names = list(NAMES.values())
    length = st.segmented_control(
        words.LENGTH,
        names,
        default=names[0],
        key="lab_times",
        bind=link.bind_choice("lab_times", default=names[0], options=names),
        persist_state="session",
        required=True,
    )
    trials = {side: result.trials[names.index(length)] for side, result in tried.items()}
    if experiment.task == "kinds":
        _kinds(trials)
    else:
        _symbols(experiment, trials)
    place, sides = names.index(length), "".join(trials)
    chosen = f"{{side: result(courses[side, 0]).trials[{place}] for side in {sides!r}}}"
    runs = {side: experiment.run(side, seed=0) for side in trials}
    for side, trial in trials.items():
        if not trial.attention:
            st.markdown(words.without_a_map(side, runs[side]))
        elif runs[side].switches.is_recurrent and (aligned := read.aligned(trial, experiment.task)):
            st.markdown(words.aligned(side, aligned, task=experiment.task))
    looking = {side: trial for side, trial in trials.items() if trial.attention}
    if looking:
        _attention(looking, runs=runs, lines=python(experiment, f"trials = {chosen}"))


def _symbols(experiment: Experiment, trials: dict[Side, Trial]) -> None:
    """Write the text, the answer and what each side says, symbol under symbol."""
    some = next(iter(trials.values()))
    rows: dict[str, Sequence[int]] = {"text": some.digits}
    if experiment.task != "repeats":
        rows = {"read": some.digits, experiment.task: some.wanted}
    rows |= {side: trial.answer for side, trial in trials.items()}
    st.code(lab.spelled(rows, wanted=some.wanted, asked=some.asked), language=None)
    wrong = [f"{side} {_wrong(trial)} of {sum(trial.asked)}" for side, trial in trials.items()]
    dots = words.block_of(symbols=some.period) if some.period else ""
    st.caption(words.wrong_marked(unit=words.unit(experiment.task), wrong=", ".join(wrong), dots=dots))


def _kinds(trials: dict[Side, Trial]) -> None:
    """Draw a table of the text's words, which no training saw, with their kinds and what each side says."""
    some, kinds = next(iter(trials.values())), list(KINDS)
    answers: dict[str, list[str]] = {side: [kinds[kind] for kind in trial.answer] for side, trial in trials.items()}
    table: dict[str, list[str]] = {"word": [WORDS[word] for word in some.digits]}
    table |= {"kind": [kinds[kind] for kind in some.wanted], **answers}
    st.dataframe(pd.DataFrame(table), hide_index=True)
    wrong = [f"{side} {_wrong(trial)} of {len(trial.wanted)}" for side, trial in trials.items()]
    st.caption(words.wrong_words(wrong=", ".join(wrong)))


def _sums(trials: dict[Side, Trial]) -> str:
    """Say what rows sum to: 1, or on a side whose weights a sigmoid makes, anything."""
    totals = {
        side: [maps.sum(axis=-1) for layers in trial.attention.values() for maps in layers]
        for side, trial in trials.items()
    }
    ranges = {
        side: (min(float(sums.min()) for sums in rows), max(float(sums.max()) for sums in rows))
        for side, rows in totals.items()
    }
    others = [
        f"{side}'s to {number(low)} to {number(high)}"
        for side, (low, high) in ranges.items()
        if max(1 - low, high - 1) > _ROUNDING
    ]
    if not others:
        return words.ROWS_SUM
    return words.rows_differ(others=" and ".join(others))


def _attention(trials: dict[Side, Trial], *, runs: dict[Side, LabRun], lines: str) -> None:
    """The chosen head of both sides on one colour scale, and under it every head of every layer.

    runs: what was trained, an RNN with one map, or in segments; lines: of Python, which give the trials.
    """
    recurrent = frozenset(side for side in trials if runs[side].switches.is_recurrent)
    pieces = {side: runs[side].switches.segment for side in trials}
    heads = _heads(trials, recurrent=recurrent)
    st.caption(words.maps_read(sums=_sums(trials), segments=words.SEGMENTS if any(pieces.values()) else ""))
    panels, chosen = [], []
    for side, (stream, layer, head) in heads.items():
        trial = trials[side]
        if layer >= len(trial.attention[stream]) or head >= len(trial.attention[stream][layer]):
            continue
        queries, keys = trial.tokens[stream], trial.tokens["encoder" if stream == "cross" else stream]
        several = f"{stream}, " if len(trial.attention) > 1 else ""
        piece = pieces[side]
        panels.append(
            matrix.Panel(
                trial.attention[stream][layer][head],
                rows=queries,
                columns=keys,
                title=f"{side}: alignment" if side in recurrent else f"{side}: {several}layer {layer}, head {head}",
                borders=() if piece is None else range(piece, len(keys), piece),
            )
        )
        chosen.append(f"{side!r}: trials[{side!r}].attention[{stream!r}][{layer}][{head}]")
    if panels:
        matrix.show(
            *panels,
            row_title="query",
            column_title="key",
            name="lab-attention",
            key="lab-attention",
            python=f"{lines}\nmaps = {{{', '.join(chosen)}}}",
        )
    for side, (stream, layer, head) in heads.items():
        maps = trials[side].attention[stream]
        if layer >= len(maps) or head >= len(maps[layer]):
            st.caption(words.has_heads(side=side, layer=len(maps) - 1, head=len(maps[0]) - 1))
    if recurrent:
        st.caption(words.ALIGNMENT)
    if recurrent == trials.keys():
        return
    trials = {side: trial for side, trial in trials.items() if side not in recurrent}
    _every_head(trials, lines=lines)
    for column, (side, trial) in zip(st.columns(2, gap="medium"), trials.items(), strict=False):
        with column:
            for stream, every in trial.attention.items():
                several = f"{stream} " if len(trial.attention) > 1 else ""
                for layer, weights in enumerate(every):
                    names = [f"{side} {several}{layer}.{index}" for index in range(len(weights))]
                    st.image(raster.strip(list(weights), labels=names, mode=appearance.mode()), width="stretch")
    st.caption(words.all_heads(sides=phrases.listed(list(trials))))


def _heads(trials: dict[Side, Trial], *, recurrent: Set[Side]) -> dict[Side, tuple[Stream, int, int]]:
    """Ask for a head: each side's best induction head, or the same stream, layer and head of both; an RNN has one."""
    alone: dict[Side, tuple[Stream, int, int]] = {side: ("cross", 0, 0) for side in trials if side in recurrent}
    if alone.keys() == trials.keys():
        return alone
    asked = {side: trial for side, trial in trials.items() if side not in alone}
    chosen = _asked_heads(asked)
    return {side: alone[side] if side in alone else chosen[side] for side in trials}


def _asked_heads(trials: dict[Side, Trial]) -> dict[Side, tuple[Stream, int, int]]:
    scored = {side: trial.induction for side, trial in trials.items() if trial.induction is not None}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if scored and st.toggle(
            words.BEST_INDUCTION,
            True,
            key="lab_best",
            bind=link.bind_switch("lab_best", default=True),
            persist_state="session",
        ):
            from models.training.lab import best_head  # with torch, which the training has loaded

            return {side: ("decoder", *best_head(score)[1]) for side, score in scored.items()}
        streams = [name for name in STREAMS if any(name in trial.attention for trial in trials.values())]
        stream: Stream = streams[0]
        if any(len(trial.attention) > 1 for trial in trials.values()):
            stream = st.selectbox(
                "Stream",
                streams,
                key="lab_stream",
                bind=link.bind_choice("lab_stream", default=streams[0], options=streams),
                persist_state="session",
                width=128,
            )
        shown = {
            side: stream if stream in trial.attention else next(iter(trial.attention)) for side, trial in trials.items()
        }
        layers = [len(trial.attention[shown[side]]) for side, trial in trials.items()]
        heads = [len(maps) for side, trial in trials.items() for maps in trial.attention[shown[side]]]
        # The last layer of the shallower side: what a network looks at is clearest where it has to answer.
        layer = controls.number("Layer", "lab_layer", default=min(layers) - 1, last=max(layers) - 1)
        head = controls.number("Head", "lab_head", default=0, last=max(heads) - 1)
    return {side: (shown[side], layer, head) for side in trials}


def _every_head(trials: dict[Side, Trial], *, lines: str) -> None:
    """Draw the menu of the small pictures."""
    rows = [
        (side, stream, layer, weights)
        for side, trial in trials.items()
        for stream, layers in trial.attention.items()
        for layer, weights in enumerate(layers)
    ]

    def picture(mode: Mode) -> Scene:
        sizes = [max(weights.shape[axis] for *_, weights in rows) for axis in range(3)]
        maps = np.full((len(rows), *sizes), np.nan, np.float32)
        for place, (*_, weights) in enumerate(rows):
            heads, queries, keys = weights.shape
            maps[place, :heads, :queries, :keys] = weights
        return matrices.grid(
            maps,
            rows=[
                f"{side}, {f'{stream} ' if len(trials[side].attention) > 1 else ''}layer {layer}"
                for side, stream, layer, _ in rows
            ],
            title=f"{words.EVERY_HEAD.format(' and '.join(trials))}, colours from 0 to 1 by square root",
            mode=mode,
        )

    def csv() -> bytes:
        cells = []
        for side, stream, layer, weights in rows:
            queries = trials[side].tokens[stream]
            keys = trials[side].tokens["encoder" if stream == "cross" else stream]
            cells += [
                [side, stream, layer, head, f"{query} {queries[query]}", f"{key} {keys[key]}", float(f"{weight:.9g}")]
                for (head, query, key), weight in np.ndenumerate(weights)
            ]
        return spreadsheet.rows(["side", "stream", "layer", "head", "query", "key", "weight"], cells).encode()

    name = "lab-all-heads"
    python = f"{lines}\nmaps = {{side: trial.attention for side, trial in trials.items()}}"
    save.figure(
        name, {"": picture}, table=csv, key=name, about=words.EVERY_HEAD.format(" and ".join(trials)), python=python
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
    places = zip(trial.answer, trial.wanted, trial.asked, strict=True)
    return sum(asked and answer != right for answer, right, asked in places)
