"""Readings of the section Theory: random queries and keys with the scale and without, and one key that stands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.scores import theory

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (16, 1024)  # widths on either side of most crossovers: those that the sentence gives as examples


@dataclass(frozen=True)
class Width:
    """A d_k: each pair is without the scale, and with it.

    jacobian, gradient, mean_gradient: median ||J||, median and mean ||dp / dq|| of the rows. largest: the mean largest
    weight. variance: of the scores. excess: kurtosis of q . k less 3, and theory: what it should be.
    """

    width: int
    jacobian: tuple[float, float]
    gradient: tuple[float, float]
    mean_gradient: tuple[float, float]
    largest: tuple[float, float]
    variance: tuple[float, float]
    excess: float
    theory: float


@dataclass(frozen=True)
class Drawn:
    """Random queries and keys of every width. own: the widths of the reader's heads.

    crossover: the d_k from which the median row moves less without the scale; None where it does not change within
    the table, and then below: whether it moves less without the scale at every width. small, large: two examples.
    ratios: the smallest and the largest variance over d_k. itself: d_k -> the weight of a token on itself without
    projections.
    """

    keys: int
    entries: theory.Entries
    crossover: float | None
    below: bool
    small: Width
    large: Width
    least: Width
    own: tuple[Width, ...]
    ratios: tuple[float, float]
    itself: Mapping[int, float]


def drawn(
    table: pd.DataFrame, *, keys: int, entries: theory.Entries, own: Sequence[int], itself: Mapping[int, float]
) -> Drawn:
    """Read the table of `theory.drawn`, which has the widths SHOWN, theory.WIDTHS and `own`, and `theory.itself`."""
    ratios = table["scaled_variance"]
    last = table.iloc[-1]
    small, large, least = (_width(table, width, entries) for width in (*SHOWN, min(table["width"])))
    return Drawn(
        keys,
        entries,
        theory.crossover(table),
        bool(last["jacobian_median"] < last["scaled_jacobian_median"]),
        small,
        large,
        least,
        tuple(_width(table, width, entries) for width in own),
        (float(ratios.min()), float(ratios.max())),
        itself,
    )


def _width(table: pd.DataFrame, width: int, entries: theory.Entries) -> Width:
    row = table[table["width"] == width].iloc[0]

    def both(name: str) -> tuple[float, float]:
        return float(row[name]), float(row[f"scaled_{name}"])

    return Width(
        width,
        both("jacobian_median"),
        both("gradient_median"),
        both("gradient_mean"),
        both("largest_mean"),
        both("variance"),
        float(row["excess"]),
        theory.excess(width, entries),
    )
