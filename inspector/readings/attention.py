"""Readings of the page Attention: the grid of all heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import heads

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Grid:
    """counts: how many of `heads` heads have which label of `heads.label`, the most frequent first."""

    heads: int
    counts: Mapping[str, int]


def grid(measures: pd.DataFrame, *, stream: str) -> Grid:
    """Count what the heads of a stream do; measures: of `heads.measure`."""
    labels = heads.label(measures[measures["stream"] == stream])
    return Grid(len(labels), {str(name): int(count) for name, count in labels.value_counts().items()})
