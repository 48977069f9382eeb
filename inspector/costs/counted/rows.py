"""A row of a count."""

from __future__ import annotations

from dataclasses import dataclass

from models.attention import Stream


@dataclass(frozen=True)
class CostPlace:
    """The place of a cost; layer None below and above the layers."""

    stream: Stream
    layer: int | None
    part: str
    component: str
