"""Costs: parameters, FLOPs and bytes of each component of a model, from its configuration alone.

`parameters` counts the tensors of any loaded network, also of a model without formulas.

```python
breakdown(models.load("minilm").config, tokens=128)  # DataFrame
```
"""

from inspector.costs.derived import Crossovers, breakdown, by_length, crossovers
from inspector.costs.tensors import parameters

__all__ = ["Crossovers", "breakdown", "by_length", "crossovers", "parameters"]
