"""Sentences of the page Positions."""

from __future__ import annotations

from math import isnan

from inspector.plots.theme import signed
from inspector.positional import Way
from inspector.readings.positions import Alike, Positions
from inspector.wording.english.phrases import listed

_WAYS: dict[Way, str] = {
    "learned": "adds to each token a learned vector for its place",
    "sinusoidal": "adds to each token a vector of sines and cosines for its place",
    "rope": "turns every query and key by angles that grow with the position (RoPE)",
    "t5": "adds to each score a learned number for the distance of query and key (as T5 does)",
    "alibi": "takes off each score a multiple of the distance of query and key (ALiBi)",
    "shaw": "adds a learned vector for the distance to every key and value (Shaw et al.)",
}
_TERMS: dict[Way, str] = {"learned": "position table", "sinusoidal": "position table", "rope": "RoPE", "alibi": "ALiBi"}


def positions(found: Positions) -> str:
    """Say how the model knows the order of its tokens, and how alike the positions of this text are."""
    if found.ways:
        said = f"This model {listed([_WAYS[way] for way in found.ways])}."
    else:
        said = "This model adds no vector for a token's place; if it knows the order, then in another way."
    if found.alike is None or isnan(found.alike.near):
        return said
    text = "On this text" if found.alike.whole else f"On the first {found.alike.tokens} places of this text"
    where = "its vectors" if found.own else "the vectors of the paper's table, for comparison,"
    return f"{said} {text} {where} {_alike(found.alike)}."


def terms(found: Positions) -> list[str]:
    """List the terms of the sentence that the glossary explains."""
    return list(dict.fromkeys([*(_TERMS[way] for way in found.ways if way in _TERMS), "cosine"]))


def _alike(found: Alike) -> str:
    said = f"have a mean cosine of {signed(found.near)} between neighbours"
    if found.far is None or isnan(found.far):
        return said
    return f"{said} and {signed(found.far)} between places {found.apart} apart"
