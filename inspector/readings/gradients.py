"""Readings of gradients into W_Q, W_K and W_V: with the model's scale, without it, and as the softmax saturates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions.gradients import About, Scalar

Size = Literal["median", "mean"]


STARVED = 1e-6


@dataclass(frozen=True)
class Starved:
    """A layer whose softmax passes next to nothing: entries of W_Q's and W_V's gradients, and the largest weight."""

    layer: int
    queries: float
    values: float
    largest: float


@dataclass(frozen=True)
class Gradients:
    """Sizes of the entries of a stream's gradients, averaged over its layers.

    scalar: what is differentiated. size: the mean or the median of a matrix's entries. scaled: True where the model
    has a scale, so that leaving it out changes something. own, without: of W_Q at the model's factor and at 1;
    own_value, without_value: of W_V. times: the largest multiple of the model's factor; end, end_value: W_Q's and W_V's
    there; largest: the mean largest weight of a row there, and own_largest at the model's factor. starved: the layers
    in which W_Q's entry is below STARVED of W_V's at the model's factor, with both and the mean largest weight.
    """

    scalar: Scalar
    size: Size
    scaled: bool
    own: float
    without: float
    own_value: float
    without_value: float
    times: float
    end: float
    end_value: float
    own_largest: float
    largest: float
    starved: tuple[Starved, ...] = ()


def gradients(table: pd.DataFrame, about: About, *, size: Size) -> Gradients | None:
    """Read the table of `gradients.sweep` of one stream; None where W_Q or W_V is not there or shared with another."""
    whole = table[table["head"].isna()]
    if not {"q", "v"} <= set(whole["matrix"]):
        return None
    by_factor = whole.groupby(["factor", "matrix"])[[size, "largest"]].mean()
    most = float(whole["factor"].max())

    def read(factor: float, matrix: str, column: str = size) -> float:
        return float(by_factor.loc[(factor, matrix), column])

    scale = about.scale
    by_layer = whole[whole["factor"] == scale].pivot(index="layer", columns="matrix", values=[size, "largest"])
    starved = tuple(
        Starved(int(layer), float(row[size, "q"]), float(row[size, "v"]), float(row["largest", "q"]))
        for layer, row in by_layer.iterrows()
        if row[size, "q"] < STARVED * row[size, "v"]
    )
    return Gradients(
        about.scalar,
        size,
        scale != 1,
        read(scale, "q"),
        read(1.0, "q"),
        read(scale, "v"),
        read(1.0, "v"),
        most / scale,
        read(most, "q"),
        read(most, "v"),
        read(scale, "q", "largest"),
        read(most, "q", "largest"),
        starved,
    )
