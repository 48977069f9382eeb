"""Plain values: what the instrument gives as JSON, for programs in any language, in one schema.

```python
print(plain.printed(plain.heads(trace)))  # {"schema": 1, "kind": "heads", "recording": {...}, "heads": {...}}
plain.number(float("-inf"))  # "-Infinity"
```

Every document is an object with the schema's number and its kind. schema.json beside this file has the kinds; the
commands' `--json`, the tools of `inspector.mcp` and Python give the same documents. Rules that hold for all:

- A number that is not there (NaN) is null; infinities are the strings "Infinity" and "-Infinity", for JSON has neither.
- A number of float32 has the fewest digits that give the same float32 back.
- A table is {"columns": names, "rows": a list each}, and "left_out" rows where it was cut.
- A text is a string, letter by letter; sentences of the instrument are Markdown, with tokens in code.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.plain.of_models import catalogue, costs
    from inspector.plain.of_trace import (
        HeadPlace,
        about,
        cell,
        changed_heads,
        comparison,
        head_map,
        heads,
        norms,
        recording,
    )
    from inspector.plain.values import SCHEMA, document, matrix, number, printed, schema, table

_FILES = {
    **dict.fromkeys(("catalogue", "costs"), "of_models"),
    **dict.fromkeys(
        ("HeadPlace", "about", "cell", "changed_heads", "comparison", "head_map", "heads", "norms", "recording"),
        "of_trace",
    ),
    **dict.fromkeys(("SCHEMA", "document", "matrix", "number", "printed", "schema", "table"), "values"),
}
__all__ = [
    "SCHEMA",
    "HeadPlace",
    "about",
    "catalogue",
    "cell",
    "changed_heads",
    "comparison",
    "costs",
    "document",
    "head_map",
    "heads",
    "matrix",
    "norms",
    "number",
    "printed",
    "recording",
    "schema",
    "table",
]


def __getattr__(name: str) -> Any:
    """Import on first use: a command's --help needs neither torch nor pandas."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)
