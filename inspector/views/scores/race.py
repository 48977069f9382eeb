"""The section Score functions: what each score function costs at the reader's sizes, and what kind it is."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from inspector.costs import score_functions
from inspector.costs.score_functions import FUNCTIONS, Sizes, Timed
from inspector.plots.scores import functions as draw
from inspector.readings import score_functions as read
from inspector.scores import functions
from inspector.views.figures import chart
from inspector.views.scores.subject import Subject
from inspector.views.shell import measuring, sentence, session, widgets
from inspector.wording.english import score_functions as words

AMOUNTS: dict[draw.Amount, str] = {"flops": "FLOPs", "largest_bytes": "Largest tensor"}
WIDTHS = (8, 32, 128, 512)
LONGEST = 100_000
PYTHON = """from inspector.costs import score_functions

sizes = score_functions.Sizes({tokens}, {width}, heads={heads})
table = score_functions.table(sizes)
timed = score_functions.measure(sizes)"""


def show(subject: Subject) -> None:
    """Draw the sentence, bars and curves, the clock, the table with formulas, and what kind of functions they are."""
    said = st.container()
    sizes = _sizes(subject)
    found, table = read.race(sizes), score_functions.table(sizes)
    with said:
        sentence.show(words.race(found), words.TERMS)
    amount = widgets.bar("What is compared", list(AMOUNTS), "race_amount", words=AMOUNTS.__getitem__)
    python = PYTHON.format(tokens=sizes.tokens, width=sizes.width, heads=sizes.heads)
    left, right = st.columns(2, gap="medium")
    with left:
        chart.show(
            partial(draw.bars, table, amount, names=words.NAMES),
            alt=f"{AMOUNTS[amount]} of each score function at {sizes.tokens:,} tokens",
            key=f"race-{amount}",
            python=python,
            table=table,
        )
    lengths = score_functions.by_length(sizes, _lengths(sizes.tokens))
    with right:
        chart.show(
            partial(draw.by_length, lengths, amount, names=words.NAMES, tokens=sizes.tokens),
            alt=f"{AMOUNTS[amount]} of each score function by the length of the text",
            key=f"race-{amount}-by-length",
            python=python,
            table=lengths,
        )
    st.markdown(words.largest(found))
    timed = measuring.run(
        lambda on_progress, so_far: score_functions.measure(sizes, on_progress=on_progress, on_turn=so_far),
        known=("score functions", sizes),
        key="measure-scores",
        about=_about(sizes),
    )
    if timed is not None:
        st.markdown(words.timed(timed))
    _table(sizes, timed)
    _properties(subject)


def _sizes(subject: Subject) -> Sizes:
    """Let the reader move n, d_k and the heads, which begin as those of the open head's attention."""
    site, width = subject.site, subject.record.query.shape[-1]
    with st.container(horizontal=True):
        tokens = widgets.number("Tokens n", "race_tokens", default=len(site.keys), first=1, last=LONGEST)
        size = widgets.number("d_k", "race_width", default=width or 64, first=1, last=8192)
        heads = widgets.number("Heads h", "race_heads", default=site.heads, first=1, last=512)
    return Sizes(tokens, size, heads)


def _lengths(tokens: int) -> list[int]:
    return sorted({*np.geomspace(8, 32_768, 25).round().astype(int).tolist(), tokens})


def _about(sizes: Sizes) -> str:
    without = score_functions.left_out(sizes)
    left_out = "".join(f" {words.NAMES[one].capitalize()} would be left out: {why}." for one, why in without.items())
    return (
        "Milliseconds are measured on this machine, with random numbers, when you press Measure: scores, softmax and "
        f"mix, or linear attention, in turns.{left_out}"
    )


def _table(sizes: Sizes, timed: Timed | None) -> None:
    """Draw all numbers with the formula of each, and milliseconds where they were measured."""
    table = score_functions.table(sizes)
    letters, filled = zip(*read.formulas(sizes), strict=True)
    shown = table.assign(function=[words.NAMES[one] for one in FUNCTIONS])
    shown["score"] = [words.WRITTEN[one] for one in FUNCTIONS]
    shown["formula"], shown["with numbers"] = letters, filled
    alone = table["scores_flops"] / table["scores_flops"].iloc[0]
    shown["scores_times_dot"] = alone.where(alone > 0)  # linear attention makes no scores
    if timed is not None:
        shown["milliseconds"] = [1000 * timed.seconds.get(one, np.nan) for one in FUNCTIONS]
    heads = {
        "function": "Function",
        "formula": "FLOPs of scores and mix",
        "with numbers": "With numbers",
        "flops": "FLOPs",
        "times_dot": "× dot",
        "milliseconds": "Milliseconds",
        "largest_bytes": "Largest tensor, bytes",
        "parameters": "Learned",
        "scores_times_dot": "Scores alone, × dot",
        "score": "Score",
    }
    widgets.table(shown[[name for name in heads if name in shown]], name="score-functions", words=heads)
    st.caption(
        "Matrix products of one attention, 2 FLOPs for a multiply-add, float32; the softmax and the tanh are apart. n "
        "queries and n keys, in full whatever a mask hides. The projections to q, k and v are the same for all."
    )


def _properties(subject: Subject) -> None:
    """Say what kind of functions these are, on the open head and before training."""
    st.subheader("What kind of functions they are", anchor=False)
    record, lines = subject.record, list[str]()
    try:
        found = session.cached(
            (subject.trace.key, "score functions", subject.of_head), lambda: functions.on_head(record)
        )
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be tried on this head")
    else:
        lines += words.properties(found, width=record.query.shape[-1])
    spread = session.cached(("score functions before training", WIDTHS), lambda: functions.variances(WIDTHS))
    lines.append(words.spread(spread))
    st.markdown("\n".join(f"- {line}" for line in lines))
    st.caption(
        f"{subject.name}. No model here has learned a general or an additive score: their matrices are drawn, from "
        f"seed 0. Before training: 256 queries and {functions.KEYS} keys with entries of variance 1, means of five "
        "seeds, additive scores as nn.Linear starts them."
    )
    with st.expander("Spread before training, by width"):
        widgets.table(spread, name="score-functions-spread")
