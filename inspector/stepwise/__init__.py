"""Serial and parallel work: what waits for what in an LSTM, in teacher forcing, and in writing with a cache.

```python
import inspector, models
from inspector import stepwise

loaded = models.load("mini-gpt")
trace = inspector.record(loaded, "The cat sat on the mat because")
stepwise.compare(loaded, trace, tokens=5).largest  # one pass and step by step: the largest difference of a logit
stepwise.old_keys(loaded, trace)  # DataFrame: how far the old tokens' keys move when a token follows, by layer
stepwise.reads(loaded, trace, tokens=5)[0].counts  # queries read, and keys read: (5, 15)
stepwise.flops("lstm", tokens=128, width=256), stepwise.waiting("lstm", tokens=128)
stepwise.measure([32, 128], width=64).ratios("lstm", "attention")  # on this machine's clock
```
"""

from inspector.stepwise.forcing import WAYS, ForcedReading, compare, why_not
from inspector.stepwise.old_keys import KeyMoves, grown, moving
from inspector.stepwise.old_keys import compare as old_keys
from inspector.stepwise.reads import LayerReads, reads
from inspector.stepwise.serial import LAYERS, Layer, crossing, flops, table, waiting
from inspector.stepwise.timed import RUNS, Run, SerialTimes, measure

__all__ = [
    "LAYERS",
    "RUNS",
    "WAYS",
    "ForcedReading",
    "KeyMoves",
    "Layer",
    "LayerReads",
    "Run",
    "SerialTimes",
    "compare",
    "crossing",
    "flops",
    "grown",
    "measure",
    "moving",
    "old_keys",
    "reads",
    "table",
    "waiting",
    "why_not",
]
