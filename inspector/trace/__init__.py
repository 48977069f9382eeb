"""The trace: all that was recorded of one text in one model, read-only. Maps are computed again from it, exactly.

```python
trace = inspector.record(models.load("minilm"), "The cat sat on the mat.")
trace.attention(layer=3, head=7)  # float32 [query, key]
```
"""

from inspector.trace.counting import places
from inspector.trace.given import ROUNDING, from_attention
from inspector.trace.mixers import MixerBlock, MixerRecord, MixerSite
from inspector.trace.padded import PaddedBatch
from inspector.trace.recompute import Array, AttentionRecord, AttentionSite, WeightBlock
from inspector.trace.trace import GIVEN, HALF, NormRecord, Refusal, StateRecord, Trace, read_only

__all__ = [
    "GIVEN",
    "HALF",
    "ROUNDING",
    "Array",
    "AttentionRecord",
    "AttentionSite",
    "MixerBlock",
    "MixerRecord",
    "MixerSite",
    "NormRecord",
    "PaddedBatch",
    "Refusal",
    "StateRecord",
    "Trace",
    "WeightBlock",
    "from_attention",
    "places",
    "read_only",
]
