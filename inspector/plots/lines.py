"""A head's weights as lines from its queries to its keys, in large type, for a slide.

```python
slide(weights, queries=tokens, keys=tokens, title="Layer 3, head 7").svg()
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from inspector.plots import theme
from inspector.plots.attention import Weights, check_labels
from inspector.plots.matrices import HEIGHT, WIDTH, heading_of
from inspector.plots.raster import largest, paint
from inspector.plots.scene import Line, Mark, Scene, Text
from inspector.plots.theme import Mode
from inspector.text import names_of

MOST = 32  # tokens of a side, beyond which their letters would be too small for a slide
_AXIS, _LABEL, _ROW, _MARGIN = 20, 22, 36, 32  # pixels of the letters, of a row at most, and below all
_BETWEEN = 520  # pixels from the queries to the keys, at most
_THICK = 6.0  # pixels of the largest weight's line
_SEEN = 0.01  # of the largest weight: a lighter line could not be seen


def slide(
    weights: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    caption: str = "",
    named: tuple[int | None, int] | None = None,
    mode: Mode = "light",
) -> Scene:
    """Lay out weights from 0 up [Q, T] as lines, thicker and darker with the weight, the largest on top.

    caption: a sentence below the title; named: the query and the key whose line and tokens are marked, or (None, key).
    Raises ValueError where the tokens do not fit the weights.
    """
    check_labels(weights, queries, keys)
    above, marks = heading_of(title, caption)
    upper = above + _AXIS + 16
    row = min(_ROW, (HEIGHT - _MARGIN - upper) / max(weights.shape))
    size = min(_LABEL, row / 1.15)
    left, right = (WIDTH - _BETWEEN) / 2, (WIDTH + _BETWEEN) / 2
    top, colours = largest(weights), paint(weights, mode=mode)
    for place in np.argsort(np.nan_to_num(weights, neginf=0.0), axis=None):
        query, key = np.unravel_index(place, weights.shape)
        share = float(weights[query, key]) / top
        if not share > _SEEN:
            continue
        ends = (left, upper + (query + 0.5) * row, right, upper + (key + 0.5) * row)
        if named == (query, key):
            marks += _framed(ends, _THICK * share, mode)
        marks.append(Line(*ends, "#{:02x}{:02x}{:02x}".format(*colours[query, key].tolist()), 0.6 + _THICK * share))
    marked = (None, None) if named is None else named
    sides: tuple[tuple[str, Sequence[str], float, Literal["start", "end"]], ...] = (
        ("query", queries, left - 12, "end"),
        ("key", keys, right + 12, "start"),
    )
    for (name, tokens, x, anchor), bold in zip(sides, marked, strict=True):
        marks.append(Text(x, upper - 14, name, _AXIS, theme.MUTED[mode], anchor))
        for at, shown in enumerate(names_of(tokens)):
            y = upper + (at + 0.5) * row + 0.35 * size
            marks.append(Text(x, y, shown, size, anchor=anchor, bold=at == bold))
    return Scene(WIDTH, HEIGHT, mode, marks)


def _framed(ends: tuple[float, float, float, float], weight: float, mode: Mode) -> list[Mark]:
    """Draw what lies under the line of the named cell, so that the line is framed."""
    return [Line(*ends, theme.TEXT[mode], weight + 6), Line(*ends, theme.BACKGROUND[mode], weight + 3)]
