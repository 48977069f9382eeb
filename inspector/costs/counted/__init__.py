"""The count: a model's own code, run on the meta device (shapes alone, no weights), gives each product its component.

The one room of costs that runs models: networks of its own, which nobody else sees.

```python
counted = count(models.load("minilm").config)
counted.table(tokens=128)     # DataFrame
counted.polynomial("scores")  # coefficients of 1, n, n²
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.costs.counted.counting import Counted


def count(config: Any) -> Counted:
    """Count the FLOPs and parameters of a model from its configuration, by running its code without weights.

    config: of the project's Transformer, or of transformers. What the model's code multiplies is counted, whatever a
    mask hides of it. Experts are counted as many as a token chooses.

    Raises ValueError for a configuration that no model can be built from, or whose code does not run.
    """
    from inspector.costs.counted.counting import counted_of  # transformers, which takes seconds

    return counted_of(config)
