"""One head, large: heatmap and lines with the exact weights, pins, filters, windows of a long text.

```python
message = HeadMessage(trace.attention(layer=3, head=7), queries=trace.tokens, keys=trace.tokens)
message.to_bytes()  # draw(root, bytes, emit) of index.js reads it
```
"""

from inspector.components.head.message import (
    MOST_BYTES,
    ColouredHead,
    HeadMessage,
    HeadOptions,
    LinkedTokens,
    Segments,
    SharedLayout,
    WholeMap,
    alone,
    every,
    listed,
)

__all__ = [
    "MOST_BYTES",
    "ColouredHead",
    "HeadMessage",
    "HeadOptions",
    "LinkedTokens",
    "Segments",
    "SharedLayout",
    "WholeMap",
    "alone",
    "every",
    "listed",
]
