"""The predictions of a model before and after a change.

p = softmax(logits) over the V tokens of the vocabulary, in float64, from the last hidden state at a position: of the
token that is hidden there (a masked language model), or of the one that comes next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from inspector.interventions.change import Change
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import token_names

Float64Array = NDArray[np.float64]

TOP = 5  # guesses that are kept of each token
_ROWS = 64  # positions at once: the logits of each are V numbers


@dataclass(frozen=True)
class Guess:
    """A model's prediction at one position, as probabilities over its whole vocabulary.

    token: the one that is asked about, what the text has there; probability: its share, 0..1; rank: 1 where no token of
    the vocabulary is likelier. top: the likeliest (token, probability), falling. vocabulary: V, how many it chose from.
    """

    position: int
    token: str
    probability: float
    rank: int
    top: tuple[tuple[str, float], ...]
    vocabulary: int
    surprise: float  # -log2 p in bits, known where p is too small for a float64


@dataclass(frozen=True)
class Prediction:
    """A model's predictions at one position before and after a change; both guesses rate the same token.

    true: whether the text has that token there; after a text's end it is the one that was likeliest before.
    divergence: KL(p || p') = sum p log2(p / p') of the two distributions, in bits, 0 for equal ones (Kullback & Leibler
    1951). candidates: (token, probability before, probability after) of all that are among the likeliest of either,
    and of the token asked about, the likeliest before first.
    """

    before: Guess
    after: Guess
    true: bool
    divergence: float
    candidates: tuple[tuple[str, float, float], ...]

    @property
    def surprise(self) -> float:
        """The bits by which the token surprises more after the change: log2(p / p')."""
        return self.after.surprise - self.before.surprise


def predict(loaded: LoadedModel, change: Change, *, position: int | None = None, top: int = TOP) -> Prediction:
    """Predict a position of `change.truths`, by default the last, before and after the change.

    Raises ValueError for a model that predicts nothing, and a position where nothing is to be predicted.
    """
    _check(loaded, change)
    place = max(change.truths) if position is None else position
    if place not in change.truths:
        allowed = ", ".join(map(str, sorted(change.truths)))
        raise ValueError(f"nothing is predicted at position {place}, or not of the same token; choose one of {allowed}")
    (p,), (q,) = (
        np.concatenate(list(_logs(loaded, trace, [at])))
        for trace, at in ((change.before, place), (change.after, change.later(place)))
    )
    true = change.truths[place]
    asked = int(p.argmax()) if true is None else true
    before, after = _guess(loaded, place, asked, p, top=top), _guess(loaded, change.later(place), asked, q, top=top)
    ids = {int(id): None for row in (p, q) for id in _likeliest(row, top)} | {asked: None}
    ordered = sorted(ids, key=lambda id: -p[id])
    names = token_names(loaded.tokenizer, ordered)
    candidates = tuple(
        (name, float(np.exp(p[id])), float(np.exp(q[id]))) for name, id in zip(names, ordered, strict=True)
    )
    return Prediction(before, after, true is not None, _divergence(p, q), candidates)


def prediction_table(prediction: Prediction) -> pd.DataFrame:
    """The candidates, a row each: token, probability before and after (0..1), whether it is the one asked about."""
    table = pd.DataFrame(list(prediction.candidates), columns=["token", "before", "after"])
    return table.assign(asked=table["token"] == prediction.before.token)


def surprises(loaded: LoadedModel, change: Change) -> pd.DataFrame:
    """Every position where the model predicts: how much the true token surprises before and after, and the divergence.

    before, after: -log2 p of the true token in bits, NaN after a text's end; divergence: as in Prediction, in bits.
    Columns: position, token (that is read there), truth, before, after, divergence.

    Raises ValueError for a model that predicts nothing.
    """
    _check(loaded, change)
    places = sorted(change.truths)
    reads = (change.before.target or change.before.encoding).tokens
    both = zip(
        _logs(loaded, change.before, places),
        _logs(loaded, change.after, [change.later(place) for place in places]),
        strict=True,
    )
    rows = [pair for blocks in both for pair in zip(*blocks, strict=True)]
    lines = []
    for place, (p, q) in zip(places, rows, strict=True):
        true = change.truths[place]
        bits = (np.nan, np.nan) if true is None else tuple(float(-row[true] / np.log(2)) for row in (p, q))
        truth = None if true is None else token_names(loaded.tokenizer, [true])[0]
        lines.append((place, reads[place], truth, *bits, _divergence(p, q)))
    return pd.DataFrame(lines, columns=["position", "token", "truth", "before", "after", "divergence"])


def guesses(loaded: LoadedModel, trace: Trace, asked: Iterable[tuple[int, int]], *, top: int) -> tuple[Guess, ...]:
    """A guess for each (position, id of the true token)."""
    asked = list(asked)
    rows = (row for block in _logs(loaded, trace, [position for position, _ in asked]) for row in block)
    return tuple(
        _guess(loaded, position, true, row, top=top) for (position, true), row in zip(asked, rows, strict=True)
    )


def _check(loaded: LoadedModel, change: Change) -> None:
    if loaded.predict is None:
        raise ValueError(f"{loaded.card.id} has no head that predicts tokens: compare its maps and hidden states")
    if not change.truths:
        raise ValueError(f"no token is hidden from {loaded.card.id}, so it predicts none; name one with hidden=")


def _logs(loaded: LoadedModel, trace: Trace, positions: Sequence[int]) -> Iterator[Float64Array]:
    """Natural logarithms of the shares of all tokens, in blocks of positions: float64 [rows, V]."""
    for start in range(0, len(positions), _ROWS):
        assert loaded.predict is not None
        with torch.inference_mode():
            logits = loaded.predict(trace.hidden[None, list(positions[start : start + _ROWS])])[0]
            logs: Float64Array = logits.double().log_softmax(dim=-1).cpu().numpy()
        yield logs


def _likeliest(logs: Float64Array, top: int) -> list[int]:
    likeliest: list[int] = np.argsort(-logs, kind="stable")[:top].tolist()
    return likeliest


def _guess(loaded: LoadedModel, position: int, asked: int, logs: Float64Array, *, top: int) -> Guess:
    likeliest = _likeliest(logs, top)
    names = token_names(loaded.tokenizer, [asked, *likeliest])
    return Guess(
        position,
        token=names[0],
        probability=float(np.exp(logs[asked])),
        rank=1 + int((logs > logs[asked]).sum()),
        top=tuple(zip(names[1:], np.exp(logs[likeliest]).tolist(), strict=True)),
        vocabulary=len(logs),
        surprise=float(-logs[asked] / np.log(2)),
    )


def _divergence(p: Float64Array, q: Float64Array) -> float:
    """KL in bits of two distributions given by their natural logarithms."""
    return max(float((np.exp(p) * (p - q)).sum() / np.log(2)), 0.0)  # only rounding takes it below 0
