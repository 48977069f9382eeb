"""One merge read: what was joined, how short the corpus is by then, and what other rules would join."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import pandas as pd

from inspector.vocabularies import RULES, Learned, Rule

TOP = 10
FEW = 5
TRIED = 4  # pieces that are named of those that were tried in vain


@dataclass(frozen=True)
class Merging:
    """Merge number `step`: its pair and piece, the pair's count, the corpus's symbols before all merges and after it.

    tied: pairs with the same count, this one included. others: the piece that each other rule would make here.
    """

    step: int
    pair: tuple[str, str]
    piece: str
    count: int
    tied: int
    first: int
    symbols: int
    others: dict[Rule, str]


def pairs(learned: Learned, step: int) -> pd.DataFrame:
    """Weigh the pairs that merge number `step` chose among: those that stand often enough, the chosen one first."""
    table = learned.pairs(step - 1)
    return table[table["count"] >= learned.least].reset_index(drop=True)


def merging(learned: Learned, step: int, *, table: pd.DataFrame) -> Merging:
    """Read a merge; table: of `pairs`."""
    merge = learned.merges[step - 1]
    return Merging(
        step=step,
        pair=merge.pair,
        piece=merge.piece,
        count=merge.count,
        tied=int((table["count"] == merge.count).sum()),
        first=learned.lengths()[0],
        symbols=merge.symbols,
        others={rule: str(table["piece"][table[rule].idxmax()]) for rule in RULES if rule != learned.rule},
    )


def telling(learned: Learned) -> int:
    """Find the merge to see first: after a few, the first at which the likelihood would choose another pair."""
    last = len(learned.merges)
    for step in range(FEW, last + 1):
        table = pairs(learned, step)
        if table["piece"][table["gain"].idxmax()] != learned.merges[step - 1].piece:
            return step
    return min(FEW, last)


def first_merges(learned: dict[Rule, Learned], *, most: int) -> pd.DataFrame:
    """List the pieces that each rule makes first, a row per merge; columns merge, count, gain, ratio."""
    rules: tuple[Rule, ...] = ("count", "gain", "ratio")
    made = [[merge.piece for merge in learned[rule].merges[:most]] for rule in rules]
    rows = [(at, *pieces) for at, pieces in enumerate(zip_longest(*made, fillvalue=""), start=1)]
    return pd.DataFrame(rows, columns=["merge", *rules])


def matching(word: str, pieces: tuple[str, ...], *, prefix: str) -> pd.DataFrame:
    """Tell a longest match step by step; pieces: of the word, none of them unknown.

    Columns: rest (of the word), tried (pieces that are longer and not in the vocabulary), taken.
    """
    rows, start = [], 0
    for piece in pieces:
        length = len(piece) - len(prefix) * (start > 0)
        begun = prefix * (start > 0)
        longer = [begun + word[start:end] for end in range(len(word), start + length, -1)]
        more = f" … {len(longer) - TRIED} more" if len(longer) > TRIED else ""
        rows.append((word[start:], ", ".join(longer[:TRIED]) + more or "–", piece))
        start += length
    return pd.DataFrame(rows, columns=["rest", "tried", "taken"])
