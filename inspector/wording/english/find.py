"""Sentences of the search for heads: each wish ends "a head that ..."."""

from __future__ import annotations

from inspector.head_search import FittingHead
from inspector.text import Named
from inspector.wording.english.phrases import named, percent, share
from models.formatting import layer_name

WISHES = {
    "previous": "looks at the token before",
    "next": "looks at the token after",
    "self": "looks at the token itself",
    "same token": "looks at the same token elsewhere",
    "repeats": "looks at what followed the same token (induction)",
    "own word": "looks at the other pieces of the word",
    "punctuation": "looks at punctuation",
    "first": "rests on the first token",
    "start": "rests on the start token",
    "end": "rests on the end token",
    "broad": "looks broadly",
    "sharp": "looks at one token at a time",
}
LINK = "links two tokens of my choice"
_GOES = {
    "previous": "{} of the attention of all tokens but the first goes one token back",
    "next": "{} of the attention of all tokens but the last goes one token ahead",
    "self": "{} of its attention stays at the token itself",
    "same token": "tokens that come again give {} of their attention to their like",
    "repeats": "tokens that come again give {} of their attention to what followed their like",
    "own word": "pieces of words give {} of their attention to the other pieces",
    "punctuation": "{} of its attention goes to punctuation",
    "first": "{} of its attention goes to the first token",
    "start": "{} of its attention goes to the start token",
    "end": "{} of its attention goes to the end token",
    "broad": "its entropy is {} of the most that this text allows",
    "sharp": "the largest weight of a token is {} of its attention on average",
}
ENOUGH = 0.25  # share, below which no head is said to do what was wished
CLICK = "A click lists the heads that do it most on this text."


def head(match: FittingHead) -> str:
    """Name a head: "Layer 3, head 7"."""
    return f"{layer_name(match.layer, match.call).capitalize()}, head {match.head}"


def fits(match: FittingHead, wish: str) -> str:
    """Say how well a head fits: "81 % of its attention goes to punctuation"."""
    return _GOES[wish].format(percent(match.share))


def best(match: FittingHead, wish: str) -> str:
    """Say which head fits best, and how well."""
    if match.share < ENOUGH:
        return f"No head does this much on this text. The nearest is {_inside(match)}: {fits(match, wish)}."
    return f"{head(match)} does this most: {fits(match, wish)}."


def links(match: FittingHead, query: Named, key: Named) -> str:
    """Say which head links two tokens most: in which the first gives the second more than other tokens give it."""
    gives = f"{named(query)} gives {named(key)} {share(match.share)} of its attention"
    if match.others is None:
        return f"{head(match)} links them most: {gives}."
    if match.singled_out < ENOUGH:
        return f"No head links these two much. The nearest is {_inside(match)}: {gives}, {_others(match)}."
    return f"{head(match)} links these two most beyond what its other tokens do: {gives}, {_others(match)}."


def linking(match: FittingHead) -> str:
    """Say how much a head gives from one token to another: "77 %, other tokens 6 % on average"."""
    return percent(match.share) + ("" if match.others is None else f", {_others(match)}")


def _others(match: FittingHead) -> str:
    return f"other tokens {percent(match.others or 0.0)} on average"


def _inside(match: FittingHead) -> str:
    name = head(match)
    return name[0].lower() + name[1:]
