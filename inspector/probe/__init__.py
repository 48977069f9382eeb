"""The probe: run a model on a text and record what its attention and its norms were given; the only room that hooks.

```python
trace = record(models.load("minilm"), "The cat sat on the mat.")
```
"""

from inspector.probe.blocks import record_blocks, record_head
from inspector.probe.inputs import ModelInputs, TextLimits, tokenize_inputs
from inspector.probe.projections import record_projections
from inspector.probe.recording import OnProgress, record, record_batch, record_inputs, record_rows
from inspector.probe.routing import record_routing
from inspector.probe.second_run import hold

__all__ = [
    "ModelInputs",
    "OnProgress",
    "TextLimits",
    "hold",
    "record",
    "record_batch",
    "record_blocks",
    "record_head",
    "record_inputs",
    "record_projections",
    "record_routing",
    "record_rows",
    "tokenize_inputs",
]
