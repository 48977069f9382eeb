"""One cell of a map as a figure: a query, a key, and what each dimension of the two gives to their score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from inspector.explain import Explanation, WeightStep
from inspector.plots import theme
from inspector.plots.attention import title
from inspector.plots.chart import Chart, Panels
from inspector.plots.scene import Box, Line, Mark, Scene, Text, width
from inspector.plots.theme import Mode
from inspector.text import cut, signed, token_name

_FAINT = 0.45  # opacity of the products that are not needed to reach most of the dot product


def formula(cell: Explanation, step: WeightStep) -> str:
    """Write a step as what it is, with its number: "× 1/√32 = 0.177", "− log Σ exp = 3.84"."""
    by = "" if step.operand is None else signed(step.operand)
    match step.name:
        case "dot product":
            return "φ(q) · φ(k)" if any(one.name == "logarithm" for one in cell.steps) else "q · k"
        case "score":
            return "score s"
        case "scale" if cell.divides:
            return f"× 1/√{len(cell.products)} = {by}"
        case "scale":
            return "× 1 (no scale)" if step.operand == 1 else f"× {by}"
        case "soft-cap":
            return f"soft-cap at {by}"
        case "bias":
            return f"+ bias = {by}"
        case "mask":
            return "mask"
        case "logarithm":
            return "ln: the score"
        case "keys":
            return f"− ln n = {by}"
        case "normaliser" if not cell.normalised:
            return f"− log (1 + exp) = {by}"
        case "normaliser" if cell.sink is None:
            return f"− log Σ exp = {by}"
        case "normaliser":
            return f"− log (Σ exp + e^sink) = {by}"
    return "exp: the weight"


def seen_steps(cell: Explanation) -> list[int]:
    """Return the steps to show: all of them, the mask only where it hides the key."""
    return [at for at, step in enumerate(cell.steps) if step.name != "mask" or cell.hidden is not None]


def seen_keys(cell: Explanation, *, most: int) -> list[int]:
    """Return the keys to show beside the chosen one, in the text's order: of more than `most`, the largest weights."""
    weights = cell.row[-1]
    if len(weights) <= most:
        return list(range(len(weights)))
    others = [int(key) for key in np.argsort(-weights, kind="stable") if key != cell.key]
    return sorted([cell.key, *others[: most - 1]])


def vectors(cell: Explanation, *, largest_first: bool = False) -> Panels:
    """Three rows of bars over the E dimensions of the head: q, k, and the product that each dimension adds.

    Products above zero are indigo, those below amber; those that together reach 80 % of the dot product are in full
    colour. largest_first: dimensions by the size of their product, not by number. Raises ValueError where the vectors
    are not known.
    """
    width = len(cell.products)
    if not width:
        raise ValueError("this attention was seen as scores alone, so there are no vectors to draw")
    order = np.argsort(-np.abs(cell.products), kind="stable") if largest_first else np.arange(width)
    rows = pd.DataFrame({"q": cell.q, "k": cell.k, "product": cell.products}).iloc[order]
    rows = rows.assign(
        place=range(width), above=rows["product"] > 0, opacity=np.where(np.isin(order, cell.carriers()), 1.0, _FAINT)
    )
    both = Chart(
        rows,
        "place",
        "q",
        "bars",
        parts={"q": "q", "k": "k", True: "diverging 11", False: "diverging 1"},
        places=[str(dimension) for dimension in order],
        x_title="dimension of the head, largest product first" if largest_first else "dimension of the head",
        y_marks={"": 0},
    )
    charts = [replace(both, y=name, y_title=name) for name in ("q", "k")]
    charts.append(replace(both, y="product", y_title="product", each="above", opacity="opacity"))
    return Panels(charts, "", height=424)


_WIDTH, _HEIGHT, _MARGIN = 1280, 720, 48
_MOST = 14  # keys on a slide
_PAD, _ARROW = 18, 40  # inside a box; between two


def slide(cell: Explanation, *, mode: Mode = "light") -> Scene:
    """Lay out the way to the weight for a slide: the steps in a row, and under them the weights of the query's keys."""
    site = cell.site
    tokens = [cut(token_name(token)) for token in (site.queries[cell.query], site.keys[cell.key])]
    place = title(site.layer, cell.head, call=site.call).lower()
    heading = f"Why ‘{tokens[0]}’ gives ‘{tokens[1]}’ {signed(cell.weight)} of its attention: {place}"
    size = min(34.0, 34.0 * (_WIDTH - 2 * _MARGIN) / width(heading, 36))
    marks: list[Mark] = [Text(_MARGIN, 82, heading, size, bold=True)]
    return Scene(_WIDTH, _HEIGHT, mode, [*marks, *_boxes(cell, mode), *_weights(cell, mode)])


def _boxes(cell: Explanation, mode: Mode) -> list[Mark]:
    """Draw the steps in a row as large as the slide lets them be."""
    shown = [(formula(cell, cell.steps[at]), signed(cell.steps[at].value)) for at in seen_steps(cell)]
    between = _ARROW * (len(shown) - 1) + 2 * _PAD * len(shown)
    letters = sum(max(1.1 * width(name, 22), width(value, 36)) for name, value in shown)
    times = min(1.0, (_WIDTH - 2 * _MARGIN - between) / letters)
    marks: list[Mark] = []
    x, y, height = float(_MARGIN), 120.0, 104.0
    for at, (name, value) in enumerate(shown):
        wide = times * max(1.1 * width(name, 22), width(value, 36)) + 2 * _PAD
        last = at == len(shown) - 1
        frame = theme.PRIMARY[mode] if last else theme.MUTED[mode]
        marks.append(Box(x, y, wide, height, stroke=frame, weight=3 if last else 1.5, radius=10))
        marks.append(Text(x + _PAD, y + 36, name, 22 * times, theme.MUTED[mode]))
        marks.append(Text(x + _PAD, y + 82, value, 36 * times, bold=True))
        if not last:
            marks.append(Text(x + wide + _ARROW / 2, y + 62, "→", 26, theme.MUTED[mode], anchor="middle"))
        x += wide + _ARROW
    return marks


def _weights(cell: Explanation, mode: Mode) -> list[Mark]:
    """Draw the weights of the query's keys as bars, the chosen key's in full colour."""
    keys = seen_keys(cell, most=_MOST)
    values = cell.row[-1][keys]
    left, right, upper = 250.0, 1130.0, 300.0
    high = min(44.0, (_HEIGHT - _MARGIN - upper) / len(keys))
    size = min(22.0, 0.8 * high)
    every = "all keys" if len(keys) == len(cell.row[-1]) else f"{len(keys)} of {len(cell.row[-1])} keys"
    top = float(values.max()) or 1.0
    marks: list[Mark] = [Text(left, upper - 22, f"weights of {every} of this query", 20, theme.MUTED[mode])]
    for place, (key, value) in enumerate(zip(keys, values.tolist(), strict=True)):
        y, chosen = upper + place * high, key == cell.key
        colour = theme.PRIMARY[mode] if chosen else theme.PART[mode]["out" if mode == "light" else "mix"]
        base = y + 0.5 * high + 0.35 * size
        token = cut(token_name(cell.site.keys[key]))
        marks.append(Text(left - 14, base, token, size, anchor="end", bold=chosen))
        marks.append(Box(left, y + 0.12 * high, max(1.0, (right - left) * value / top), 0.76 * high, fill=colour))
        end = left + (right - left) * value / top
        marks.append(Text(end + 10, base, signed(value), size, bold=chosen))
    return [*marks, Line(left, upper - 4, left, upper + high * len(keys) + 4, theme.MUTED[mode])]
