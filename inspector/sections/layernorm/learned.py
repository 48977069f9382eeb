"""Gamma and beta of a norm, as it has learned them: by dimension, in the order of their size, or counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inspector import normalization
from inspector.plots import normalization as draw
from inspector.plots.normalization import Form
from inspector.sections.layernorm import stream
from inspector.sections.picks import Option
from inspector.sections.section import Block, Figure, Mark, Note, Section, Sentence
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from inspector.sections.subject import Subject
    from inspector.trace import NormRecord


def answer(subject: Subject, *, norm: int) -> Iterator[Block]:
    """Yield the formula of a norm, and its gamma and beta, those that it has."""
    number, record = list(stream.norms(subject).items())[norm]
    table = subject.of_text("gamma and beta", lambda: normalization.parameters(subject.trace))
    rows = table[table["norm"] == number]
    spreads = {name: spread(values) for name, values in of_norm(rows).items()}
    if spreads:
        about = (Mark("gamma-beta", {"dimension": each.farthest}) for each in spreads.values() if each.deviations)
        yield Sentence(learned(spreads, width=len(rows)), about=tuple(about))
        yield replace(DRAWN, answer=partial(_drawn, rows=rows, norm=record, number=number))
        if told := beyond(spreads, width=len(rows)):
            yield Note(told)
    else:
        yield Note(words.NOTHING)
    yield Note(words.one_formula(record))


def _drawn(subject: Subject, *, form: Form, rows: pd.DataFrame, norm: NormRecord, number: int) -> Iterator[Block]:
    """Yield the picture of gamma and beta in the form that was chosen."""
    yield Figure(
        "gamma-beta",
        "",
        draw.parameters(rows, norm=number, form=form, title=words.title(norm)),
        words.learned_alt(norm, form=form),
        stream.code(subject, table="parameters", only=f"norm == {number}"),
        rows,
        name=f"layernorm-norm{number}",
    )


class Spread(NamedTuple):
    """The mean of some numbers and the farthest from it: its place, and how many standard deviations it is away.

    deviations: 0 where all are equal. outliers: how many are more than `normalization.OUTLIER_SIGMAS` away.
    """

    mean: float
    farthest: int
    value: float
    deviations: float
    outliers: int


def spread(values: NDArray[np.float64]) -> Spread:
    """Find the number that is farthest from the mean."""
    if values.min() == values.max():  # the sums below would round
        return Spread(float(values[0]), 0, float(values[0]), 0.0, 0)
    mean = values.mean()
    away = np.abs(values - mean) / values.std()
    far = int(away.argmax())
    return Spread(
        float(mean), far, float(values[far]), float(away[far]), int((away > normalization.OUTLIER_SIGMAS).sum())
    )


def of_norm(rows: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Read gamma and beta, those that a norm has; rows: of `normalization.parameters`."""
    return {name: rows[name].to_numpy(dtype=float) for name in ("gamma", "beta") if rows[name].notna().all()}


def learned(spreads: Mapping[str, Spread], *, width: int) -> str:
    """Say what a norm has learned, gamma and beta, those that it has."""
    return " ".join(
        words.learned(
            name,
            width=width,
            mean=each.mean,
            farthest=each.farthest,
            value=each.value,
            deviations=each.deviations,
        )
        for name, each in spreads.items()
    )


def beyond(spreads: Mapping[str, Spread], *, width: int) -> str:
    """Say how far the farthest dimensions of gamma and beta lie, "" where all are equal."""
    return " ".join(
        words.beyond(name, width=width, farthest=each.farthest, deviations=each.deviations, outliers=each.outliers)
        for name, each in spreads.items()
        if each.deviations
    )


FORM = Option("form", words.FORM, lambda subject: words.FORMS)
DRAWN = Section("drawn", "", _drawn, (FORM,))
SECTION = Section("learned", words.LEARNED, stream.where_norms(answer), (stream.NORM,), parts=(DRAWN,))
