"""The steps from two vectors to a weight, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from inspector.text import read_marks
from inspector.views.components import files

_mount = files.declared("steps")


class Shown(TypedDict):
    """A step: its formula, the chosen key's value, a sentence; the numbers of all keys (None: masked), and as text."""

    formula: str
    value: str
    meaning: str
    numbers: list[float | None]
    told: list[str]


def steps(
    way: Sequence[Shown], *, keys: Sequence[str], positions: Sequence[int], chosen: int, note: str, key: str
) -> None:
    """Draw the steps, and what each makes of `keys`, tokens at these positions of the text.

    chosen: the place among `keys` of the key that is explained. note: what is left out, "" for nothing.
    """
    names = list(map(read_marks, keys))
    data = {"steps": list(way), "keys": names, "positions": list(positions), "chosen": chosen, "note": note}
    _mount(key=key, data=data, height="content")
