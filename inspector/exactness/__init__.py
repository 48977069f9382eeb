"""Checks that a recording is what the model computes: a badge earned on this text, not a promise.

Weights are held to what every map must be, norms and residual stream to what their modules gave, and all that is shown
to a second, watched run of the model (`inspector.hold`).

```python
print(exactness.check(trace, loaded))
```
"""

from inspector.exactness.checking import check
from inspector.self_checks import (
    ROW_SUM_TOLERANCE,
    Exactness,
    HeldMixers,
    HeldVectors,
    check_mixers,
    check_norms,
    check_residual_stream,
    leak_in_words,
    refusals,
    row_sum_tolerance,
)

__all__ = [
    "ROW_SUM_TOLERANCE",
    "Exactness",
    "HeldMixers",
    "HeldVectors",
    "check",
    "check_mixers",
    "check_norms",
    "check_residual_stream",
    "leak_in_words",
    "refusals",
    "row_sum_tolerance",
]
