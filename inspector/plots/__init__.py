"""Drawing: numbers in, a plotly figure or pixels out. Nothing here runs a model or knows of the page.

```python
inspector.plots.attention.heatmap(trace, layer=3, head=7)  # plotly Figure
```
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

__all__ = sorted(module.name for module in pkgutil.iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    """Import on first use: `inspector.plots.costs` needs no Pillow, `inspector.plots.raster` no plotly."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
