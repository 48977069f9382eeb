"""Sentences of the page Attention."""

from __future__ import annotations

from inspector.readings.attention import Grid
from inspector.wording.english.phrases import listed

_DO = {
    "[SEP]": "rest on [SEP]",
    "[CLS]": "rest on [CLS]",
    "first": "rest on the first token",
    "previous": "look one token back",
    "next": "look one token ahead",
    "self": "look at the token itself",
    "broad": "spread their attention broadly",
    "induction": "look at what followed the same token elsewhere",
    "same word": "stay within the word",
}


def grid(found: Grid) -> str:
    """Say what most heads do: "21 of 72 heads rest on [SEP], 9 look one token back; 30 do none of this"."""
    done = [(count, _DO[name]) for name, count in found.counts.items() if name in _DO and count]
    if not done:
        return f"None of the {found.heads} heads does one plain thing on this text."
    (count, what), *others = done
    said = listed([f"{count} of {found.heads} heads {what}", *(f"{more} {does}" for more, does in others[:2])])
    return f"{said}."
