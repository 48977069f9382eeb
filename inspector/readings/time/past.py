"""Reading of old keys: how far they moved under the mask that a model has, and under another."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

ROUNDING = 1e-4  # of a vector's length: what float32 moves through a model, with room for half precision's kin


@dataclass(frozen=True)
class Moving:
    """The old keys of one stream in one model.

    old: how many tokens are old. least, most: the smallest and the largest mean change of a key of the layers above
    layer 0, as a share of its length; first: of layer 0. largest: of a key's or value's number in any layer. alone:
    True where there is one layer, whose keys move under no mask.
    """

    name: str
    old: int
    first: float
    least: float
    most: float
    largest: float
    alone: bool = False

    @property
    def stays(self) -> bool:
        """True where keys move by no more than rounding."""
        return self.most <= ROUNDING


@dataclass(frozen=True, eq=False)
class Beside:
    """Reading of the text under the other mask: its rows of `stepwise.old_keys`, and a sentence about what read it."""

    name: str
    table: pd.DataFrame
    about: str


def moving(table: pd.DataFrame, *, name: str) -> Moving:
    """Read the rows of one stream of `stepwise.old_keys`."""
    keys = table[table["tensor"] == "key"]
    above = keys[keys["layer"] > keys["layer"].min()]
    above = keys if above.empty else above
    return Moving(
        name=name,
        old=int(keys["old"].iloc[0]),
        first=float(keys["relative"].iloc[0]),
        least=float(above["relative"].min()),
        most=float(above["relative"].max()),
        largest=float(table["largest"].max()),
        alone=bool(keys["layer"].nunique() == 1),
    )
