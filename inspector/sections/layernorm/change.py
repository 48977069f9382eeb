"""The change that each norm makes: how far its four steps go, and the size of all tokens by depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from inspector import normalization
from inspector.normalization import STEPS
from inspector.plots.chart import Chart, Panels
from inspector.plots.normalization import AROUND
from inspector.sections.layernorm import stream
from inspector.sections.section import Block, Figure, Note, Row, Section, Sentence
from inspector.wording import layernorm as words

if TYPE_CHECKING:
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
        yield Sentence(steps(table))
        call = stream.code(subject, table="change")
        left = Figure("norm-shares", words.STEPS, _shares(table, names), words.STEPS_ALT, call, table)
    depth = Figure(
        "norms-by-depth",
        words.BY_DEPTH,
        by_depth(statistics, list(names.values())),
        words.BY_DEPTH_ALT,
        stream.code(subject),
        statistics,
    )
    yield Row(((left, Note(words.about_steps(len(names) - table["norm"].nunique()))), depth))


def by_depth(statistics: pd.DataFrame, names: list[str]) -> Panels:
    """Draw mean, deviation and root mean square of all tokens before and after each norm: median, and the whole range.

    names: of the norms, in call order.
    """
    charts = []
    for statistic, title in words.OF_ALL.items():
        of_norms = {
            when: statistics.groupby("norm")[f"{statistic}_{when}"].agg(["median", "min", "max"]).reset_index(drop=True)
            for when in words.MEDIANS
        }
        chart = Chart(
            pd.concat(of_norms, names=["when", "place"]).reset_index(),
            "place",
            "median",
            by="when",
            names=words.MEDIANS,
            parts=AROUND,
            styles={"before": 1},
            band=("min", "max"),
            places=names,
            hover={"min": words.FROM, "max": words.TO},
            x_title=words.IN_CALL_ORDER,
            y_title=title,
        )
        charts.append(chart)
    return Panels(charts, words.BY_DEPTH_TITLE, words.BY_DEPTH_READ, height=580)


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


def steps(table: pd.DataFrame) -> str:
    """Say how far each step goes, mean over all norms and tokens; table: of `normalization.change`."""
    means = table[list(STEPS)].mean().sort_values(ascending=False)
    return words.steps(means.to_dict())


SECTION = Section("change", words.CHANGE, stream.where_norms(answer))
