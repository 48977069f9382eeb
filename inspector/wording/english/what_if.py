"""Sentences of the page What if."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.plots.theme import number
from inspector.readings.what_if import Guessed, Head, Predicted, Turned
from inspector.wording import token
from inspector.wording.english.phrases import named, ordinal, percent
from models.formatting import layer_name

Place = tuple[str, int, int, int]  # stream, layer, call, head


def hidden(tokens: Sequence[str]) -> str:
    """Say which tokens are hidden, to begin a sentence with."""
    return f"Hiding {_word(tokens[0])}" if len(tokens) == 1 else f"Hiding {len(tokens)} tokens"


def swapped(word: str, by: str) -> str:
    """Say which word is replaced, to begin a sentence with."""
    return f"Replacing {token(word)} with {token(by)}"


def dropped(heads: Sequence[Place], *, several: bool) -> str:
    """Say which heads are dropped, to begin a sentence with; several: the model has more than one stream."""
    return f"Dropping {_head(*heads[0], several=several)}" if len(heads) == 1 else f"Dropping {len(heads)} heads"


def guess(found: Guessed, *, model: str) -> str:
    """Say what a model guesses for a hidden token and where the true one stands, as a whole sentence."""
    likeliest = f"{_word(found.first[0])} ({percent(found.first[1])})"
    if found.hidden > 1:
        return f"{model} guesses {found.right or 'none'} of the {found.hidden} hidden tokens first."
    if found.token is None:
        return f"For its own mask token, {model} first guesses {likeliest}; no true token is known."
    if found.rank == 1:
        return f"{model} guesses the hidden {_word(found.token)} first, with {percent(found.probability)}."
    return (
        f"For the hidden {_word(found.token)}, {model} first guesses {likeliest}; the true token comes "
        f"{ordinal(found.rank)}, with {percent(found.probability)}."
    )


def change(begin: str, predicted: Predicted | None, turned: Turned | None, moved: Head | None, *, several: bool) -> str:
    """Say what a change did, as a whole sentence.

    begin: of `swapped`, `dropped` or `hidden`. predicted: None for a model that predicts nothing, of which the hidden
    states are told. several: the model has more than one stream.
    """
    if predicted is not None and predicted.before != predicted.after:
        which = _word(predicted.token) + ("" if predicted.true else ", the likeliest before,")
        did = f"changes the probability of {which} from {number(predicted.before)} to {number(predicted.after)}"
    elif turned is not None:
        most = "most among the other tokens" if turned.others else "most"
        did = f"turns the last hidden state of {named(turned.token)} {most} (1 − cosine {number(turned.turned)})"
    else:
        return f"{begin} changes nothing."
    return f"{begin} {did}{'' if moved is None else f'; {_moved(moved, several=several)} moved most'}."


def most_moved(moved: Head, *, several: bool) -> str:
    """Say which head moved most, as a whole sentence."""
    name = _moved(moved, several=several)
    return f"{name[0].upper()}{name[1:]} moved most."


def _word(piece: str) -> str:
    """Write a token without the mark of a word's beginning."""
    return token(piece.lstrip("▁Ġ") or piece)


def _moved(moved: Head, *, several: bool) -> str:
    return _head(moved.stream, moved.layer, moved.call, moved.head, several=several)


def _head(stream: str, layer: int, call: int, head: int, *, several: bool) -> str:
    return f"{f'{stream}, ' if several else ''}{layer_name(layer, call)}, head {head}"
