"""The importance of each head for a text: how far the output moves without this head (Michel et al. 2019, 3.2).

It both runs the model and measures, so it stands above the probe and the analysis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import nan

from inspector import compare, interventions
from inspector.interventions import Dropped
from inspector.trace import Trace
from models import LoadedModel
from models.attention.dropping import NamedHead


@dataclass(frozen=True)
class Importance:
    """The effect of dropping one head.

    moved: 1 - cosine of the last hidden state before and after, mean over the tokens, 0..2. surprise: how many bits
    more the true tokens surprise, -log2 p after minus before, mean over them; NaN where none is known. call: of a layer
    that attends more than once.
    """

    stream: str
    layer: int
    head: int
    moved: float
    surprise: float
    call: int = 0


def measure(
    loaded: LoadedModel, text: str | Trace, *, heads: Iterable[NamedHead] | None = None, hidden: tuple[int, ...] = ()
) -> Iterator[Importance]:
    """Drop each head alone, by default all of them, one run of the model for each, and measure as they go.

    hidden: positions of tokens that a masked language model is to guess, see `interventions.drop`.
    """
    for dropped in interventions.drop_each(loaded, text, heads=heads, hidden=hidden):
        (head,) = dropped.heads
        moved = float(compare.moved(dropped.before, dropped.after).mean())
        yield Importance(head.stream, head.layer, head.head, moved, _surprise(loaded, dropped), head.call)


def _surprise(loaded: LoadedModel, dropped: Dropped) -> float:
    if not any(true is not None for true in dropped.truths.values()):
        return nan
    table = interventions.surprises(loaded, dropped)
    return float((table["after"] - table["before"]).mean())
