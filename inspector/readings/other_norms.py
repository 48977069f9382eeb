"""Readings of the page LayerNorm's sections: steps of a change, outlier dimensions, a padded batch, untrained depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.normalization import STEPS
from inspector.normalization.other_norms import Floats, OtherNorm, through

ROUNDING = 1e-4  # of the largest number: what the model's own float32 moves between two runs


@dataclass(frozen=True)
class Steps:
    """The mean share of each step over all norms and tokens, largest first, and how many norms have a gate."""

    shares: tuple[tuple[str, float], ...]
    gated: int


@dataclass(frozen=True)
class Outlier:
    """The dimension that is largest against the median, where, and in how many norms it is the largest of all.

    massive: how many of the table's cells are massive activations, in which dimensions.
    """

    dimension: int
    norm: int
    value: float
    token: str
    times: float
    norms: int
    of: int
    massive: int
    massive_dimensions: tuple[int, ...]


@dataclass(frozen=True)
class Far:
    """A token that stands out: before how many norms, and its largest size there against the others' median."""

    token: str
    position: int
    norms: int
    times: float


@dataclass(frozen=True)
class Padded:
    """A batch with more padding and without, on its real tokens.

    padding, cells: cells of padding and all cells, with the padding that was added; added: the columns of it.
    dimension: whose mean and deviation BatchNorm is read at: the one of the largest deviation. batch, layer: statistics
    (mean, deviation) without and with the added padding: of that dimension, padding counted, and of the first real
    token that is not special, or the first one. moved: the largest change of a real token's numbers after each norm.
    largest: the largest number after LayerNorm.
    """

    padding: int
    cells: int
    added: int
    dimension: int
    token: str
    batch: tuple[tuple[float, float], tuple[float, float]]
    layer: tuple[tuple[float, float], tuple[float, float]]
    moved: Mapping[OtherNorm, float]
    largest: float


@dataclass(frozen=True)
class Depth:
    """Untrained stacks: gradient before layer 0 divided by that after the last, last activation, last cosine."""

    gradient: Mapping[str, float]
    activation: Mapping[str, float]
    cosine: Mapping[str, float]


@dataclass(frozen=True)
class Against:
    """A padded batch [B, T, D] as BatchNorm meets it: lengths, padding, and two kinds of statistics.

    texts, shortest, longest: texts and their lengths; columns, alone: columns with a real token, and those with one;
    padding: the share of all cells. gap: the largest change of a real token's number from the batch's own statistics,
    padding masked, to the running ones.
    """

    texts: int
    shortest: int
    longest: int
    columns: int
    alone: int
    padding: float
    gap: float


@dataclass(frozen=True)
class Drift:
    """Moves of a layer's inputs in a step of a small training, and its last loss, by norm.

    moves: of the mean, in deviations; losses: of the last step.
    """

    moves: Mapping[str, float]
    losses: Mapping[str, float]


def against(x: Floats, keep: NDArray[np.bool_], *, epsilon: float, running: tuple[Floats, Floats]) -> Against:
    """Count what speaks against BatchNorm; running: mean and variance of other texts."""
    lengths, counts = keep.sum(axis=1), keep.sum(axis=0)
    own, kept = (
        through(x, keep, norm=norm, epsilon=epsilon, running=running)[keep]
        for norm in ("masked batch", "running batch")
    )
    return Against(
        texts=len(x),
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
        columns=int((counts > 0).sum()),
        alone=int((counts == 1).sum()),
        padding=float(1 - keep.mean()),
        gap=float(np.abs(own - kept).max()),
    )


def drift(table: pd.DataFrame) -> Drift:
    """Read the moves and the losses; table: of `normalization.drift`."""
    by_norm = table.set_index("norm")
    names = [str(name) for name in by_norm.index]
    return Drift(
        moves={name: float(by_norm["mean"][name]) for name in names},
        losses={name: float(by_norm["last"][name]) for name in names},
    )


