"""Exact polynomials in a text's length, found from counts at a few lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from typing import Any

Lengths = tuple[int, ...]
"""n; of an encoder-decoder n and m, the tokens of the source and of the target."""


@dataclass(frozen=True)
class Basis:
    """The terms of a polynomial: products of at most `degree` variables.

    windows: lengths w, each of which adds the variable min(n, w); chunk: a length c that adds ceil(n / c), 0 for none.
    switch: the longest n of a first polynomial, beyond which a second holds; 0 for one polynomial.
    """

    lengths: int = 1
    degree: int = 2
    windows: tuple[int, ...] = ()
    chunk: int = 0
    switch: int = 0

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        names = ("n", "m")[: self.lengths]
        return (
            *names,
            *(f"min({name}, {window})" for name in names for window in self.windows),
            *((f"⌈{names[0]}/{self.chunk}⌉",) if self.chunk else ()),
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of the terms, such as ("1", "n", "n²")."""
        names = [_name(term) for term in self._terms(self.variables)]
        if not self.switch:
            return tuple(names)
        return tuple(f"{name} (n {side} {self.switch:,})" for side in "≤>" for name in names)

    def values(self, lengths: Lengths) -> tuple[int, ...]:
        """Each term at these lengths."""
        numbers = [*lengths, *(min(length, window) for length in lengths for window in self.windows)]
        numbers += [-(-lengths[0] // self.chunk)] if self.chunk else []
        values = [prod(term) for term in self._terms(numbers)]
        if not self.switch:
            return tuple(values)
        none = [0] * len(values)
        return (*values, *none) if lengths[0] <= self.switch else (*none, *values)

    def _terms(self, variables: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [term for degree in range(self.degree + 1) for term in combinations_with_replacement(variables, degree)]


def fit(basis: Basis, counts: Mapping[Lengths, int]) -> tuple[int, ...] | None:
    """Find the coefficients of a basis from counts at some lengths; None where no whole numbers fit all of them.

    Where the counts leave a coefficient open, it is 0.
    """
    rows = [[Fraction(value) for value in (*basis.values(at), count)] for at, count in counts.items()]
    width = len(rows[0]) - 1
    pivots: list[int] = []
    for column in range(width):
        at = next((row for row in range(len(pivots), len(rows)) if rows[row][column]), None)
        if at is None:
            continue
        rows[len(pivots)], rows[at] = rows[at], rows[len(pivots)]
        pivot = rows[len(pivots)]
        pivot[:] = [value / pivot[column] for value in pivot]
        for other in rows:
            if other is not pivot and other[column]:
                factor = other[column]
                other[:] = [a - factor * b for a, b in zip(other, pivot, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    coefficients = [Fraction(0)] * width
    for row, column in zip(rows, pivots, strict=False):
        coefficients[column] = row[-1]
    return (
        tuple(int(value) for value in coefficients) if all(value.denominator == 1 for value in coefficients) else None
    )


def evaluate(basis: Basis, coefficients: Sequence[int], lengths: Lengths) -> int:
    """Compute a polynomial at some lengths."""
    return sum(a * b for a, b in zip(coefficients, basis.values(lengths), strict=True))


def _name(term: tuple[str, ...]) -> str:
    if len(term) == 2 and term[0] == term[1]:
        return f"{term[0]}²"
    return " ".join(term) or "1" if any("(" in name or "⌈" in name for name in term) else "".join(term) or "1"
