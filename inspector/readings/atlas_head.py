"""Reading of one head over a corpus: what it gives most of its weight to, and the relation it finds best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector.atlas.distribution import Distribution, distribution
from inspector.atlas.head_relations import better_than_offsets

if TYPE_CHECKING:
    import pandas as pd

    from inspector.atlas import Atlas

DOES = ("previous", "next", "self", "cls", "first", "sep", "punctuation")
"""Shares of all queries' weight that a sentence can say; `first` only where there is no [CLS]."""
_SPECIAL = ("cls", "first", "sep")
FOCUSED = 0.25  # of the weight, from which on it says what the head does


@dataclass(frozen=True)
class Relation:
    """A relation that a head finds clearly more often than the best fixed offset: shares 0..1 of `total`."""

    relation: str
    direction: str
    share: float
    baseline: float
    total: int


@dataclass(frozen=True, eq=False)
class HeadReading:
    """One head over an atlas's texts.

    texts: how many. several_streams, several_calls: whether the place has to name them. most: the share that is largest
    on average, None where none is known; beside: where that lies on a special token or the first, the largest share of
    other keys. spread: mean relative entropy, NaN where it is not known. relation: the one
    with the largest gain. relations: how many it clearly finds more often than the best offset.
    """

    layer: int
    head: int
    stream: str
    call: int
    texts: int
    several_streams: bool
    several_calls: bool
    most: Distribution | None
    beside: Distribution | None
    spread: float
    relation: Relation | None
    relations: int

    @property
    def focused(self) -> bool:
        """True where one kind of key has a quarter of the weight or more."""
        return self.most is not None and self.most.mean >= FOCUSED


def read(atlas: Atlas, place: int) -> HeadReading:
    """Read the head in a row of `atlas.heads`."""
    stream, layer, call, head = atlas.heads.iloc[place]
    found = {name: distribution(atlas, name, place) for name in DOES}
    known = [one for one in found.values() if one.texts]
    if found["cls"].texts:
        known.remove(found["first"])
    most = max(known, key=lambda one: one.mean, default=None)
    others = [one for one in known if one.measure.name not in _SPECIAL]
    special = most is not None and most.measure.name in _SPECIAL
    own = atlas.heads[(atlas.heads["stream"] == stream) & (atlas.heads["layer"] == layer)]
    rows = better_than_offsets(atlas, place)
    clear = rows[rows["clear"]] if len(rows) else rows
    return HeadReading(
        layer=int(layer),
        head=int(head),
        stream=str(stream),
        call=int(call),
        texts=atlas.counted.read,
        several_streams=atlas.heads["stream"].nunique() > 1,
        several_calls=own["call"].nunique() > 1,
        most=most,
        beside=max(others, key=lambda one: one.mean, default=None) if special else None,
        spread=float(distribution(atlas, "relative_entropy", place).mean) if known else float(np.nan),
        relation=_relation(clear.iloc[0]) if len(clear) else None,
        relations=len(clear),
    )


def _relation(row: pd.Series) -> Relation:
    return Relation(
        relation=str(row["relation"]),
        direction=str(row["direction"]),
        share=float(row["share"]),
        baseline=float(row["baseline_share"]),
        total=int(row["total"]),
    )