def steps(table: pd.DataFrame, *, norms: int) -> Steps:
    """Average the shares; table: of `normalization.change`, norms: how many the stream has."""
    means = table[list(STEPS)].mean()
    found = tuple((str(step), float(share)) for step, share in means.sort_values(ascending=False).items())
    return Steps(found, norms - table["norm"].nunique())


def outlier(table: pd.DataFrame) -> Outlier:
    """Find the dimension that stands out most; table: of `normalization.outliers`."""
    row = table.loc[table["times"].idxmax()]
    massive = table[table["massive"]]
    return Outlier(
        dimension=int(row["dimension"]),
        norm=int(row["norm"]),
        value=float(row["value"]),
        token=row["token"],
        times=float(row["times"]),
        norms=int((table["largest"] & (table["dimension"] == row["dimension"])).sum()),
        of=int(table["norm"].nunique()),
        massive=len(massive),
        massive_dimensions=tuple(sorted({int(one) for one in massive["dimension"]})),
    )


def far(statistics: pd.DataFrame, *, size: str, times: float = 2.0) -> list[Far]:
    """Name the tokens whose size before a norm is `times` the median of all tokens there, the farthest first."""
    before = statistics.pivot_table(index="norm", columns="position", values=f"{size}_before")
    ratios = before.div(before.median(axis=1).replace(0, np.nan), axis=0)
    tokens = statistics.drop_duplicates("position").set_index("position")["token"]
    found = [
        Far(tokens[position], int(position), int((column >= times).sum()), float(column.max()))
        for position, column in ratios.items()
        if (column >= times).any()
    ]
    return sorted(found, key=lambda one: -one.times)


def padded(
    before: tuple[Floats, NDArray[np.bool_]],
    after: tuple[Floats, NDArray[np.bool_]],
    *,
    token: str,
    row: int,
    column: int,
    epsilon: float,
    running: tuple[Floats, Floats],
) -> Padded:
    """Compare a batch [B, T, D] and its keep [B, T] with the same batch with more padding.

    token, row, column: the token whose LayerNorm is read, its text and its place among that text's real tokens.
    """
    (x, keep), (y, padded_keep) = before, after
    others: tuple[OtherNorm, ...] = ("layer", "rms", "batch", "masked batch", "running batch")
    moved: dict[OtherNorm, float] = {}
    largest = 0.0
    for norm in others:
        first, second = (
            through(values, kept, norm=norm, epsilon=epsilon, running=running)[kept]
            for values, kept in ((x, keep), (y, padded_keep))
        )
        moved[norm] = float(np.abs(second - first).max())
        largest = max(largest, float(np.abs(first).max())) if norm == "layer" else largest
    dimension = int(x[keep].astype(np.float64).std(axis=0).argmax())
    batch = [
        (float(flat.mean()), float(flat.std()))
        for flat in (values[..., dimension].astype(np.float64).ravel() for values in (x, y))
    ]
    vectors = [values[row][kept[row]][column].astype(np.float64) for values, kept in ((x, keep), (y, padded_keep))]
    layer = [(float(vector.mean()), float(vector.std())) for vector in vectors]
    return Padded(
        padding=int((~padded_keep).sum()),
        cells=padded_keep.size,
        added=y.shape[1] - x.shape[1],
        dimension=dimension,
        token=token,
        batch=(batch[0], batch[1]),
        layer=(layer[0], layer[1]),
        moved=moved,
        largest=largest,
    )


def depth(table: pd.DataFrame) -> Depth:
    """Read the two ends of each stack; table: of `normalization.through_depth`."""
    ends = table.set_index(["stack", "layer"])
    last = int(table["layer"].max())
    names = [str(name) for name in table["stack"].unique()]
    return Depth(
        gradient={name: float(ends["gradient"][name, -1] / ends["gradient"][name, last]) for name in names},
        activation={name: float(ends["activation"][name, last]) for name in names},
        cosine={name: float(ends["cosine"][name, last]) for name in names},
    )
