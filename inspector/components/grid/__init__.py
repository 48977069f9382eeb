"""The grid of all heads of a stream: small pictures, framed by role; a click opens a head.

```python
pictures = quantise(np.stack([trace.pooled(layer=layer, side=24) for layer in range(6)]))
message = grid_bytes(pictures, tokens=len(trace.tokens))  # draw(root, message, emit) of index.js reads it
```
"""

from inspector.components.grid.all_kinds import AttentionPictures, MixerPictures, all_kinds_bytes, signed_bytes
from inspector.components.grid.message import (
    Measure,
    Options,
    Roles,
    changes,
    grid_bytes,
    importance_bytes,
    importance_top,
    readable_top,
    side,
    sides,
    widths,
)

__all__ = [
    "AttentionPictures",
    "Measure",
    "MixerPictures",
    "Options",
    "Roles",
    "all_kinds_bytes",
    "changes",
    "grid_bytes",
    "importance_bytes",
    "importance_top",
    "readable_top",
    "side",
    "sides",
    "signed_bytes",
    "widths",
]
