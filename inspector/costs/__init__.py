"""Costs: parameters, FLOPs and bytes of each component of a model, from its configuration alone.

`breakdown` has closed formulas for some families; `count` runs the code of any model without weights; `parameters`
counts the tensors of a loaded network; `measure` puts a layer on the clock.

```python
breakdown(models.load("minilm").config, tokens=128)  # DataFrame
count(models.load("minilm").config).table(tokens=128)  # the same products, counted
```
"""

from inspector.costs.clock import measure
from inspector.costs.counted import count, saved_bytes
from inspector.costs.derived import Crossovers, breakdown, by_length, crossovers
from inspector.costs.kv_cache import kv_cache
from inspector.costs.lengths import crossings, sweep
from inspector.costs.shelf import SHELF
from inspector.costs.tensors import parameters
from inspector.costs.training import training_step

__all__ = [
    "SHELF",
    "Crossovers",
    "breakdown",
    "by_length",
    "count",
    "crossings",
    "crossovers",
    "kv_cache",
    "measure",
    "parameters",
    "saved_bytes",
    "sweep",
    "training_step",
]
