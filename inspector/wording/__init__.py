"""Sentences for what inspector/readings found: a language is a folder, and a second language is a second folder.

A sentence is Markdown; every token of a text goes through `token`, which shows it letter by letter.

```python
from inspector.readings.attention import Grid
from inspector.wording.english import attention as words

words.grid(Grid(heads=72, counts={"previous": 21, "broad": 4}, tokens={}))
```
"""

from __future__ import annotations

import re

from inspector.plots.theme import cut, visible


def token(text: str) -> str:
    """Write a token in a sentence: as inline code, in which Markdown reads nothing, so that it stays as it is."""
    spaceless = text.lstrip("▁Ġ") or text  # the marks of a space before the token
    shown = cut(visible(spaceless))
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or (shown != shown.strip() and shown.strip()) else ""
    return f"{fence}{space}{shown}{space}{fence}"
