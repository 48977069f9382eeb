"""Positions: how a model knows the order of its tokens, with the values that it uses.

```python
loaded = models.load("minilm")
inspector.positional.tables(loaded)  # what is added to a token by its position, [T, D]
inspector.positional.rotations(models.load("mini-gpt"), positions=512)  # RoPE: cosines and sines, [T, P]
inspector.positional.biases(loaded, reach=64)  # T5, ALiBi: what is added to a score by the distance
```
"""

from inspector.positional.biases import DistanceBias, biases
from inspector.positional.distances import attention_by_distance, by_distance, fitted_shift, shift_residual, spectrum
from inspector.positional.rotations import Rotation, rotations
from inspector.positional.tables import (
    Measure,
    PositionTable,
    Way,
    rotates,
    similarity,
    similarity_by_distance,
    sinusoidal,
    sources,
    table,
    tables,
    ways,
)

__all__ = [
    "DistanceBias",
    "Measure",
    "PositionTable",
    "Rotation",
    "Way",
    "attention_by_distance",
    "biases",
    "by_distance",
    "fitted_shift",
    "rotates",
    "rotations",
    "shift_residual",
    "similarity",
    "similarity_by_distance",
    "sinusoidal",
    "sources",
    "spectrum",
    "table",
    "tables",
    "ways",
]
