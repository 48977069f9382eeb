"""Gradients over distance: how much an early token still moves the last state, in recurrence and in attention.

```python
import inspector
import models
from inspector import distance

table = distance.curves(distance.Setting(steps=100, width=32))  # RNN, GRU, LSTM, attention on random input
distance.parts(distance.Setting())  # each step's part in the gradient of the shared weights
distance.shuffled(distance.Setting())  # what the order of the inputs changes in the last output

loaded = models.load("minilm")
trace = inspector.record(loaded, "The cat sat on the mat because it was tired.")
distance.reach.measure(distance.reach.copy_of(loaded, trace), position=10)  # the loaded model, by layer and token
distance.residual.measure(distance.residual.copied_own(loaded, trace), position=10)  # with the residual cut
```
"""

from inspector.distance import reach, residual
from inspector.distance.order import WITH_POSITIONS, shuffled
from inspector.distance.recurrent import (
    KINDS,
    MOST_SEED,
    MOST_STEPS,
    MOST_WIDTH,
    RECURRENT,
    SEEDS,
    Kind,
    Setting,
    curves,
    radius,
)
from inspector.distance.shared_weights import parts

__all__ = [
    "KINDS",
    "MOST_SEED",
    "MOST_STEPS",
    "MOST_WIDTH",
    "RECURRENT",
    "SEEDS",
    "WITH_POSITIONS",
    "Kind",
    "Setting",
    "curves",
    "parts",
    "radius",
    "reach",
    "residual",
    "shuffled",
]
