"""Gradients into W_Q, W_K and W_V, with the scale and without it, and as the softmax saturates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from inspector.plots.chart import Chart
from inspector.sections.picks import Option
from inspector.sections.scores.open_head import code_of_stream, of_stream
from inspector.sections.section import Ask, Block, Figure, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import gradients as words
from inspector.wording import scores
from models import failures

if TYPE_CHECKING:
    from inspector.interventions.gradients import GradientScalar
    from inspector.sections.subject import Subject

AT_ONCE = 128  # tokens: of as many gradients are taken without being asked for
STARVED = 1e-6  # of W_V's entry
LEAST = 1e-15  # where the axis ends at the latest
NAMES = {"q": "W_Q", "k": "W_K", "v": "W_V"}
STYLES = {"q": 0, "k": 2, "v": 1}


def answer(subject: Subject, *, gradient_size: words.Size) -> Iterator[Block]:
    """Yield the gradients of a stream's layers, with the scale and without, and as scores grow."""
    tokens, size = len(subject.trace.hidden), gradient_size
    if tokens > AT_ONCE:
        yield Ask("gradients-start", words.START, words.long(tokens))
    about, every = _taken(subject)
    table = of_stream(every, subject)
    if {"q", "v"} <= set(table["matrix"]):
        yield Sentence(becomes(table, about, size=size), ("gradient", "d_k"))
    else:
        yield Note(words.SHARED)
    code = (
        f"{subject.code}prepared = inspector.gradients.prepare(loaded, trace)\n"
        f"{code_of_stream('inspector.gradients.sweep(prepared, prepared.about.factors)', subject)}"
    )
    yield Row(
        (
            Figure(
                "gradients-by-layer",
                words.BY_LAYER_BOTH if about.scale != 1 else words.BY_LAYER,
                by_layer(table, scale=about.scale, size=size),
                words.BY_LAYER_ALT,
                code,
                table,
            ),
            Figure(
                "gradients-by-factor",
                words.BY_FACTOR,
                by_factor(table, scale=about.scale, size=size),
                words.BY_FACTOR_ALT,
                code,
                table,
            ),
        )
    )
    if {"q", "v"} <= set(table["matrix"]):
        yield Paragraph(further(table, about, size=size))
    yield Note(words.scalar(about.scalar, count=about.count))
    yield Table("gradients", _named(table, about), scores.ALL_HEADS, height=420)


def _taken(subject: Subject) -> tuple[GradientScalar, pd.DataFrame]:
    """Take the gradients at every factor; the copy of the model is let go."""
    loaded, trace = subject.model, subject.trace

    def make() -> tuple[GradientScalar, pd.DataFrame]:
        from inspector.interventions import gradients

        with subject.progress(words.TAKING, unit=words.FACTOR) as on_progress:
            on_progress(0, 1)
            prepared = gradients.prepare(loaded, trace)
            return prepared.about, gradients.sweep(prepared, prepared.about.factors, on_progress=on_progress)

    try:
        with failures.told(words.TAKING, instead=words.ANOTHER):
            return subject.of_text("gradients", make)
    except ValueError as error:
        raise ValueError(f"{str(error).replace(loaded.card.id, loaded.card.title).rstrip('.')}.") from None


def by_layer(table: pd.DataFrame, *, scale: float, size: words.Size) -> Chart:
    """Draw a size of W_Q's and W_V's gradients by layer: indigo with the model's scale, amber without."""
    sides = {scale: " with the scale" if scale != 1 else "", 1.0: " without" if scale != 1 else ""}
    rows = table[table["head"].isna() & table["factor"].isin(list(sides)) & table["matrix"].isin(["q", "v"])]
    rows = rows.sort_values(["factor", "matrix"], key=lambda one: one.map([*sides, "q", "v"].index), kind="stable")
    rows = rows.assign(line=[(matrix, factor) for matrix, factor in zip(rows["matrix"], rows["factor"], strict=True)])
    return replace(
        _sizes(rows, "layer", size),
        by="line",
        names={(matrix, factor): f"{NAMES[matrix]}{side}" for factor, side in sides.items() for matrix in "qv"},
        parts={line: "attention" if line[1] == scale else "ffn" for line in rows["line"]},
        styles={line: STYLES[line[0]] for line in rows["line"]},
        x_title="layer",
        title=words.GRADIENTS_BY_LAYER,
    )


