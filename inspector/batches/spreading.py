"""Spread of a changed token: how far the tokens before it and after it move."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from inspector.text import Named, named


@dataclass(frozen=True)
class Spreading:
    """One changed token: its place and name, what it became, and the mean move of tokens before it, and after it.

    before, after: None where there is no such token; before_largest: the largest move of a number before it.
    """

    changed: Named
    put: str
    before: float | None
    before_largest: float
    after: float | None
    itself: float


def spreading(table: pd.DataFrame, *, token: int, put: str) -> Spreading:
    """Read how far a change spread; table: of `batches.spread`."""
    before, after = table[table["position"] < token], table[table["position"] > token]
    return Spreading(
        changed=named(list(table["token"]), token),
        put=put,
        before=None if before.empty else float(before["change"].mean()),
        before_largest=0.0 if before.empty else float(before["largest"].max()),
        after=None if after.empty else float(after["change"].mean()),
        itself=float(table["change"].iloc[token]),
    )
