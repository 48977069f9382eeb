"""Attention: the seam that every model's attention passes, and the arithmetic of one head.

No nn.Module is defined here, and nothing of models/ outside this room is imported.

```python
calls = []
with watch(calls.append):
    loaded.run(ids, keep, segments)  # each attention reports its queries, keys, values, mask and function
```
"""

from models.attention.functions import AttentionFunction, DotProductAttention
from models.attention.running_layer import Stream
from models.attention.seam import AttentionCall, attend, attend_rows, editing, fused, report, row_blocks, watch, watched

__all__ = [
    "AttentionCall",
    "AttentionFunction",
    "DotProductAttention",
    "Stream",
    "attend",
    "attend_rows",
    "editing",
    "fused",
    "report",
    "row_blocks",
    "watch",
    "watched",
]
