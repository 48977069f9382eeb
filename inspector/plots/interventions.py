"""The effects of a change: guesses in a hidden token's place, predictions before and after, hidden states turned."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from inspector.interventions import Guess, Prediction
from inspector.plots import theme
from inspector.plots.chart import OUTLINE, Chart
from inspector.plots.theme import Mode
from inspector.text import cut, number, token_name

_ROW = 34  # pixels of a bar with its gap
_NUMBER = 72  # pixels beside the longest bar, for the number at its end
_OTHERS = 0.45  # opacity of the bars that are not the true token


def guesses(guess: Guess, *, mode: Mode = "light") -> go.Figure:
    """Draw the likeliest tokens at a masked position, likeliest on top, as bars of probability (no unit).

    The text's own token is drawn solid and named with its rank, below the others where it is not among them. The
    likeliest is outlined: the page's sentence names it.
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
        marker={
            "color": theme.PART[mode]["prediction"],
            "opacity": [1.0 if own else _OTHERS for own in true],
            "line": _outline([place == 0 for place in rows], mode),
        },
        text=[number(share) for share in shares],
        textposition="outside",
        cliponaxis=False,
        customdata=[[theme.literal(token), f"{rank:,}"] for rank, token, _ in candidates],
        hovertemplate="%{customdata[0]}<br>rank %{customdata[1]}<br>probability %{x:.6~g}<extra></extra>",
    )
    names = [_name(token, *([rank] if own else ())) for (rank, token, _), own in zip(candidates, true, strict=True)]
    return go.Figure(
        drawn, layout=_bars(names, title=f"Guesses for token {guess.position}", longest=max(shares), mode=mode)
    )


def predictions(found: Prediction, *, mode: Mode = "light") -> go.Figure:
    """Draw the likeliest tokens before and after a change, the likeliest before on top, as pairs of bars (no unit).

    Before is pale and hatched, after is solid; the token asked about is outlined, and named with its two ranks.
    """
    colour, rows = theme.PART[mode]["prediction"], list(range(len(found.candidates)))
    tokens = [token for token, _, _ in found.candidates]
    drawn = [
        go.Bar(
            name=name,
            x=shares,
            y=rows,
            orientation="h",
            marker={
                "color": colour,
                "opacity": opacity,
                "pattern": {"shape": hatch},
                "line": _outline([token == found.before.token for token in tokens], mode),
            },
            text=[number(share) for share in shares],
            textposition="outside",
            cliponaxis=False,
            customdata=[theme.literal(token) for token in tokens],
            hovertemplate="%{customdata}<br>" + name + " %{x:.6~g}<extra></extra>",
        )
        for name, shares, opacity, hatch in (
            ("before", [before for _, before, _ in found.candidates], _OTHERS, "/"),
            ("after", [after for _, _, after in found.candidates], 1.0, ""),
        )
    ]
    ranks = found.before.rank, found.after.rank
    names = [_name(token, *(ranks if token == found.before.token else ()), true=found.true) for token in tokens]
    longest = max(max(before, after) for _, before, after in found.candidates)
    layout = _bars(names, title="Before and after", longest=longest, mode=mode)
    legend = {**theme.LEGEND_ABOVE, "traceorder": "normal"}
    layout |= {"height": 130 + 46 * len(rows), "legend": legend, "margin": {"r": _NUMBER, "t": 76}}
    return go.Figure(drawn, layout=layout)


def _outline(named: Sequence[bool], mode: Mode) -> dict[str, Any]:
    """Return the outlines of bars, around what the page's sentence names alone."""
    return {"color": theme.TEXT[mode], "width": [OUTLINE if here else 0 for here in named]}


def _bars(names: Sequence[str], *, title: str, longest: float, mode: Mode) -> dict[str, Any]:
    """Return the layout of bars of probability, one under the other."""
    return {
        "template": theme.template(mode),
        "title": {"text": title},
        "xaxis": {
            "title": {"text": "probability"},
            "range": [0, longest],
            "tickformat": ".3~g",
            "tickangle": 0,
            "nticks": 4,
        },
        "margin": {"r": _NUMBER},
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "tickfont": {"family": theme.TOKEN_FONT, "size": 13, "color": theme.TEXT[mode]},
            "autorange": "reversed",
            "showgrid": False,
            "ticks": "",
        },
        "bargap": 0.25,
        "height": 120 + _ROW * len(names),
    }


def moved(
    turned: np.ndarray,
    *,
    tokens: Sequence[str],
    masked: Collection[int],
    names: tuple[str, str] = ("seen", "masked"),
    title: str = "How far each hidden state turned",
    quantity: str = "1 − cosine",
) -> Chart:
    """Draw how far each token's last hidden state turned, 1 - cosine [T], as bars; the masked tokens stand out in rose.

    names: of the other tokens, and of the masked tokens. title, quantity: where another quantity [T] is drawn.

    Raises ValueError where there are not as many values as tokens.
    """
    if len(turned) != len(tokens):
        raise ValueError(f"{len(turned)} values do not fit {len(tokens)} tokens; give one for each")
    places = np.arange(len(tokens))
    rows = pd.DataFrame({"position": places, "turned": turned, "masked": np.isin(places, list(masked))})
    return Chart(
        rows.sort_values("masked", kind="stable"),
        "position",
        "turned",
        "bars",
        by="masked",
        names=dict(enumerate(names)),
        parts={False: "residual", True: "prediction"},
        styles={True: 1},
        tokens=tokens,
        listed=bool(masked),
        x_title="token",
        y_title=quantity,
        title=title,
        from_zero=True,
        height=320,
    )


def _name(token: str, *ranks: int, true: bool = True) -> str:
    """Return a token as the name of a bar, with its ranks where the reader asked about it."""
    name = theme.literal(cut(token_name(token)))
    if not ranks:
        return f"{name} "
    places = " → ".join(f"{rank:,}" for rank in ranks)
    return f"<b>{name}</b> <br>{'true, ' if true else ''}rank {places} "
