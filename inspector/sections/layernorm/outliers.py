"""Outlier dimensions: those that are far larger than the rest before a norm, and the tokens that stand out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from inspector import normalization
from inspector.components.matrix import Panel
from inspector.sections.layernorm import stream
from inspector.sections.section import Block, Map, Mark, Paragraph, Section, Sentence
from inspector.text import Named, named
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.normalization import Size
    from inspector.sections.subject import Subject
    from inspector.trace import NormRecord


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the largest dimensions before each norm, and name the tokens that stand out."""
    norms = stream.norms(subject)
    table = subject.once("outliers", lambda: normalization.outliers(subject.trace, stream=subject.stream))
    wide = table.pivot_table(index="norm", columns="dimension", values="times")
    top = table.loc[table["times"].idxmax()]
    mark = Mark("outliers", {"norm": int(top["norm"]), "dimension": int(top["dimension"])})
    yield Sentence(outlier(table, norms, tokens=subject.tokens), about=(mark,))
    yield Map(
        "outliers",
        words.OUTLIERS,
        (
            Panel(
                wide.to_numpy(dtype=np.float32),
                rows=[words.brief(norms[int(number)]) for number in wide.index],
                columns=[str(dimension) for dimension in wide.columns],
                named=(list(wide.index).index(top["norm"]), list(wide.columns).index(top["dimension"])),
            ),
        ),
        row_title="norm",
        column_title="dimension",
        alt=words.OUTLIERS_ALT,
        quantity=words.TIMES,
        numbered="rows",
        scale="sqrt",
        code=(
            f"{subject.code}outliers = inspector.normalization.outliers(trace, stream={subject.stream!r})\n"
            "table = outliers.pivot_table(index='norm', columns='dimension', values='times')"
        ),
        note=words.about_outliers(wide.shape[1]),
        name="layernorm-outliers",
    )
    size = stream.size(norms)
    standing = words.far(far(stream.statistics(subject), size=size), norms=len(norms), size=size)
    yield Paragraph(f"{massive(table)} {standing}")


def outlier(table: pd.DataFrame, norms: Mapping[int, NormRecord], *, tokens: Sequence[str]) -> str:
    """Say which dimension stands out most; table: of `normalization.outliers`; tokens: of the text."""
    top = table.loc[table["times"].idxmax()]
    return words.outlier(
        norm=norms[int(top["norm"])],
        dimension=int(top["dimension"]),
        token=named(tokens, int(top["position"])),
        value=float(top["value"]),
        times=float(top["times"]),
        largest=int((table["largest"] & (table["dimension"] == top["dimension"])).sum()),
        norms=int(table["norm"].nunique()),
    )


def massive(table: pd.DataFrame) -> str:
    """Say where activations are massive; table: of `normalization.outliers`."""
    return words.massive(sorted({int(dimension) for dimension in table.loc[table["massive"], "dimension"]}))


def far(statistics: pd.DataFrame, *, size: Size, times: float = 2.0) -> list[tuple[Named, int, float]]:
    """List the tokens whose size before a norm is `times` the median of all tokens there, the farthest first.

    Each with the number of norms before which it is so, and its largest size in medians.
    """
    before = statistics.pivot_table(index="norm", columns="position", values=f"{size}_before")
    ratios = before.div(before.median(axis=1).replace(0, np.nan), axis=0)
    tokens = tuple(statistics.drop_duplicates("position").sort_values("position")["token"])
    found = [
        (named(tokens, at), int((column >= times).sum()), float(column.max()))
        for at, (_, column) in enumerate(ratios.items())
        if (column >= times).any()
    ]
    return sorted(found, key=lambda one: -one[2])


SECTION = Section("outliers", words.OUTLIERS, stream.where_norms(answer))
