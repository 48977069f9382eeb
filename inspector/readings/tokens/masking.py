"""Readings of the section Masking: what one draw chose, what many draws give, and how the guesses fare by rate."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import pandas as pd

from inspector.masked_lm import Drawn, Fate


@dataclass(frozen=True)
class Masking:
    """One draw beside the shares of many.

    rate: of the draw; tokens: that can be chosen. fates: (token, fate, what is read there) of the chosen tokens. right:
    how many the first guess has right. shares, rules: of all tokens, by fate, as counted and as the rule has them;
    away: the farthest of them, in standard deviations; draws: how many tokens were drawn.
    """

    rate: float
    tokens: int
    fates: tuple[tuple[str, Fate, str], ...]
    right: int
    shares: tuple[float, ...]
    rules: tuple[float, ...]
    away: float
    draws: int


@dataclass(frozen=True)
class Rated:
    """A model's guesses at the lowest and the highest rate: (rate, top-1 accuracy, loss).

    differs: whether the accuracies are farther apart than twice the standard error of their difference. masked, kept:
    the top-1 accuracy of tokens read as [MASK] and of those that stay, over all rates. trained: the rate of training.
    """

    first: tuple[float, float, float]
    last: tuple[float, float, float]
    differs: bool
    masked: float
    kept: float
    trained: float | None


def masking(drawn: Drawn, shares: pd.DataFrame, *, draws: int) -> Masking:
    """Read one draw, and the shares of many; shares: of `masked_lm.shares`."""
    return Masking(
        rate=drawn.rate,
        tokens=len(drawn.choosable),
        fates=tuple((one.token, one.fate, one.read) for one in drawn.chosen),
        right=drawn.right,
        shares=tuple(shares["share"]),
        rules=tuple(shares["rule"]),
        away=float(shares["away"].abs().max()),
        draws=draws,
    )


def rated(table: pd.DataFrame, *, trained: float | None) -> Rated:
    """Read the accuracies; table: of `masked_lm.by_rate`."""
    every = table[table["fate"] == "all"]
    first, last = every.iloc[0], every.iloc[-1]
    error = hypot(first["top1_error"], last["top1_error"])
    ends = [(float(row["rate"]), float(row["top1"]), float(row["loss"])) for row in (first, last)]
    return Rated(
        first=ends[0],
        last=ends[1],
        differs=abs(float(first["top1"] - last["top1"])) > 2 * error,
        masked=_pooled(table, "masked"),
        kept=_pooled(table, "kept"),
        trained=trained,
    )


def _pooled(table: pd.DataFrame, fate: str) -> float:
    rows = table[(table["fate"] == fate) & (table["count"] > 0)]
    total = rows["count"].sum()
    return float((rows["top1"] * rows["count"]).sum() / total) if total else float("nan")
