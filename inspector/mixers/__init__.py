"""Heads that mix tokens without a softmax: what a map says, what made a weight, and what the state did with a token.

Weights of such a map have a sign and rows sum to anything, so nothing here is a share of anything.

```python
record = trace.mixer(layer=0)
mixers.read(record, 2)  # HeadOfMixer: the weight farthest from 0, and how many are negative
```
"""

from inspector.mixers.arranged import averaged, pooled, reader, small_picture
from inspector.mixers.reading import HeadOfMixer, read
from inspector.mixers.state import by_token, decays, erased_by, erases, has_state
from inspector.mixers.why import CellStep, MixerCell, why

__all__ = [
    "CellStep",
    "HeadOfMixer",
    "MixerCell",
    "averaged",
    "by_token",
    "decays",
    "erased_by",
    "erases",
    "has_state",
    "pooled",
    "read",
    "reader",
    "small_picture",
    "why",
]
