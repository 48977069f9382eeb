"""The overview that the page shows first, from one pass over the weights: measures, self-checks and small pictures.

To compute the weights of a long text again takes longer than to look at them, so all who need every one look together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import heads
from inspector.chance import HeadsBeyondChance
from inspector.exactness import WeightChecks
from inspector.trace import Array, AttentionSite, Trace, WeightBlock
from inspector.trace.pooling import MaxPool


@dataclass(frozen=True)
class Overview:
    """measures: heads.measure, with the heads' label by the queries that have a choice. checks: of every weight.

    pictures: of each stream float32 [L, H, rows, cols], its attentions in call order, the largest weight of each tile,
    as `Trace.pooled` has them. beyond_chance: for each row of `measures` whether the head gives some key more than
    random weights would, see `chance.HeadsBeyondChance`.
    """

    measures: pd.DataFrame
    checks: WeightChecks
    pictures: Mapping[str, Array]
    beyond_chance: NDArray[np.bool_]

    @property
    def looks_untrained(self) -> bool:
        """True where no head does on this text what random weights would not do."""
        return not self.beyond_chance.any()


def measure(
    trace: Trace, *, sides: Mapping[str, int], on_progress: Callable[[float, int], None] | None = None
) -> Overview:
    """Read every weight of a trace once: measures, self-checks and small pictures.

    sides: cells of a picture, at most, in either direction, for each stream. on_progress: called with the layers that
    are done, a part of one included, and how many there are; what it raises ends the pass.
    """
    checks, beyond_chance = WeightChecks(trace), HeadsBeyondChance(trace)
    places = {(site.stream, site.layer, site.call): place for place, site in enumerate(trace.sites)}
    pools = [MaxPool(site.heads, len(site.queries), len(site.keys), side=sides[site.stream]) for site in trace.sites]

    def see(site: AttentionSite, block: WeightBlock) -> None:
        place = places[site.stream, site.layer, site.call]
        checks.see(site, block)
        beyond_chance.see(site, block)
        pools[place].add(block.weights, queries=block.queries, keys=block.keys)
        if on_progress is not None:
            on_progress(place + block.queries.stop / len(site.queries), len(places))

    table = heads.measure(trace, on_band=see)
    pictures = {
        stream: np.stack([pools[place].cells for (of, *_), place in places.items() if of == stream]) for stream in sides
    }
    labels = heads.label(heads.with_choice(table, trace))
    return Overview(table.assign(label=labels), checks, pictures, beyond_chance.result)
