"""Costs: parameters, FLOPs and bytes of each component of a model, from its configuration alone.

```python
breakdown(models.load("minilm").config, tokens=128)  # DataFrame
```
"""

from inspector.costs.derived import Crossovers, breakdown, by_length, crossovers

__all__ = ["Crossovers", "breakdown", "by_length", "crossovers"]
