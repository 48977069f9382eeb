"""What masking a token does: the guesses in its place, what each head changes, how far each hidden state turned."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.interventions import Guess
from inspector.plots import theme
from inspector.plots.attention import Weights
from inspector.plots.packing import thumbnails
from inspector.plots.theme import Mode

_ROW = 34  # pixels of a bar with its gap
_OTHERS = 0.45  # opacity of the bars that are not the true token


def guesses(guess: Guess, *, mode: Mode = "light") -> go.Figure:
    """The likeliest tokens at a masked position, likeliest on top, as bars of probability (no unit).

    The text's own token is drawn solid and named with its rank, below the others where it is not one of them.
    """
    candidates = [(rank, token, share) for rank, (token, share) in enumerate(guess.top, start=1)]
    if all(token != guess.token for _, token, _ in candidates):
        candidates.append((guess.rank, guess.token, guess.probability))
    true = [token == guess.token for _, token, _ in candidates]
    shares = [share for _, _, share in candidates]
    rows = list(range(len(candidates)))
    drawn = go.Bar(
        x=shares,
        y=rows,
        orientation="h",
        marker={"color": theme.PART[mode]["prediction"], "opacity": [1.0 if own else _OTHERS for own in true]},
        text=[theme.number(share) for share in shares],
        textposition="outside",
        cliponaxis=False,
        customdata=[[theme.literal(token), f"{rank:,}"] for rank, token, _ in candidates],
        hovertemplate="%{customdata[0]}<br>rank %{customdata[1]}<br>probability %{x:.6~g}<extra></extra>",
    )
    names = [_name(token, rank, own) for (rank, token, _), own in zip(candidates, true, strict=True)]
    return go.Figure(
        drawn,
        layout={
            "template": theme.template(mode),
            "title": {"text": f"Guesses for token {guess.position}"},
            "xaxis": {"title": {"text": "probability"}, "range": [0, 1.2 * max(shares)], "tickformat": ".3~g"},
            "yaxis": {
                "tickmode": "array",
                "tickvals": rows,
                "ticktext": names,
                "tickfont": {"family": theme.TOKEN_FONT, "size": 13, "color": theme.TEXT[mode]},
                "autorange": "reversed",
                "showgrid": False,
                "ticks": "",
            },
            "bargap": 0.25,
            "height": 120 + _ROW * len(candidates),
        },
    )


def changes(layers: Sequence[tuple[Weights, Weights]]) -> tuple[NDArray[np.uint8], float]:
    """Small pictures of |after - before| of every head, [L, H, rows, cols] as packing.grid_bytes takes them, and their
    largest value, which is the last colour; layers: the maps [H, Q, T] of each layer before and after."""
    apart = [np.abs(after - before) for before, after in layers]
    top = max(float(layer.max()) for layer in apart)
    heads, queries, keys = apart[0].shape
    scaled = [np.divide(layer, top or 1.0, dtype=np.float32) for layer in apart]
    return thumbnails(scaled, count=len(layers), heads=heads, queries=queries, keys=keys), top


def moved(turned: np.ndarray, *, tokens: Sequence[str], masked: Collection[int], mode: Mode = "light") -> go.Figure:
    """How far each token's last hidden state turned, 1 - cosine [T], as bars; the masked tokens stand out in rose.

    Raises ValueError where there are not as many values as tokens.
    """
    if len(turned) != len(tokens):
        raise ValueError(f"{len(turned)} values do not fit {len(tokens)} tokens; give one for each")
    part = theme.PART[mode]
    places = np.arange(len(tokens))
    figure = go.Figure()
    for name, colour, hidden in (("seen", part["residual"], False), ("masked", part["prediction"], True)):
        chosen = np.isin(places, list(masked)) == hidden
        figure.add_bar(
            x=[theme.token_names(tokens)[place] for place in places[chosen]],
            y=turned[chosen],
            name=name,
            marker={"color": colour, "pattern": {"shape": "/" if hidden else ""}},
            hovertemplate="%{x}<br>1 − cosine %{y:.3g}<extra></extra>",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="How far each hidden state turned",
        xaxis={
            **theme.token_axis(tokens, title="token"),
            "tickangle": -90,
            "categoryorder": "array",
            "categoryarray": theme.token_names(tokens),
        },
        yaxis={"title": {"text": "1 − cosine"}, "rangemode": "tozero", "tickformat": ".3~g"},
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        bargap=0.2,
        height=340,
    )


def _name(token: str, rank: int, true: bool) -> str:
    shown = theme.visible(token)
    shown = shown if len(shown) <= theme.LONGEST_TICK else f"{shown[: theme.LONGEST_TICK - 1]}…"
    return f"<b>{theme.literal(shown)}</b> <br>true, rank {rank:,} " if true else f"{theme.literal(shown)} "