def by_factor(table: pd.DataFrame, *, scale: float, size: words.Size) -> Chart:
    """Draw a size of the gradients, averaged over the layers, by how many times the model's own the scores are."""
    from inspector.interventions.gradients import TIMES

    means = table[table["head"].isna()].groupby(["matrix", "factor"])[size].mean().reset_index()
    means = means.sort_values("matrix", key=lambda matrix: matrix.map(list(NAMES).index), kind="stable")
    factors = {words.OWN: scale, words.NO_SCALE: 1.0} if scale != 1 else {words.OWN_NO_SCALE: 1.0}
    return replace(
        _sizes(means.assign(times=means["factor"] / scale), "times", size),
        by="matrix",
        names=NAMES,
        parts={matrix: matrix for matrix in NAMES},
        styles=STYLES,
        x_title=words.TIMES_OWN,
        title=words.GRADIENTS_BY_FACTOR,
        x_marks={name: factor / scale for name, factor in factors.items()},
        ticks={one: f"{one:g}" if one >= 1 else f"1/{1 / one:g}" for one in (*TIMES, 1)},
        x_log=True,
    )


def _sizes(rows: pd.DataFrame, x: str, size: words.Size) -> Chart:
    """Draw sizes on a logarithmic axis, which ends at the rounding of weights near 1."""
    drawn = rows.assign(**{size: rows[size].where(rows[size] > LEAST)})
    return Chart(drawn, x, size, y_title=words.entry(size), y_log=True, below=True, height=400)


def _named(table: pd.DataFrame, about: GradientScalar) -> pd.DataFrame:
    """Return the rows of the model's scale, of none and of 1 / d_k, a head for each, and of the whole matrices."""
    chosen = {1 / about.width: "1/d_k", 1.0: words.NONE, about.scale: words.OWN}
    rows = table[table["factor"].isin(list(chosen))]
    return rows.assign(scale=rows["factor"].map(chosen)).drop(columns="stream")


def becomes(table: pd.DataFrame, about: GradientScalar, *, size: words.Size) -> str:
    """Say what larger scores do to W_Q's gradient and to W_V's; table: of `gradients.sweep`, of one stream."""
    means = _means(table, size)
    most, at = max(factor for factor, _ in means.index), means[size].to_dict()
    queries, values = ((at[about.scale, matrix], at[most, matrix]) for matrix in "qv")
    return words.gradients(size=size, queries=queries, values=values, times=most / about.scale)


def further(table: pd.DataFrame, about: GradientScalar, *, size: words.Size) -> str:
    """Say why, what the scale does, and in which layer the softmax is saturated at the model's own scale."""
    means = _means(table, size)
    most, at = max(factor for factor, _ in means.index), means[size].to_dict()
    queries, values = ((at[about.scale, matrix], at[most, matrix]) for matrix in "qv")
    told = [
        words.why(size=size, queries=queries, values=values),
        words.without(
            size=size,
            scaled=about.scale != 1,
            queries=(at[about.scale, "q"], at[1.0, "q"]),
            values=(at[about.scale, "v"], at[1.0, "v"], at[most, "v"]),
            times=most / about.scale,
            largest=float(means["largest"][most, "q"]),
        ),
    ]
    whole = table[table["head"].isna() & (table["factor"] == about.scale)]
    layers = whole.pivot(index="layer", columns="matrix", values=[size, "largest"])
    for layer, row in layers.iterrows():
        if row[size, "q"] < STARVED * row[size, "v"]:
            starved = words.starved(
                layer=int(layer), queries=row[size, "q"], values=row[size, "v"], largest=row["largest", "q"]
            )
            told.append(starved)
            break
    return " ".join(filter(None, told))


def _means(table: pd.DataFrame, size: str) -> pd.DataFrame:
    """Average the whole matrices over the layers, by factor and matrix."""
    return table[table["head"].isna()].groupby(["factor", "matrix"])[[size, "largest"]].mean()


SIZE = Option("gradient_size", words.ENTRY, lambda subject: words.SIZES)
SECTION = Section("gradients", scores.GRADIENTS, answer, (SIZE,), needs_model=True, long=True)
