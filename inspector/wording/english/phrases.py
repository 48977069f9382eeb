"""Shares, counts and lists as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.readings.links import Named
from inspector.wording import token

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


def percent(share: float) -> str:
    """Write a share 0..1 as a whole percentage; what rounds to 0 % or 100 % and is neither is told as such."""
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


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Join parts as a list in a sentence: "a, b and c"."""
    *first, end = parts
    return f"{', '.join(first)} {last} {end}" if first else end


def named(place: Named) -> str:
    """Name a token of a text, and which of its like where it stands more than once: "the 2nd `the`"."""
    return token(place.token) if place.of == 1 else f"the {ordinal(place.ordinal)} {token(place.token)}"


def ordinal(number: int) -> str:
    """Write 1 as "1st", 12 as "12th"."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
