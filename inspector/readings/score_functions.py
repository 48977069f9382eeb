"""Readings of score functions side by side: what each costs, and from which length on linear attention is cheaper."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from inspector.costs.score_functions import FUNCTIONS, Function, Sizes, cost

if TYPE_CHECKING:
    from inspector.scores.weightings import Weighed

FORMULAS: dict[Function, tuple[str, str]] = {
    "dot": ("4 n² d", "4·{n}²·{d}"),
    "general": ("2 n d² + 4 n² d", "2·{n}·{d}² + 4·{n}²·{d}"),
    "additive": ("4 n d² + 4 n² d", "4·{n}·{d}² + 4·{n}²·{d}"),
    "additive_naive": ("4 n² d² + 4 n² d", "4·{n}²·{d}² + 4·{n}²·{d}"),
    "linear": ("4 n d² + 2 n d", "4·{n}·{d}² + 2·{n}·{d}"),
}
"""FLOPs of scores and mix of one head: in letters, and with places for the numbers."""


@dataclass(frozen=True)
class Race:
    """Score functions at some sizes. times: FLOPs of scores and mix over those of dot products; largest: the bytes of
    the largest tensor of the factorised additive scores, and of dot products. cheaper: the first length at which
    linear attention takes fewer FLOPs than dot products.
    """

    sizes: Sizes
    times: dict[Function, float]
    largest: tuple[int, int]
    cheaper: int


def race(sizes: Sizes) -> Race:
    """Read the costs of all functions at some sizes."""
    found = {function: cost(function, sizes) for function in FUNCTIONS}
    times = {function: one.flops / found["dot"].flops for function, one in found.items()}
    # 4 n d^2 + 2 n d < 4 n^2 d where n > d + 1/2
    cheaper = floor(sizes.width + 0.5) + 1
    return Race(sizes, times, (4 * found["additive"].largest, 4 * found["dot"].largest), cheaper)


def formulas(sizes: Sizes) -> list[tuple[str, str]]:
    """Fill the numbers into the formulas, in the order of FUNCTIONS: (in letters, with numbers)."""
    times = f"{sizes.heads:,} · " if sizes.heads > 1 else ""
    made = []
    for function in FUNCTIONS:
        letters, numbers = FORMULAS[function]
        filled = numbers.format(n=f"{sizes.tokens:,}", d=f"{sizes.width:,}")
        made.append((f"h ({letters})" if times else letters, f"{times}({filled})" if times else filled))
    return made


@dataclass(frozen=True)
class Weightings:
    """A head weighed in other ways, by name. place: the head in words."""

    place: str
    found: dict[str, Weighed]

    @property
    def choosing(self) -> bool:
        """True where a query sees more than one key."""
        return self.found["softmax"].entropy == self.found["softmax"].entropy
