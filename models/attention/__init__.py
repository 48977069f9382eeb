"""Attention: the seam that every model's attention passes, and the arithmetic of one head.

```python
calls = []
with watch(calls.append):
    loaded.run(ids)  # each attention of the forward reports its queries, keys, values, mask and function
```
"""

from models.attention.functions import AttentionFunction, DotProductAttention
from models.attention.seam import (
    AttentionCall,
    MultiHeadAttention,
    add_up,
    attend,
    attend_rows,
    concatenate,
    fused,
    report,
    row_blocks,
    watch,
    watched,
)

__all__ = [
    "AttentionCall",
    "AttentionFunction",
    "DotProductAttention",
    "MultiHeadAttention",
    "add_up",
    "attend",
    "attend_rows",
    "concatenate",
    "fused",
    "report",
    "row_blocks",
    "watch",
    "watched",
]
