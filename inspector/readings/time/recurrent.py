"""Readings of the section RNN, LSTM, GRU: what is left of a gradient at the first input, and in whose weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from inspector.distance import KINDS, WITH_POSITIONS, Kind, Setting

BACK = 10  # steps before the last: near, and no more the last itself
SCALE = 4.0  # of W_hh, at which a tanh-RNN of most widths explodes


@dataclass(frozen=True)
class Recurrence:
    """The gradient of s = sum(out_T) over a random input.

    first, last: ||ds / dx_1|| and ||ds / dx_T|| of each network. near, near_step: of attention, BACK steps before the
    last, and which step that is. radius: the spectral radius of the tanh-RNN's W_hh. zeros: networks whose first is 0
    in float64. gate: the share of the cell that an open LSTM's forget gate keeps at its bias, and kept: over all steps.
    """

    setting: Setting
    first: Mapping[Kind, float]
    last: Mapping[Kind, float]
    near: float
    near_step: int
    radius: float
    zeros: tuple[Kind, ...]
    gate: float
    kept: float

    @property
    def exploding(self) -> tuple[Kind, ...]:
        """The networks in which the first input moves the output more than the last one does, by a factor of 10."""
        return tuple(kind for kind in KINDS if self.first[kind] > 10 * self.last[kind])

    @property
    def vanishing(self) -> tuple[Kind, ...]:
        """The networks in which the first input moves the output less than the last one does, by a factor of 10^9."""
        return tuple(kind for kind in KINDS if self.first[kind] < 1e-9 * self.last[kind])


@dataclass(frozen=True)
class Shared:
    """The gradient of the tanh-RNN's shared weights: its norm, the norms of the first step's part and the last's, how
    many of the last steps have a part above a hundredth of the largest; off: of the sum of parts, from autograd's.
    """

    total: float
    first: float
    last: float
    counted: int
    off: float


@dataclass(frozen=True)
class Ordered:
    """The moves of out_T, of its length, when the inputs before it are shuffled."""

    recurrent: tuple[float, float]
    attention: float
    with_positions: float


def recurrence(table: pd.DataFrame, *, setting: Setting, radius: float) -> Recurrence:
    """Read the table of `distance.curves`."""
    norms = table.set_index(["network", "step"])["norm"]
    first = {kind: float(norms[kind, 1]) for kind in KINDS}
    near = max(setting.steps - BACK, 1)
    gate = 1 / (1 + math.exp(-setting.forget_bias))
    return Recurrence(
        setting,
        first,
        {kind: float(norms[kind, setting.steps]) for kind in KINDS},
        float(norms["attention", near]),
        near,
        radius,
        tuple(kind for kind in KINDS if first[kind] == 0),
        gate,
        gate ** (setting.steps - 1),
    )


def shared(table: pd.DataFrame) -> Shared:
    """Read the table of `distance.parts`."""
    rows = table[table["network"] == "tanh-RNN"]
    norms = rows["norm"].to_numpy()
    return Shared(
        float(rows["total"].iloc[0]),
        float(norms[0]),
        float(norms[-1]),
        int((norms > norms.max() / 100).sum()),
        float(table["off"].max()),
    )


def ordered(table: pd.DataFrame) -> Ordered:
    """Read the table of `distance.shuffled`."""
    change = table.set_index("network")["change"]
    recurrent = change.drop(["attention", WITH_POSITIONS])
    return Ordered(
        (float(recurrent.min()), float(recurrent.max())), float(change["attention"]), float(change[WITH_POSITIONS])
    )
