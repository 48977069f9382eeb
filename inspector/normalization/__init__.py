"""Norms: what each does to each token, what it has learned, and what another norm would do in its place.

```python
trace = inspector.record(models.load("minilm"), "The cat sat on the mat.")
statistics(trace)  # DataFrame, a row per norm and token: mean, deviation, root mean square before and after
change(trace)  # the share of centring, scaling, gamma and beta in what the norm changes
drift()  # how far the inputs of a layer move while small stacks learn, with norms and without
outliers(trace)  # the dimensions that are far larger than the rest, norm by norm
```
"""

from inspector.normalization.change import STEPS, change
from inspector.normalization.depth import KINDS, STACKS, NormStack, jacobians, through_depth
from inspector.normalization.direction import direction
from inspector.normalization.drift import drift
from inspector.normalization.other_norms import (
    OTHERS,
    OtherNorm,
    by_position,
    compared,
    kendall,
    noise,
    running_statistics,
    through,
)
from inspector.normalization.outliers import MASSIVE, MASSIVE_TIMES, outliers
from inspector.normalization.sentences import SENTENCES
from inspector.normalization.tables import (
    OUTLIER_SIGMAS,
    PARAMETERS,
    STATISTICS,
    Size,
    formula,
    in_words,
    kinds,
    parameters,
    statistics,
)

__all__ = [
    "KINDS",
    "MASSIVE",
    "MASSIVE_TIMES",
    "OTHERS",
    "OUTLIER_SIGMAS",
    "PARAMETERS",
    "SENTENCES",
    "STACKS",
    "STATISTICS",
    "STEPS",
    "NormStack",
    "OtherNorm",
    "Size",
    "by_position",
    "change",
    "compared",
    "direction",
    "drift",
    "formula",
    "in_words",
    "jacobians",
    "kendall",
    "kinds",
    "noise",
    "outliers",
    "parameters",
    "running_statistics",
    "statistics",
    "through",
    "through_depth",
]
