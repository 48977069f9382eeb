"""Readings of the page Positions: how the model knows the order, and how alike the text's positions are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector import positional
from inspector.positional import Way


@dataclass(frozen=True)
class Alike:
    """The similarity of the first `tokens` rows of a table: mean cosines of rows that are 1 and `apart` rows apart.

    apart: half of the text, at least 2; far is None for a text that is too short to have such rows. whole: whether the
    rows are all places of the text, which may be longer than the table. Means over rows of zeros are NaN.
    """

    tokens: int
    near: float
    apart: int
    far: float | None
    whole: bool = True


@dataclass(frozen=True)
class Positions:
    """The ways in which a model knows the order, and the similarity of this text's positions.

    own: whether it is measured in a table of the model's own, or in the paper's; alike: None for a single token.
    """

    ways: tuple[Way, ...]
    own: bool
    alike: Alike | None


def alike(table: NDArray[np.floating[Any]], *, tokens: int) -> Alike | None:
    """Measure how alike the positions of a text are; table: [T, D] with a row for each position, at least 2 of them."""
    rows = table[:tokens]
    if len(rows) < 2:
        return None
    cosine = positional.similarity(rows)
    apart = max(2, len(rows) // 2)
    far = float(np.diagonal(cosine, apart).mean()) if apart < len(rows) else None
    near, whole = float(np.diagonal(cosine, 1).mean()), len(rows) == tokens
    return Alike(tokens=len(rows), near=near, apart=apart, far=far, whole=whole)
