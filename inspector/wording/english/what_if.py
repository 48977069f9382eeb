"""Sentences of the page What if."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.plots.theme import number
from inspector.readings.what_if import Guessed, MovedHead, Predicted, Turned
from inspector.wording import token
from inspector.wording.english.phrases import named, ordinal, percent
from models.formatting import layer_name

if TYPE_CHECKING:  # dropped heads come with torch
    from models.attention.dropping import Head


def hidden(tokens: Sequence[str]) -> str:
    """Say which tokens are hidden, to begin a sentence with."""
    return f"Hiding {_word(tokens[0])}" if len(tokens) == 1 else f"Hiding {len(tokens)} tokens"


def swapped(word: str, by: str) -> str:
    """Say which word is replaced, to begin a sentence with."""
    return f"Replacing {token(word)} with {token(by)}"


def dropped(heads: Sequence[Head], *, several: bool) -> str:
    """Say which heads are dropped, to begin a sentence with; several: the model has more than one stream."""
    if len(heads) > 1:
        return f"Dropping {len(heads)} heads"
    (head,) = heads
    return f"Dropping {_head(head.stream, head.layer, head.call, head.head, several=several)}"


def guess(found: Guessed, *, model: str) -> str:
    """Say what a model guesses for a hidden token and where the true one stands, as a whole sentence."""
    likeliest = f"{_word(found.first[0])} ({percent(found.first[1])})"
    if found.hidden > 1:
        return f"{model}'s first guess is right for {found.right or 'none'} of the {found.hidden} hidden tokens."
    if found.token is None:
        return f"For the mask token in the text {model} first guesses {likeliest}; no true token is known."
    if found.rank == 1:
        return f"{model} first guesses {_word(found.token)} ({percent(found.probability)}), which is the hidden token."
    return (
        f"For the hidden {_word(found.token)}, {model} first guesses {likeliest}; the hidden token "
        f"itself comes {ordinal(found.rank)}, with {percent(found.probability)}."
    )


def change(
    begin: str, predicted: Predicted | None, turned: Turned | None, moved: MovedHead | None, *, several: bool
) -> str:
    """Say what a change did, as a whole sentence.

    begin: of `swapped`, `dropped` or `hidden`. predicted: None for a model that predicts nothing, of which the hidden
    states are told. several: the model has more than one stream.
    """
    if predicted is not None and predicted.before != predicted.after:
        which = _word(predicted.token) + ("" if predicted.true else ", the likeliest before,")
        before, after = number(predicted.before), number(predicted.after)
        verb = "raises" if predicted.after > predicted.before else "lowers"
        if before == after:
            did = f"hardly changes the probability of {which.removesuffix(',')} ({before})"
        else:
            did = f"{verb} the probability of {which} from {before} to {after}"
    elif turned is not None:
        most = "most among the other tokens" if turned.others else "most"
        did = f"turns the last hidden state of {named(turned.token)} {most} (1 − cosine {number(turned.turned)})"
    elif moved is not None:
        predicts = predicted is not None
        did = "does not change the prediction" if predicts else "changes no other token's last hidden state"
    else:
        return f"{begin} changes nothing."
    most = "" if moved is None else f"; {_changes(moved, several=several)}"
    return f"{begin} {did}{most}."


def most_moved(moved: MovedHead, *, several: bool) -> str:
    """Say which head moved most, as a whole sentence."""
    said = _changes(moved, several=several)
    return f"{said[0].upper()}{said[1:]}."


def _word(piece: str) -> str:
    """Write a token without the mark of a word's beginning."""
    return token(piece.lstrip("▁Ġ") or piece)


def _changes(moved: MovedHead, *, several: bool) -> str:
    """Say which head changes most: "at the hidden token the attention of layer 1, head 7 changes most"."""
    hidden = f"at the hidden {'token' if moved.hidden == 1 else 'tokens'} " if moved.hidden else ""
    stream = f"in the {_stream(moved.stream)} " if several else ""
    return f"{hidden}{stream}the attention of {layer_name(moved.layer, moved.call)}, head {moved.head} changes most"


def _head(stream: str, layer: int, call: int, head: int, *, several: bool) -> str:
    return f"{layer_name(layer, call)}, head {head}{f' of the {_stream(stream)}' if several else ''}"


def _stream(name: str) -> str:
    return "cross-attention" if name == "cross" else name
