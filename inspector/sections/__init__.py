"""Sections: what a page tells and draws of a text, a model or a course, as values that any host can show.

```python
import inspector, models
from inspector.sections import registry
from inspector.sections.subject import Subject

loaded = models.load("minilm")
trace = inspector.record(loaded, "The cat sat on the mat.")
section = registry.section("block/added")
for block in section.blocks(Subject(trace, loaded, stream="encoder")):
    print(type(block).__name__)  # Sentence, Row, Note, Row, Table
inspector.sections.show("block/added", trace, loaded=loaded)  # in a notebook
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.sections.notebook import show

__all__ = ["show"]


def __getattr__(name: str) -> Any:
    """Import on first use: a page needs no notebook."""
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from inspector.sections.notebook import show

    return show
