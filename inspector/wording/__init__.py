"""Sentences for what inspector/readings found: a language is a folder, and a second language is a second folder.

A sentence is Markdown; every token of a text goes through `token`, which shows it letter by letter.

```python
from inspector.readings.attention import Grid
from inspector.wording import english

english.attention.grid(Grid(heads=72, counts={"[SEP]": 21, "other": 51}))
```
"""

from __future__ import annotations

import re

from inspector.plots.theme import cut, visible


def token(text: str) -> str:
    """Write a token in a sentence: as inline code, in which Markdown reads nothing, so that it stays as it is."""
    shown = cut(visible(text))
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or (shown != shown.strip() and shown.strip()) else ""
    return f"{fence}{space}{shown}{space}{fence}"
