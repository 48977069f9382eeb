"""The column of what is no key of the text: a learned sink or keys beside the text's, which take a part of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from inspector.wording import attention as said

if TYPE_CHECKING:
    from inspector.components.head import Segments
    from inspector.maps import Arrangement
    from inspector.trace import Array, AttentionSite, Trace

NEITHER = 2  # the text of a column that is of no text; 0 and 1 are a text and its pair


@dataclass(frozen=True, eq=False)
class SinkColumn:
    """The weight of each shown query on what is no key, float32 [Q], and how it stands behind the keys of a map."""

    weights: Array

    def behind(self, values: Array) -> Array:
        """The map [Q, T] with the column: [Q, T + 1]."""
        joined: Array = np.column_stack([values, self.weights])
        return joined

    def named(self, keys: Sequence[str]) -> tuple[str, ...]:
        """The keys' names, and the column's."""
        return (*keys, said.SINK)

    def segmented(self, segments: Segments | None) -> Segments | None:
        """The texts of the keys, and none for the column."""
        return None if segments is None else replace(segments, keys=(*segments.keys, NEITHER))


def of_head(trace: Trace, seen: Arrangement, *, site: AttentionSite, head: int) -> SinkColumn | None:
    """Return the column of a head's map; None where every row is divided among the text's keys alone.

    seen: what is in sight, or the whole. Renormalised rows sum to 1 without it.
    """
    record = trace.record_of(site.layer, site.stream, call=site.call)
    if seen.renormalise or not record.function.sinks:
        return None
    tokens = slice(int(seen.queries.positions[0]), int(seen.queries.positions[-1]) + 1)
    sink = trace.sink(layer=site.layer, head=head, stream=site.stream, call=site.call, queries=tokens)
    if sink is None:
        return None
    weights = np.zeros(len(site.queries), np.float32)
    weights[tokens] = sink
    return SinkColumn(seen.queries.mean(weights).astype(np.float32))


def mixed(trace: Trace, sites: Sequence[AttentionSite]) -> bool:
    """Return True where some attentions have such a column and others have none, so that maps differ in width."""
    return len({trace.record_of(site.layer, site.stream, call=site.call).function.sinks for site in sites}) > 1
