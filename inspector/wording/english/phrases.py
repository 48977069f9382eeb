"""Shares, counts and lists as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from inspector.text import Named, token
from inspector.text import ordinal as ordinal
from models.formatting import layer_name

if TYPE_CHECKING:
    from inspector.trace import AttentionSite

FRACTIONS = {
    1 / 4: "a quarter",
    1 / 3: "a third",
    1 / 2: "half",
    2 / 3: "two thirds",
    3 / 4: "three quarters",
}
DO = {
    "[SEP]": ("rests on {}", "rest on {}"),
    "[CLS]": ("rests on {}", "rest on {}"),
    "first": ("rests on the first token", "rest on the first token"),
    "previous": ("looks one token back", "look one token back"),
    "next": ("looks one token ahead", "look one token ahead"),
    "self": ("looks at the token itself", "look at the token itself"),
    "broad": ("spreads its attention broadly", "spread their attention broadly"),
    "induction": ("looks at what followed the same token", "look at what followed the same token"),
    "same word": ("stays within the word", "stay within the word"),
}
"""Words for what one head does, and several do, by the labels of `heads.label`; {} is the special token."""
TOLERANCE = 0.01  # a share this near a fraction is told as the fraction


def count_of(number: int, noun: str) -> str:
    """Write a number of things: "1 head", "12 heads", "1 query", "3 queries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("ry") else f"{number:,} {noun}s"


def heads_of(count: int, heads: int) -> str:
    """Name some of a model's heads as a sentence's subject: "3 of 12 heads", "the only head"."""
    return "the only head" if heads == 1 else f"{count} of {count_of(heads, 'head')}"


def percent(share: float) -> str:
    """Write a share 0..1 as a whole percentage; a share that only rounds to 0 % or 100 % says so."""
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "over 99 %" if share < 0.999 else "nearly all"
    if whole == 0 and share > 0:
        return "under 1 %"
    return f"{whole} %"


def share(value: float) -> str:
    """Write a share 0..1 in words where a plain fraction is within TOLERANCE, else as a percentage."""
    near = min(FRACTIONS, key=lambda fraction: abs(fraction - value))
    return FRACTIONS[near] if abs(near - value) <= TOLERANCE else percent(value)


def layer_names(sites: Iterable[AttentionSite]) -> list[str]:
    """Name the rows of a grid: "layer 3", and "layer 3 local" where its queries see a window of the text."""
    return [layer_name(site.layer, site.call, short=True) + ("" if site.window is None else " local") for site in sites]


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Join parts as a list in a sentence: "a, b and c"."""
    *first, end = parts
    return f"{', '.join(first)} {last} {end}" if first else end


def bullets(lines: Iterable[str]) -> str:
    """Write lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def named(place: Named) -> str:
    """Name a token of a text, with its number where the token stands more than once: "the 2nd `the`"."""
    return token(place.token) if place.of == 1 else f"the {ordinal(place.ordinal)} {token(place.token)}"
