"""Costs: parameters, FLOPs and bytes of each component of a model, from its configuration alone.

`parameters` counts the tensors of any loaded network, also of a model without formulas.

```python
breakdown(models.load("minilm").config, tokens=128)  # DataFrame
```
"""

from inspector.costs.clock import measure
from inspector.costs.derived import Crossovers, breakdown, by_length, crossovers
from inspector.costs.kv_cache import kv_cache
from inspector.costs.shelf import SHELF
from inspector.costs.tensors import parameters
from inspector.costs.training import training_step

__all__ = [
    "SHELF",
    "Crossovers",
    "breakdown",
    "by_length",
    "crossovers",
    "kv_cache",
    "measure",
    "parameters",
    "training_step",
]
