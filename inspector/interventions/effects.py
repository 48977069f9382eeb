"""Effects of a change: on the model's predictions, on the head that moved most, and on the last hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector.text import Named, named

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions import Guess, Prediction


_ROUNDING = 1e-12  # smaller divergences and turns are rounding


@dataclass(frozen=True)
class HiddenGuesses:
    """Guesses for hidden tokens.

    token: the first of them, None where the text has the mask token itself; first: the likeliest guess there with its
    probability; rank, probability: of the true token. hidden: how many are hidden; right: how many come first.
    """

    token: str | None
    first: tuple[str, float]
    rank: int
    probability: float
    hidden: int
    right: int


@dataclass(frozen=True)
class TokenPrediction:
    """The probability of one token before and after a change.

    true: whether the text has the token there; after a text's end it is the one that was likeliest before.
    """

    token: str
    true: bool
    before: float
    after: float


@dataclass(frozen=True)
class MovedHead:
    """The head of a stream whose attention changed most.

    divergence: Jensen-Shannon, of its rows before and after, in nats: of the rows of the `hidden` hidden tokens, or of
    all where that is 0.
    """

    stream: str
    layer: int
    call: int
    head: int
    divergence: float
    hidden: int = 0


@dataclass(frozen=True)
class TurnedToken:
    """The token whose last hidden state turned most, 1 - cosine.

    others: True where some tokens were changed themselves, and this is one of the others.
    """

    token: Named
    turned: float
    others: bool


def guessed(guesses: Sequence[Guess], *, mask_token: str | None) -> HiddenGuesses:
    """Read the guesses for the hidden tokens; mask_token: the model's own."""
    first = guesses[0]
    return HiddenGuesses(
        token=None if first.token == mask_token else first.token,
        first=first.top[0],
        rank=first.rank,
        probability=first.probability,
        hidden=len(guesses),
        right=sum(guess.rank == 1 for guess in guesses),
    )


def predicted(prediction: Prediction) -> TokenPrediction:
    """Read a prediction before and after a change."""
    return TokenPrediction(
        prediction.before.token, prediction.true, prediction.before.probability, prediction.after.probability
    )


def moved(changed: pd.DataFrame, *, hidden: int = 0) -> MovedHead | None:
    """Read the table of `compare.changed_heads`; hidden: how many rows it is of; None where no head changed."""
    first = changed.iloc[0]
    if first["jensen_shannon"] <= _ROUNDING:
        return None
    call = int(first["call"]) if "call" in changed else 0
    layer, head = int(first["layer"]), int(first["head"])
    return MovedHead(str(first["stream"]), layer, call, head, float(first["jensen_shannon"]), hidden)


def turned(values: np.ndarray, *, tokens: Sequence[str], changed: Sequence[int] = ()) -> TurnedToken | None:
    """Read how far each token's last hidden state turned; changed: the places of the tokens that are others now.

    None where no other token turned.
    """
    others = [place for place in range(len(tokens)) if place not in set(changed)]
    if not others:
        return None
    most = max(others, key=lambda place: values[place])
    return TurnedToken(named(tokens, most), float(values[most]), len(changed) > 0) if values[most] > _ROUNDING else None
