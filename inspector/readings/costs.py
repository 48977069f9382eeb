"""Readings of the page Costs: what attention takes of a text's work, what the FFN, and where the two cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs import Crossovers

PAIRS = ("scores", "mix")


@dataclass(frozen=True)
class Shares:
    """Shares, 0 to 1, of the FLOPs of the matrix products in the layers of one stream.

    attention, ffn: of self-attention and of the FFN, together 1; pairs: of scores and mix, a part of attention, which
    grow with the square of the text. core, sublayer: as in `Crossovers`. stream: "" where the model has one.
    """

    stream: str
    tokens: int
    attention: float
    ffn: float
    pairs: float
    core: float
    sublayer: float | None


@dataclass(frozen=True)
class Counted:
    """Parameters of a model as they were counted in its tensors: all, those of embeddings, and how many layers."""

    parameters: int
    embeddings: int
    layers: int


def shares(breakdown: pd.DataFrame, crossovers: Crossovers, *, tokens: int) -> Shares:
    """Compare attention with the FFN in the first stream; breakdown: of `costs.breakdown` for `tokens` tokens.

    A decoder's attention over a source is not counted: the crossovers are of a text's attention over itself.
    """
    stream = str(breakdown["stream"].iloc[0])
    products = breakdown["layer"].notna() & (breakdown["kind"] == "matmul") & (breakdown["stream"] == stream)
    flops = breakdown[products].groupby("part")["flops"].sum()
    both = int(flops["attention"] + flops["ffn"])
    pairs = breakdown[products & breakdown["component"].isin(PAIRS)]["flops"].sum()
    return Shares(
        stream=stream if breakdown["stream"].nunique() > 1 else "",
        tokens=tokens,
        attention=int(flops["attention"]) / both,
        ffn=int(flops["ffn"]) / both,
        pairs=int(pairs) / both,
        core=crossovers.core,
        sublayer=crossovers.sublayer,
    )


def counted(parameters: pd.DataFrame) -> Counted:
    """Sum the parameters of a model; parameters: of `costs.parameters`."""
    inside = parameters["layer"].notna()
    return Counted(
        parameters=int(parameters["parameters"].sum()),
        embeddings=int(parameters[parameters["part"] == "embedding"]["parameters"].sum()),
        layers=len(parameters[inside].drop_duplicates(["stack", "layer"])),
    )
