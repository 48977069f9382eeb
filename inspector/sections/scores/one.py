"""One head's q . k beside the normal distribution, before the scale and after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import explain, scores
from inspector.plots.chart import Chart
from inspector.sections.scores.open_head import HEAD, OpenHead, measured, name_of, scores_and_weights
from inspector.sections.section import Block, Figure, Note, Number, Numbers, Paragraph, Row, Section, Sentence
from inspector.wording import scores as words

if TYPE_CHECKING:
    from inspector.scores import ProductDistribution
    from inspector.sections.subject import Subject

SHOWN = 256  # tokens of a longer text whose maps are drawn


def answer(subject: Subject, *, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield the head's scores beside its weights, its numbers, and the distribution of q . k."""
    opened = OpenHead.of(subject, head)
    row = opened.row_of(measured(subject))
    try:
        found = subject.once(("distribution", head), lambda: scores.distribution(opened.record))
    except ValueError as error:
        yield Note(f"{str(error).capitalize()}.")
        yield scores_and_weights(opened, "scores-head", most=SHOWN)
        yield numbers(row)
        return
    yield Sentence(varies(row, found), ("q · k", "d_k", "excess kurtosis"))
    yield scores_and_weights(opened, "scores-head", most=SHOWN)
    count = max(len(opened.site.queries), len(opened.site.keys))
    if count > SHOWN:
        yield Note(words.first(SHOWN, of=count))
    yield numbers(row)
    yield Paragraph(formula(row, explain.formula(opened.record)))
    yield replace(DISTRIBUTION, answer=partial(_distribution, row=row, found=found, code=opened.code))
    if (other := opened.beside()) is not None:
        second = other.row_of(measured(other.subject))
        yield Paragraph(
            words.varies(
                name_of(second), d_k=int(second["d_k"]), ratio=float(second["ratio"]), scaled=float(second["scaled"])
            )
        )
        yield numbers(second, of=words.BESIDE)
    alone = subject.once(("alone", head), lambda: scores.alone(subject.trace, opened.record, head=opened.number))
    yield Note(words.alone(alone, heads=opened.site.heads))
    yield from opened.sigmoid()


def _distribution(subject: Subject, *, row: pd.Series, found: ProductDistribution, code: str) -> Iterator[Block]:
    """Yield the histogram and the quantiles of q · k, each beside the normal distribution's."""
    code = f"{code}found = inspector.scores.distribution(record)\ntable = found."
    yield Row(
        (
            Figure(
                "scores-histogram",
                words.HISTOGRAM,
                _histogram(found),
                words.HISTOGRAM_ALT,
                f"{code}histogram",
                found.histogram,
            ),
            Figure(
                "scores-quantiles",
                words.QUANTILES,
                _quantiles(found),
                words.QUANTILES_ALT,
                f"{code}quantiles",
                found.quantiles,
            ),
        )
    )
    far = words.far(far=found.far, low=float(row["low"]), high=float(row["high"]))
    yield Note(f"{words.pairs(found.pairs, rows=found.rows, of=found.of)} {far}")


def _histogram(found: ProductDistribution) -> Chart:
    """Draw how often q · k takes each value, in standard deviations, with the normal distribution over it."""
    bins, at = found.histogram, np.linspace(found.edges[0], found.edges[-1], 241)
    middle = pd.DataFrame({"at": (bins["low"] + bins["high"]) / 2, "width": bins["high"] - bins["low"]})
    normal = pd.DataFrame({"at": at, "density": np.exp(-np.square(at) / 2) / np.sqrt(2 * np.pi)})
    return Chart(
        pd.concat([middle.assign(density=bins["density"], of="q · k"), normal.assign(of="normal")]),
        "at",
        "density",
        "bars",
        by="of",
        parts={"q · k": "scores", "normal": "text"},
        marks={"normal": "curves"},
        bar_width="width",
        x_title=words.DEVIATIONS,
        y_title="density",
        title=words.HISTOGRAM_TITLE,
        from_zero=True,
        height=320,
        x_format=".3g",
    )


def _quantiles(found: ProductDistribution) -> Chart:
    """Draw the quantiles of q · k against the normal distribution's (QQ plot): on the line where it is normal."""
    ends = found.quantiles.iloc[[0, -1]]
    return Chart(
        pd.concat([ends.assign(measured=ends["normal"], of="normal"), found.quantiles.assign(of="q · k")]),
        "normal",
        "measured",
        "points",
        by="of",
        parts={"q · k": "scores", "normal": "text"},
        marks={"normal": "curves"},
        sizes={"q · k": 6},
        x_title=words.NORMAL_QUANTILE,
        y_title=words.OWN_QUANTILE,
        title=words.QUANTILES_TITLE,
        height=320,
        x_format=".3g",
    )


def numbers(row: pd.Series, *, of: str = "") -> Numbers:
    """List a head's numbers in one line; row: of `scores.measure`."""
    return Numbers(tuple(Number(*told) for told in words.numbers(row)), of=of)


def varies(row: pd.Series, found: ProductDistribution) -> str:
    """Say how one head's q . k varies; row: of `scores.measure`."""
    scale, root = scale_of(row)
    return words.one_head(
        head=name_of(row),
        variance=float(row["ratio"] * row["d_k"]),
        scaled=None if scale is None else float(row["scaled"]),
        root=root,
        unscaled=scale == 1,
        kurtosis=found.kurtosis,
    )


def formula(row: pd.Series, written: str) -> str:
    """Write a head's variances and its scores with their numbers; written: the scores as LaTeX."""
    scale, root = scale_of(row)
    return words.formula(
        written,
        d_k=int(row["d_k"]),
        ratio=float(row["ratio"]),
        scale=scale,
        root=root,
        scaled=float(row["scaled"]),
        low=float(row["low"]),
        high=float(row["high"]),
    )


def scale_of(row: pd.Series) -> tuple[float | None, bool]:
    """Read the factor on q . k, None where it is not known, and whether it is 1 / sqrt(d_k)."""
    scale = float(row["scale"])
    if not math.isfinite(scale):
        return None, False
    return scale, math.isclose(scale, int(row["d_k"]) ** -0.5, rel_tol=1e-6)


DISTRIBUTION = Section("scores_distribution", words.DISTRIBUTION, lambda subject: iter(()), folded=True)
SECTION = Section("one", words.ONE, answer, (HEAD,), compares=True, long=True)
