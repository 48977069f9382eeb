"""A beam search as a tree that grows downward: a row for each step, a node for each text that the beam kept."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from inspector.generating.beams import BeamNode, BeamTree
from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import signed, token_name

_STEP, _NARROW_STEP = 46, 30  # pixels between two steps, of a short tree and of a long one
_LONG = 15  # steps
_LETTERS, _FEW_LETTERS = 8, 6  # of a token's name, up to four beams and beyond; the whole on hover


def tree(tree: BeamTree, *, mode: Mode = "light") -> go.Figure:
    """Every token that the beam kept; a line is the thicker, the likelier its token was after the text above.

    The text that won runs straight down at the left. What led to no text is grey and dotted; the last token of a text
    that the search could have answered with is a diamond, with the text's score.
    """
    lanes = _lanes(tree)
    kinds = [
        ("dropped", [i for i, node in enumerate(tree.nodes) if not node.alive], theme.MUTED[mode], "circle-open"),
        ("kept", [i for i, node in enumerate(tree.nodes) if node.alive and not node.best], theme.TEXT[mode], "circle"),
        ("won", [i for i, node in enumerate(tree.nodes) if node.best], theme.PART[mode]["prediction"], "circle"),
    ]
    width, steps = max(lanes) + 1, tree.nodes[-1].step
    letters = _LETTERS if width <= 4 else _FEW_LETTERS
    return go.Figure(
        [
            go.Scatter(
                x=[lanes[index] for index in indices],
                y=[tree.nodes[index].step for index in indices],
                mode="markers+text",
                name=name,
                text=[_label(tree.nodes[index], letters) for index in indices],
                textposition="middle right",
                textfont={"family": theme.TOKEN_FONT, "size": 12, "color": colour},
                customdata=[_hover(tree.nodes[index], name) for index in indices],
                hovertemplate="%{customdata}<extra></extra>",
                marker={
                    "color": colour,
                    "size": [11 if tree.nodes[index].hypothesis else 8 for index in indices],
                    "symbol": ["diamond" if tree.nodes[index].hypothesis else symbol for index in indices],
                },
            )
            for name, indices, colour, symbol in kinds
        ],
        layout={
            "template": theme.template(mode),
            "title": {"text": f"Beam search, {tree.beams} {'beam' if tree.beams == 1 else 'beams'}"},
            "shapes": [
                _edge(tree, index, lanes, colour=colour, dash="dot" if name == "dropped" else "solid")
                for name, indices, colour, _ in kinds
                for index in indices
            ],
            "xaxis": {"visible": False, "range": [-0.2, width - 0.1], "fixedrange": True},
            "yaxis": {
                "title": {"text": "step"},
                "range": [steps + 0.6, 0.3],
                "tickvals": list(range(1, steps + 1, 1 if steps <= 60 else 10)),
                "showgrid": False,
                "showline": False,
                "ticks": "",
            },
            "legend": {**theme.LEGEND_ABOVE, "traceorder": "reversed"},
            "margin": {"t": 84},
            "height": 130 + (_STEP if steps <= _LONG else _NARROW_STEP) * steps,
        },
    )


def _lanes(tree: BeamTree) -> list[int]:
    """Place each node in its row: under its parent where there is room, in the parents' order, so that no lines cross.

    The winning text comes first, dropped nodes come last.
    """
    rows = [list(row) for _, row in groupby(range(len(tree.nodes)), key=lambda index: tree.nodes[index].step)]
    width = max(len(row) for row in rows)
    lanes = [0] * len(tree.nodes)

    def above(index: int) -> int:
        parent = tree.nodes[index].parent
        return 0 if parent is None else lanes[parent]

    def order(index: int) -> tuple[int, bool, bool, float]:
        node = tree.nodes[index]
        return above(index), not node.best, not node.alive, -node.score

    for row in rows:
        free = 0
        for place, index in enumerate(sorted(row, key=order)):
            lanes[index] = max(free, min(above(index), width - len(row) + place))
            free = lanes[index] + 1
    return lanes


def _edge(tree: BeamTree, index: int, lanes: list[int], *, colour: str, dash: str) -> dict[str, Any]:
    """A curve from the parent down to the token; curves of one row have one shape, so that none crosses another."""
    node = tree.nodes[index]
    x, y = (0, 0.5) if node.parent is None else (lanes[node.parent], node.step - 1)
    return {
        "type": "path",
        "layer": "below",
        "path": f"M {x},{y} C {x},{node.step - 0.5} {lanes[index]},{node.step - 0.5} {lanes[index]},{node.step}",
        "line": {"color": colour, "dash": dash, "width": 1 + 7 * _probability(node)},
        "opacity": 0.35 if dash == "dot" else 0.75,
    }


def _probability(node: BeamNode) -> float:
    return math.exp(node.log_probability)


def _label(node: BeamNode, letters: int) -> str:
    token = token_name(node.token)
    token = token if len(token) <= letters else f"{token[: letters - 1]}…"
    return theme.literal(token) + (f"<br>{signed(node.score)}" if node.hypothesis else "")


def _hover(node: BeamNode, kind: str) -> str:
    meaning = {
        "dropped": "dropped: other texts were likelier",
        "kept": "kept",
        "won": "on the path that won",
    }[kind]
    if node.hypothesis:
        meaning = f"a finished text, {'ended' if node.over else 'cut at the limit'}" + (", won" if node.best else "")
    return "<br>".join(
        [
            f"step {node.step} {theme.literal(token_name(node.token))}",
            f"probability {_probability(node):.9g}, log {node.log_probability:.9g}",
            f"text so far: log {node.total:.9g}, score {node.score:.9g}",
            meaning,
        ]
    )
