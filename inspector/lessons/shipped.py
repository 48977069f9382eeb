"""The lessons that come along: an evening, the week before an interview, and what a researcher found in heads.

```python
shipped("evening").title.en  # "An evening with attention"
```
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from inspector.lessons.lesson import Lesson
from inspector.lessons.reading import read

SHIPPED = ("evening", "interview", "findings")
"""Names of the lessons that come along, as a link has them."""
_FOLDER = Path(__file__).parents[1] / "wording" / "lessons"


@cache
def shipped(name: str) -> Lesson:
    """Read one of the lessons that come along; KeyError for a name that none has."""
    if name not in SHIPPED:
        raise KeyError(name)
    return read((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
