"""One look for every figure: colours that mean the same everywhere, colour scales.

The hex stops were made in OKLab (Ottosson 2020, "A perceptual color space for image processing"): each scale keeps one
hue and takes equal steps of lightness, so that equal differences of a value look equally different, in colour and in
grey. The tests measure this in CIELAB.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import plotly.graph_objects as go

from inspector.text import cut, token_name, visible

Mode = Literal["light", "dark"]
Scale = Literal["linear", "sqrt"]

TEXT_FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
TOKEN_FONT = '"Source Code Pro", ui-monospace, monospace'

BACKGROUND: dict[Mode, str] = {"light": "#ffffff", "dark": "#14151a"}
TEXT: dict[Mode, str] = {"light": "#1c1d22", "dark": "#e8e8ee"}
MUTED: dict[Mode, str] = {"light": "#5c5e6b", "dark": "#a3a5b5"}
GRID: dict[Mode, str] = {"light": "#e6e6ee", "dark": "#2b2d38"}
PRIMARY: dict[Mode, str] = {"light": "#4a3fc5", "dark": "#9d95ff"}

SEQUENTIAL: dict[str, tuple[str, ...]] = {
    "light": (
        *("#ffffff", "#e6e9ff", "#ced4fe", "#b6beff", "#9fa7ff", "#898ffe", "#7679f4"),
        *("#6563e6", "#554ed5", "#463abf", "#3929a5", "#2b1c87", "#1f1068"),
    ),
    "dark": (
        *("#14151a", "#212133", "#2f2d53", "#3d3972", "#4d4692", "#5c55af", "#6d65cb"),
        *("#7e76e3", "#908af7", "#a3a0ff", "#b8b8ff", "#cecffe", "#e4e5ff"),
    ),
}
"""The scale of values from 0 up, from the background to deep indigo (light) or pale indigo (dark)."""

DIVERGING: dict[str, tuple[str, ...]] = {
    "light": (
        *("#713f00", "#975500", "#be6d03", "#e18a2f", "#f1b178", "#fad8bb", "#ffffff"),
        *("#d8ddfe", "#b2baff", "#8f96fa", "#7173ea", "#5652d0", "#3f35ab"),
    ),
    "dark": (
        *("#ffba7d", "#e69340", "#be7425", "#94581a", "#684019", "#3d2a19", "#14151a"),
        *("#2c2c42", "#464473", "#625fa4", "#7f7bd2", "#9f9bfc", "#c3c4fe"),
    ),
}
"""The scale of signed values: amber below zero, the background at zero, indigo above; safe for all colour vision."""

PART: dict[Mode, dict[str, str]] = {
    "light": {
        **{"attention": "#4a3fc5", "q": "#332492", "k": "#463eac", "v": "#5a56c7", "scores": "#6f6fe2"},
        **{"softmax": "#7a7bf0", "sigmoid": "#7a7bf0", "mix": "#8688fe", "out": "#a2a8fe"},
        **{"ffn": "#cf7c00", "up": "#a56205", "gate": "#bb7000", "activation": "#cf7c00", "down": "#f19b37"},
        **{"norm": "#05837e", "positions": "#9f3ebb", "position_embedding": "#9f3ebb"},
        **{"residual": "#70717a", "embedding": "#70717a", "token_embedding": "#70717a", "segment_embedding": "#9c9ea8"},
        **{"prediction": "#d5305f", "head": "#d5305f", "lm_head": "#d5305f", "pooler": "#d5305f"},
        **{"router": "#8a5a2b", "patch": "#70717a", "bias": "#9c9ea8", "scale": "#9c9ea8"},
    },
    "dark": {
        **{"attention": "#9d95ff", "q": "#cfd4fe", "k": "#b2b8ff", "v": "#969bfe", "scores": "#7e7ff4"},
        **{"softmax": "#7373e8", "sigmoid": "#7373e8", "mix": "#6968da", "out": "#5550c0"},
        **{"ffn": "#df911a", "up": "#feb251", "gate": "#eca034", "activation": "#df911a", "down": "#b87501"},
        **{"norm": "#30c6bf", "positions": "#d58deb", "position_embedding": "#d58deb"},
        **{"residual": "#9c9ea8", "embedding": "#9c9ea8", "token_embedding": "#9c9ea8", "segment_embedding": "#70717a"},
        **{"prediction": "#f97f95", "head": "#f97f95", "lm_head": "#f97f95", "pooler": "#f97f95"},
        **{"router": "#c79a6b", "patch": "#9c9ea8", "bias": "#70717a", "scale": "#70717a"},
    },
}
"""The colour of each part or component of a model, by its name in costs."""

HEADS: dict[Mode, tuple[str, ...]] = {
    "light": ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#5c3a00", "#56b4e9"),
    "dark": ("#2f86d0", "#ff7a2e", "#35d0a0", "#d070b0", "#f7d85a", "#a9dcff"),
}
"""The colours of several heads in one picture, after Okabe & Ito 2008: every kind of colour vision tells them apart."""

POSITIONS: dict[Mode, tuple[str, ...]] = {
    "light": ("#58016d", "#72018b", "#8721a1", "#9b3ab7", "#b04fcc", "#c665e3", "#dc7af9", "#e79cfe"),
    "dark": ("#f7deff", "#efbeff", "#e89cff", "#d684ee", "#c070d9", "#ac5cc3", "#9748af", "#83349a"),
}
"""The violet of positions from strong to faint in equal steps of lightness, for as many curves as stay apart."""

SCALES: Mapping[str, Mapping[Any, tuple[str, ...]]] = {
    "sequential": SEQUENTIAL,
    "diverging": DIVERGING,
    "heads": HEADS,
    "positions": POSITIONS,
}
MOST_TICKS = 40


def ink(name: str, mode: Mode) -> str:
    """Return the colour of a part of a model, of "text", "muted" and "primary", or a scale's stop, "sequential 7"."""
    scale, _, stop = name.partition(" ")
    if stop:
        return SCALES[scale][mode][int(stop)]
    others = {"text": TEXT[mode], "muted": MUTED[mode], "primary": PRIMARY[mode]}
    return (others | PART[mode])[name]


