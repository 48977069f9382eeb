"""Several texts at once: padded left or right, packed in one row, or one by one, and what that does to the numbers.

```python
import models
from inspector import batches

loaded = models.load("mini-bert")
texts = ["The cat sat on the mat because it was tired.", "Yes."]
batch = batches.read(loaded, texts, layout="right")
batch.seen(1, layer=0, head=0).to_padding  # the share of the 2nd text's weight that lies on padding: 0
batches.leaks(batch, layer=0, head=0)  # DataFrame: what it would be for every fill and dtype
```

`record_many` measures the heads of a list of texts, each by itself, and opens any of them.
`compare` holds each text's numbers to those of the text alone, `drift` reads the batch under other fills, `spread`
changes one token, `work` counts what a layout costs, and `measure` times it.
"""

from inspector.batches.cost import LayoutTimes, measure, work
from inspector.batches.differences import OWN_MASK, UNTOLD, compare, drift, spread
from inspector.batches.layouts import LAYOUTS, Batch, BatchRow, HeadView, Layout, packer, read
from inspector.batches.leaks import DTYPES, FILLS, leaks, nothing_to_see, own_fill, own_score
from inspector.batches.prompts import Prompts, record_many

__all__ = [
    "DTYPES",
    "FILLS",
    "LAYOUTS",
    "OWN_MASK",
    "UNTOLD",
    "Batch",
    "BatchRow",
    "HeadView",
    "Layout",
    "LayoutTimes",
    "Prompts",
    "compare",
    "drift",
    "leaks",
    "measure",
    "nothing_to_see",
    "own_fill",
    "own_score",
    "packer",
    "read",
    "record_many",
    "spread",
    "work",
]
