"""The change that each norm makes: how far its four steps go, and the size of all tokens by depth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from inspector import normalization
from inspector.normalization import STEPS
from inspector.plots import norm_change as draw
from inspector.plots.chart import Chart
from inspector.sections.layernorm import stream
from inspector.sections.section import Block, Figure, Note, Row, Section, Sentence
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject

PARTS = {"centring": "residual", "scaling": "norm", "gamma": "attention", "beta": "ffn"}
STYLES = {"gamma": 1, "beta": 3}


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the shares of the steps in each norm's change, and all tokens by depth."""
    names = {number: words.brief(norm) for number, norm in stream.norms(subject).items()}
    table = subject.of_text("norm change", lambda: normalization.change(subject.trace))
    table = table[table["stream"] == subject.stream]
    statistics = stream.statistics(subject)
    left: Block = Note(words.ALL_GATED, words.STEPS)
    if len(table):
        yield Sentence(steps(table, norms=len(names)))
        call = stream.code(subject, table="change")
        left = Figure("norm-shares", words.STEPS, _shares(table, names), words.STEPS_ALT, call, table)
    by_depth = Figure(
        "norms-by-depth",
        words.BY_DEPTH,
        partial(draw.by_depth, statistics, names=list(names.values())),
        words.BY_DEPTH_ALT,
        stream.code(subject),
        statistics,
    )
    yield Row(((left, Note(words.ABOUT_STEPS)), by_depth))


def _shares(table: pd.DataFrame, names: dict[int, str]) -> Chart:
    """Lay out the share of each step in each norm's change, mean over the tokens, in percent."""
    means = 100 * table.groupby("norm")[list(STEPS)].mean()
    places = [names[int(number)] for number in means.index]
    return Chart(
        means.reset_index(drop=True).rename_axis("place").reset_index().melt("place", var_name="step"),
        "place",
        "value",
        "bars",
        by="step",
        parts=PARTS,
        styles=STYLES,
        places=places,
        x_title="norm",
        y_title=words.SHARE,
        title=words.SHARES,
        y_range=(0, 100),
        stacked=True,
        sideways=True,
        height=170 + min(24 * len(places), 900),
    )


def steps(table: pd.DataFrame, *, norms: int) -> str:
    """Say how far each step goes, mean over all norms and tokens; table: of `normalization.change`."""
    means = table[list(STEPS)].mean().sort_values(ascending=False)
    return words.steps(means.to_dict(), gated=norms - table["norm"].nunique())


SECTION = Section("change", words.CHANGE, stream.where_norms(answer))
