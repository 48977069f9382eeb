"""The overview that the page shows first, from one pass over the weights: measures, self-checks and small pictures.

To compute the weights of a long text again takes longer than to look at them, so all who need every one look together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import head_roles, heads
from inspector.chance import HeadsBeyondChance
from inspector.head_roles import HeadReading
from inspector.self_checks import WeightChecks
from inspector.token_links import is_word
from inspector.trace import Array, AttentionSite, Trace, WeightBlock
from inspector.trace.pooling import MaxPool, stacked

HALF = 0.5  # share of a query's attention, from which a link between two words is worth opening with
TRIED = 12  # heads with the largest links, of which some do something plainer


@dataclass(frozen=True)
class Overview:
    """measures: heads.measure, with the heads' label by the queries that have a choice. checks: of every weight.

    pictures: of each stream float32 [L, H, rows, cols], its attentions in call order, the largest weight of each tile,
    as `Trace.pooled` has them; zeros behind the last head of a layer that has fewer than another. beyond_chance: for
    each row of `measures` whether the head gives some key more than random weights would, see
    `chance.HeadsBeyondChance`.
    """

    measures: pd.DataFrame
    checks: WeightChecks
    pictures: Mapping[str, Array]
    beyond_chance: NDArray[np.bool_]

    @classmethod
    def without_attention(cls, trace: Trace) -> Overview:
        """The overview of a text whose layers all mix tokens without softmax attention: no row of shares to measure."""
        measures = pd.DataFrame(columns=["stream", "layer", "head", "label"])
        return cls(measures, WeightChecks(trace), {}, np.zeros(0, np.bool_))

    @property
    def looks_untrained(self) -> bool:
        """True where attention was measured, and no head does on this text what random weights would not do."""
        return bool(self.beyond_chance.size) and not self.beyond_chance.any()


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
        stream: stacked([pools[place].cells for (of, *_), place in places.items() if of == stream])
        for stream in dict.fromkeys(site.stream for site in trace.sites)
    }
    labels = heads.with_choice(table, trace)["label"]
    return Overview(table.assign(label=labels), checks, pictures, beyond_chance.result)


def first_head(look: Overview, trace: Trace, *, stream: str) -> tuple[int, int]:
    """Choose the head of a stream to open first, (layer, head): one whose sentence tells something.

    It is `heads.most_telling`. Where no role of that head stands out, and it links no two words by HALF of a query's
    attention, it is the head whose sentence tells the strongest such link, if there is one. In a text of more tokens
    than a small picture has cells no other head is looked for.
    """
    measures = look.measures[look.measures["stream"] == stream]
    first, maps = heads.most_telling(measures), look.pictures[stream]
    sites = [(row, site) for row, site in enumerate(trace.sites_of(stream)) if site.call == 0]
    chosen = heads.with_choice(look.measures, trace)
    at_first = next(site for _, site in sites if site.layer == first[0])
    read = head_roles.head(chosen, trace, at_first, first[1])
    if read.role.leads or _told(read) >= HALF or maps.shape[2:] != (len(at_first.queries), len(at_first.keys)):
        return first
    words = [np.array([is_word(name) for name in names]) for names in (at_first.queries, at_first.keys)]
    between = words[0][:, None] & words[1]
    if stream != "cross":
        np.fill_diagonal(between, False)
    largest = np.where(between, maps, 0).max(axis=(2, 3))  # [L, H]
    every = [(largest[row, head], site, head) for row, site in sites for head in range(site.heads)]
    linking = sorted(every, key=lambda place: -place[0])[:TRIED]
    readings = (head_roles.head(chosen, trace, site, head) for _, site, head in linking)
    best = max((other for other in readings if _told(other) >= HALF), key=_told, default=read)
    return best.layer, best.head


def _told(read: HeadReading) -> float:
    """Return the share of the link that the sentence on a head tells, 0 where it tells none."""
    return read.link.weight if read.opens_with_link and read.link is not None else 0.0
