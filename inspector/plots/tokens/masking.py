"""BERT's masking: one draw on a text, token by token."""

from __future__ import annotations

from math import ceil

import plotly.graph_objects as go

from inspector.masked_lm import ChosenToken, MaskingDraw
from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import number, visible

MOST = 60  # tokens that are drawn
_LINES = ("text", "reads", "guesses", "")
_BAND, _LINE = 4.8, 22  # lines of a row of tokens with the gap under it, and pixels of a line
_LONGEST = 8  # characters of a token in its cell
_FATES = {"masked": ("solid", 0.16), "random": ("dash", 0.0), "kept": ("solid", 0.0)}  # of the frame; its fill


def draw(drawn: MaskingDraw, *, across: int, mode: Mode = "light") -> go.Figure:
    """Draw the text in rows of at most `across` tokens.

    Under each chosen token stand what is read there, the first guess and its probability. What is read as [MASK] has a
    filled frame, another token a dashed frame, a token that stays a plain frame. Of a longer text the first 60 tokens
    are drawn.
    """
    figure, chosen = go.Figure(), {one.position: one for one in drawn.chosen}
    part, text, muted = theme.PART[mode], theme.TEXT[mode], theme.MUTED[mode]
    shown = range(min(len(drawn.tokens), MOST))
    rows = ceil(len(shown) / across)
    across = ceil(len(shown) / rows)
    places = [(at % across, -_BAND * (at // across)) for at in shown]
    figure.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        mode="text",
        text=[_cut(drawn.tokens[at]) for at in shown],
        textfont={"family": theme.TOKEN_FONT, "size": 12, "color": [text if at in chosen else muted for at in shown]},
        customdata=[_told(drawn.tokens[at], chosen.get(at)) for at in shown],
        hovertemplate="%{customdata}<extra></extra>",
    )
    for at in shown:
        if at in chosen:
            _cell(figure, chosen[at], *places[at], colour=part["prediction"], text=text)
    for row in range(rows):
        for line, name in enumerate(_LINES):
            figure.add_annotation(
                x=-0.62, y=-_BAND * row - line, text=name, showarrow=False, xanchor="right", font={"size": 12}
            ).update_annotations(font_color=muted)
    axis = {"visible": False, "fixedrange": True}
    return figure.update_layout(
        template=theme.template(mode),
        title_text="One draw of BERT's masking",
        xaxis={**axis, "range": [-1.35, across - 0.45]},
        yaxis={**axis, "range": [-_BAND * (rows - 1) - 3.7, 0.7]},
        showlegend=False,
        margin={"l": 4, "r": 4, "b": 4},
        height=60 + round(_LINE * (_BAND * (rows - 1) + 4.4)),
    )


def _cell(figure: go.Figure, one: ChosenToken, x: float, y: float, *, colour: str, text: str) -> None:
    """Add what is read in a chosen token's place, the first guess and its probability."""
    dash, fill = _FATES[one.fate]
    figure.add_shape(
        type="rect",
        x0=x - 0.46,
        x1=x + 0.46,
        y0=y - 0.55,
        y1=y - 1.45,
        line={"color": colour, "width": 1.5, "dash": dash},
        fillcolor=_faded(colour, fill),
        layer="below",
    )
    guessed, p = one.guess.top[0]
    right = one.guess.rank == 1
    lines = (_cut(one.read), _cut(guessed), f"{'✓' if right else '✗'} {p:.2f}")
    figure.add_scatter(
        x=[x] * 3,
        y=[y - 1, y - 2, y - 3],
        mode="text",
        text=lines,
        textfont={"family": theme.TOKEN_FONT, "size": 12, "color": [text, colour, colour]},
        customdata=[_told(one.token, one)] * 3,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _faded(colour: str, share: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def _cut(token: str) -> str:
    shown = visible(token)
    return theme.literal(shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…")


def _told(token: str, one: ChosenToken | None) -> str:
    """Write what hovering over a token tells."""
    if one is None:
        return f"{theme.literal(token)}<br>not chosen: nothing is predicted here"
    guesses = [f"{theme.literal(name)} {number(p)}" for name, p in one.guess.top]
    return (
        f"{theme.literal(token)}, read as {theme.literal(one.read)}: rank {one.guess.rank:,}, "
        f"p {number(one.guess.probability)}<br>{', '.join(guesses[:3])}<br>{', '.join(guesses[3:])}"
    )