@cache  # a figure copies it
def template(mode: Mode) -> go.layout.Template:
    """The plotly template of all figures: page background, quiet grid, no chart junk, room for every label."""
    axis = {
        "automargin": True,
        "gridcolor": GRID[mode],
        "linecolor": MUTED[mode],
        "showline": True,
        "tickcolor": MUTED[mode],
        "tickfont": {"size": 12, "color": MUTED[mode]},
        "ticks": "outside",
        "ticklen": 4,
        "title": {"font": {"size": 14, "color": TEXT[mode]}, "standoff": 10},
        "zeroline": False,
    }
    part = PART[mode]
    return go.layout.Template(
        layout={
            "font": {"family": TEXT_FONT, "size": 14, "color": TEXT[mode]},
            "title": {"font": {"size": 16}, "x": 0, "xref": "container", "xanchor": "left", "y": 1},
            "title_yanchor": "top",
            "title_yref": "container",
            "title_pad": {"t": 14, "l": 14},
            "title_subtitle_font": {"size": 13, "color": MUTED[mode]},
            "paper_bgcolor": BACKGROUND[mode],
            "plot_bgcolor": BACKGROUND[mode],
            "colorway": [part[name] for name in ("attention", "ffn", "norm", "positions", "residual", "prediction")],
            "xaxis": axis,
            "yaxis": axis,
            "margin": {"l": 16, "r": 16, "t": 56, "b": 16},
            "legend": {"font": {"size": 13}, "bgcolor": "rgba(0,0,0,0)", "title": {"font": {"size": 13}}},
            "hoverlabel": {
                "bgcolor": BACKGROUND[mode],
                "bordercolor": MUTED[mode],
                "font": {"family": TEXT_FONT, "size": 13, "color": TEXT[mode]},
            },
            "hovermode": "closest",
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": MUTED[mode], "activecolor": PRIMARY[mode]},
        }
    )


def plotly_scale(stops: Sequence[str]) -> list[list[float | str]]:
    """Hex stops, evenly spaced -> plotly's colour scale, [[0.0, first], ..., [1.0, last]]."""
    return [[index / (len(stops) - 1), stop] for index, stop in enumerate(stops)]


def root_scale(stops: Sequence[str], *, signed: bool = False) -> list[list[float | str]]:
    """`plotly_scale` for the square root: stops stand at squares, so that z, and the number on hover, stay the value.

    signed: the root of the distance from the middle, for a diverging scale.
    """
    if not signed:
        return [[float(at) ** 2, stop] for at, stop in plotly_scale(stops)]
    arms = [(2 * float(at) - 1, stop) for at, stop in plotly_scale(stops)]  # -1 to 1
    return [[0.5 + 0.5 * arm * abs(arm), stop] for arm, stop in arms]


LEGEND_ABOVE = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"}
"""A short legend in one row above the plot, at its right: the plot keeps its width."""
LEGEND_BELOW = {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.2, "yanchor": "top"}
"""A long legend under the plot, in as many rows as the width asks for."""


def colour_bar(mode: Mode, title: str, *, tickformat: str = ".3~g") -> dict[str, Any]:
    """The colour bar beside a heatmap; its title says what the colours measure, with the unit."""
    return {
        "title": {"text": title, "side": "right", "font": {"size": 13}},
        "thickness": 12,
        "outlinewidth": 1,
        "outlinecolor": MUTED[mode],
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": MUTED[mode],
        "tickfont": {"size": 12, "color": MUTED[mode]},
        "tickformat": tickformat,
    }


def literal(text: str) -> str:
    """A token as plotly shows it letter by letter: no HTML, no MathJax between dollar signs, nothing invisible."""
    # Quotes stay: plotly does not read &quot;, and text is never put into an attribute.
    return html.escape(visible(text), quote=False).replace("$", "&#36;")


def token_names(tokens: Sequence[str]) -> list[str]:
    """Position and token of each, "3 sat": tokens repeat, the categories of a plotly axis must not."""
    return [f"{position} {literal(token_name(token))}" for position, token in enumerate(tokens)]


def token_axis(tokens: Sequence[str], *, title: str) -> dict[str, Any]:
    """A plotly axis over `token_names`: tokens as tick labels, cut when long, thinned beyond 40; whole on hover."""
    step = math.ceil(len(tokens) / MOST_TICKS)
    ticks = range(0, len(tokens), step)
    # A hair beside the middle of its cell (a tenth of a pixel at most): plotly's hover would else show the cut label.
    hair = len(tokens) / 5000
    return {
        "type": "category",
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": [position + hair for position in ticks],
        "ticktext": [_tick(tokens[position], position, numbered=step > 1) for position in ticks],
        "tickfont": {"family": TOKEN_FONT, "size": 12},
        "showgrid": False,
        "ticks": "",
    }


def _tick(token: str, position: int, *, numbered: bool) -> str:
    name = literal(cut(token_name(token)))
    return f"{position} {name}" if numbered else name
