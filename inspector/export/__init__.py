"""Export: an interactive page, a picture, a table, a report, Python lines, or a notebook cell of what is on the page.

```python
inspector.export.write(trace, "attention.html", layer=3, head=7)
inspector.report(trace, "report.html", loaded=loaded)  # all sections about the text
page = inspector.export.sheet(answers, model="MiniLM", text=text)  # of inspector.questions, to print
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.export.files import csv, ending_of, html, write
    from inspector.export.notebook import show
    from inspector.export.questions_sheet import sheet
    from inspector.export.text_report import report

__all__ = ["csv", "ending_of", "html", "report", "sheet", "show", "write"]
_ROOMS = {"report": "text_report", "show": "notebook", "sheet": "questions_sheet"}


def __getattr__(name: str) -> Any:
    """Import on first use: a table needs neither torch nor the drawing."""
    if name == "questions_sheet":  # a module, with a command of its own
        return importlib.import_module(f"{__name__}.questions_sheet")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_ROOMS.get(name, 'files')}"), name)
