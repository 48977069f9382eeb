"""Parts of long lists, of which a run of all tests takes one in turn: HEADLIGHT_ROUND, a number, or "all"."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

ROUND = os.environ.get("HEADLIGHT_ROUND", "0")


def in_turn(items: Sequence[Item], of: int) -> list[Item]:
    """Take every `of`-th item, from another one on in each round; `of` rounds in a row take all.

    in_turn(["a", "b", "c"], of=2)  # ["a", "c"] in round 0, ["b"] in round 1
    """
    return list(items) if ROUND == "all" else list(items[int(ROUND) % of :: of])
