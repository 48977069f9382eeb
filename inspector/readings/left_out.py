"""Readings of tokens left out: which of them matters most, and which head's attention ranks them alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector.readings.links import Named, named
from inspector.readings.scores import Place, place

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions.leave_one_out import LeftOut

Output = Literal["guess", "next token", "target", "state", "states"]


@dataclass(frozen=True)
class Tokens:
    """Tokens left out in turn. output: what was looked at, at the token `looked`, None for all.

    most: the token whose absence changes it most, and change: by how much.
    """

    count: int
    output: Output
    looked: str | None
    most: Named
    change: float


@dataclass(frozen=True)
class Heads:
    """Spearman's rho of the heads of a stream. best, middle: the head with the largest rho, and the median head.

    beyond: how many heads lie beyond `single` on either side, which 5 % of unrelated heads do. by_chance: the rho that
    the best of so many unrelated heads has in half of all texts. level: heads without a rho, which attend to all alike.
    """

    heads: int
    best: Place
    best_rho: float
    middle: Place
    middle_rho: float
    beyond: int
    single: float
    by_chance: float
    level: int


def tokens(left: LeftOut, *, whole: tuple[str, ...], guesses: bool) -> Tokens:
    """Read what leaving each token out changed; whole: the text's tokens with none hidden; guesses: from both sides."""
    most = int(np.argmax(left.changes))
    output: Output
    looked: str | None = None
    if left.query is None:
        output = "states"
    elif left.measure == "turned":
        output, looked = "state", whole[left.query]
    elif guesses:
        output, looked = "guess", whole[left.query]
    elif left.trace.target is not None:
        predicts = left.trace.sites[-1].predicts
        output, looked = "target", None if predicts is None else predicts[left.query]
    else:
        output, looked = "next token", whole[left.query]
    position = left.positions[most]
    return Tokens(len(left.positions), output, looked, named(whole, position), left.changes[most])


def heads(table: pd.DataFrame, chance: tuple[float, float]) -> Heads | None:
    """Read the table of `leave_one_out.correlations` of one stream; None where no head has a rho."""
    ranked = table.dropna(subset=["rho"]).sort_values("rho", ascending=False, kind="stable")
    if ranked.empty:
        return None
    single, by_chance = chance
    best, middle = ranked.iloc[0], ranked.iloc[len(ranked) // 2]
    return Heads(
        len(ranked),
        place(best),
        float(best["rho"]),
        place(middle),
        float(middle["rho"]),
        int((ranked["rho"].abs() > single).sum()),
        single,
        by_chance,
        len(table) - len(ranked),
    )
