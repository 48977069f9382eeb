"""The matrix of distances between all pairs of heads, of which a click opens a pair.

```python
message = matrix_bytes(inspector.head_distances.measure(trace, stream="encoder"))  # draw of index.js reads it
```
"""

from inspector.components.pairs.message import matrix_bytes

__all__ = ["matrix_bytes"]
