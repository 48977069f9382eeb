"""The answer to a name that does not exist: what the reader may have meant, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def no_attribute(owner: str, name: str, *, known: Iterable[str], elsewhere: Mapping[str, str]) -> AttributeError:
    """Make the error for a name that the owner lacks.

    owner: what was asked, as a reader calls it: "module 'models'". known: the owner's public names. elsewhere: names
    that other tools use, and the expression that gives the same here.
    """
    close = get_close_matches(name[:100], known, n=1)
    way_out = elsewhere.get(name) or (close[0] if close and not name.startswith("_") else "")
    return AttributeError(
        f"{owner} has no attribute {name[:100]!r}" + (f"; did you mean {way_out}?" if way_out else "")
    )
