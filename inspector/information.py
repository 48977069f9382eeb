"""Measures of information of rows that sum to 1, in nats: entropy and the divergence of two rows.

```python
entropy(np.array([0.5, 0.5]))  # ln 2
jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0]))  # ln 2: no key in common
```
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-5  # a row's sum is this far from 1 by rounding alone


def shares(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Divide rows [..., T] by their sums, in float64; a row without weight counts as uniform."""
    given = rows.astype(np.float64)
    mass = given.sum(axis=-1, keepdims=True)
    divided: NDArray[np.float64] = np.divide(given, mass, out=np.full_like(given, 1 / given.shape[-1]), where=mass > 0)
    return divided


def entropy(rows: NDArray[Any]) -> NDArray[Any]:
    """-sum_j p_j ln p_j of each row, with 0 ln 0 = 0: [..., T] -> [...], in the dtype of the rows.

    The largest weight of a nearly one-hot row has no digits left below 1. Where the row sums to 1, the largest weight
    is therefore taken as 1 less the sum of the others.
    """
    terms = np.maximum(rows, np.finfo(rows.dtype).tiny)
    np.log(terms, out=terms)
    terms *= rows
    total = -terms.sum(axis=-1, dtype=np.float64)
    mass, largest = rows.sum(axis=-1, dtype=np.float64), rows.max(axis=-1).astype(np.float64)
    rest = np.clip(mass - largest, 0.0, 1 - np.finfo(np.float64).eps)
    exact = total + largest * np.log(np.maximum(largest, np.finfo(rows.dtype).tiny)) - (1 - rest) * np.log1p(-rest)
    entropies: NDArray[Any] = np.where(np.abs(mass - 1) <= _ROUNDING, exact, total).astype(rows.dtype)
    return entropies


def jensen_shannon(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Jensen-Shannon divergence of rows [..., T] -> [...], 0 (equal) .. ln 2 (no key in common) (Lin 1991)."""
    middle = (p + q) / 2
    divergence: NDArray[np.float64] = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    return divergence


def _relative_entropy(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum p ln(p / q) over each row, with 0 ln 0 = 0."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    terms: NDArray[np.float64] = (p * np.log(ratio)).sum(axis=-1)
    return terms
