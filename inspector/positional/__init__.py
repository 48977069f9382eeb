"""Positions: how a model knows the order of its tokens, with the values that it uses.

```python
loaded = models.load("minilm")
inspector.positional.tables(loaded)  # what is added to a token by its position, [T, D]
inspector.positional.rotations(models.load("mini-gpt"), positions=512)  # RoPE: cosines and sines, [T, P]
inspector.positional.biases(loaded, reach=64)  # T5, ALiBi: what is added to a score by the distance
inspector.positional.vectors(loaded, reach=64)  # Shaw, Transformer-XL, DeBERTa, XLNet, Inkling: a vector by distance
inspector.positional.side_by_side()  # what each kind makes of one query and one key, wherever the two stand
inspector.positional.longer(models.load("mini-gpt"))  # bits a token, beyond the longest text and in windows that fit
```
"""

from inspector.positional.beyond import PASSAGE, longer
from inspector.positional.biases import DistanceBias, biases
from inspector.positional.distances import attention_by_distance, by_distance, fitted_shift, shift_residual, spectrum
from inspector.positional.kinds import APART, KINDS, POSITIONS, Kind, side_by_side
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
from inspector.positional.vectors import DistanceVectors, vectors

__all__ = [
    "APART",
    "KINDS",
    "PASSAGE",
    "POSITIONS",
    "DistanceBias",
    "DistanceVectors",
    "Kind",
    "Measure",
    "PositionTable",
    "Rotation",
    "Way",
    "attention_by_distance",
    "biases",
    "by_distance",
    "fitted_shift",
    "longer",
    "rotates",
    "rotations",
    "shift_residual",
    "side_by_side",
    "similarity",
    "similarity_by_distance",
    "sinusoidal",
    "sources",
    "spectrum",
    "table",
    "tables",
    "vectors",
    "ways",
]
