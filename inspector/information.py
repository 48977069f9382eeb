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


def shares(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Divide rows [..., T] by their sums, in float64; a row without weight counts as uniform."""
    given = rows.astype(np.float64)
    mass = given.sum(axis=-1, keepdims=True)
    divided: NDArray[np.float64] = np.divide(given, mass, out=np.full_like(given, 1 / given.shape[-1]), where=mass > 0)
    return divided


def entropy(rows: NDArray[Any]) -> NDArray[Any]:
    """-sum_j p_j ln p_j of each row, with 0 ln 0 = 0: [..., T] -> [...], in the dtype of the rows."""
    terms = np.maximum(rows, np.finfo(rows.dtype).tiny)
    np.log(terms, out=terms)
    terms *= rows
    total: NDArray[Any] = -terms.sum(axis=-1)
    return total


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
