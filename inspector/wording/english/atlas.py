"""Sentences of the page Atlas, and of an atlas on other pages."""

from __future__ import annotations

from math import floor

from inspector.atlas.standing import Standing
from inspector.wording.english.phrases import share

_GIVES = {
    "self": "to the token itself",
    "previous": "to the token before",
    "next": "to the token behind",
    "first": "to the first token",
    "cls": "to [CLS]",
    "sep": "to [SEP]",
    "punctuation": "to punctuation",
    "confidence": "to each query's strongest key",
    "induction": "behind earlier copies of a token",
    "duplicate": "to the same token elsewhere",
    "word": "to the other pieces of a word",
}


def standing(found: Standing, *, start: str, end: str) -> str:
    """Say where a head's text lies: "It gives 83 % to [SEP] here: more than in 97 % of 4,078 texts.".

    start, end: how the model calls its start and end tokens.
    """
    goes = _GIVES[found.measure.name].replace("[CLS]", start).replace("[SEP]", end)
    part = f"{floor(found.share * 100)} % of {found.texts:,} texts"
    gives = f"This head gives {share(found.value)} {goes} here"
    said = f"{gives}: {'more' if found.more else 'less'} than in {part}"
    return f"{said}." if found.unusual else f"{said}, which is nothing unusual."
