"""Parts of what takes long, of which a run of all tests takes one in turn: HEADLIGHT_ROUND, a number, or "all".

`make test` sets it: a run takes a seventh of the costly tests (`COSTLY` in conftest.py) and part of the longest lists.
Where it is not set, as in a run of one file, every test runs, on whole lists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

Item = TypeVar("Item")

ROUND = os.environ.get("HEADLIGHT_ROUND", "all")


def in_turn(items: Sequence[Item], of: int) -> list[Item]:
    """Take every `of`-th item, from another one on in each round; `of` rounds in a row take all.

    in_turn(["a", "b", "c"], of=2)  # ["a", "c"] in round 0, ["b"] in round 1
    """
    return list(items) if ROUND == "all" else list(items[int(ROUND) % of :: of])


def is_due(name: str, of: int) -> bool:
    """Return True if the test of this name is in the round's part; `of` rounds in a row take each test once."""
    return ROUND == "all" or crc32(name.encode()) % of == int(ROUND) % of
