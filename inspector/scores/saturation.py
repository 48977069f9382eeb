"""The rows of a softmax: how much a row spreads, how near it is to one key alone, and how far its scores still move it.

p = softmax(s):  dp_i / ds_j = p_i (delta_ij - p_j)  (Bridle 1990), a matrix J = diag(p) - p p^T. Where one weight is
almost 1 every entry of J is almost 0, and next to no gradient passes to the scores: the row is saturated.

Shapes: H heads, Q query positions, T key positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.information import entropy

Floats = NDArray[np.float64]

SATURATED = 0.9  # a row is called saturated where its largest weight is above
_ROUNDING = 1e-5  # less than this is missing from a row's sum by rounding alone; more goes to a sink


def jacobian_norm(rows: NDArray[Any]) -> Floats:
    """||J||_F of the softmax of each row of weights: [..., T] -> [...], float64.

    ||J||_F^2 = sum_i p_i^2 - 2 sum_i p_i^3 + (sum_i p_i^2)^2, summed so that near one-hot rows lose no digits: the
    largest weight's 1 - p is the sum of the others. Of a row with a sink, whose weight is in no key, it is the part of
    J between the keys.
    """
    place = rows.argmax(axis=-1)[..., None]
    largest = np.take_along_axis(rows, place, axis=-1)[..., 0].astype(np.float64)
    others = np.array(rows)
    np.put_along_axis(others, place, 0, axis=-1)
    rest = others.sum(axis=-1, dtype=np.float64)
    missing = 1 - largest - rest
    rest += np.where(missing > _ROUNDING, missing, 0.0)
    squares = np.square(others)
    second, fourth = squares.sum(axis=-1, dtype=np.float64), np.square(squares).sum(axis=-1, dtype=np.float64)
    diagonal = np.square(largest * rest) + (squares * np.square(1 - others)).sum(axis=-1, dtype=np.float64)
    beside = 2 * np.square(largest) * second + np.maximum(np.square(second) - fourth, 0.0)
    norm: Floats = np.sqrt(diagonal + beside)
    return norm


@dataclass(frozen=True)
class SaturationRows:
    """Numbers of the rows of a layer's maps, [H, Q] each.

    keys: how many keys the query sees. entropy: -sum p ln p, nats. largest: the largest weight. jacobian: ||J||_F.
    """

    keys: NDArray[np.int64]
    entropy: Floats
    largest: Floats
    jacobian: Floats

    @property
    def choosing(self) -> NDArray[np.bool_]:
        """True where a query sees more than one key: a row of one key is 1, whatever the scores."""
        return self.keys > 1

    def share_of_most(self) -> Floats:
        """The entropy of each row over ln of the keys that it sees, 0..1; NaN where it sees one."""
        most = np.log(np.maximum(self.keys, 2))
        share: Floats = np.where(self.choosing, self.entropy / most, np.nan)
        return share


def read(weights: NDArray[np.float32], keys: NDArray[np.int64]) -> SaturationRows:
    """Measure a block of rows: weights [H, rows, T], keys [H, rows] or [1, rows]."""
    shown = np.broadcast_to(keys, weights.shape[:2])
    return SaturationRows(
        shown, entropy(weights).astype(np.float64), weights.max(axis=-1).astype(np.float64), jacobian_norm(weights)
    )


def together(blocks: list[SaturationRows]) -> SaturationRows:
    """Put blocks of rows one below the other."""
    return SaturationRows(
        *(
            np.concatenate([getattr(block, name) for block in blocks], axis=1)
            for name in ("keys", "entropy", "largest", "jacobian")
        )
    )
