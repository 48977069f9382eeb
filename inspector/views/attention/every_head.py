"""The maps of all heads of a stream, for a text and a view: another head then opens in the browser.

They are sent once; where they are too many bytes, the browser fetches the map of a head that the reader opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import ref

from inspector import maps, row_statistics
from inspector.components.head import MOST_BYTES, HeadMessage, alone, every, listed
from inspector.views.attention import open_head, sink_column
from inspector.views.components.heads import heads
from inspector.views.server import maps as served
from inspector.views.shell import caching

if TYPE_CHECKING:
    from inspector.plots.theme import Scale
    from inspector.trace import AttentionSite, Trace


def view(trace: Trace, shown: maps.Arrangement, *, sites: Sequence[AttentionSite], scale: Scale) -> str:
    """Name what is shown of the weights of a stream; "" for windows of a long text, and maps of several widths."""
    apart = shown.is_long or sink_column.mixed(trace, sites)
    return "" if apart else f"{hash((trace.key, sites[0].stream, shown, scale)):x}"


def draw(trace: Trace, shown: maps.Arrangement, *, sites: Sequence[AttentionSite], scale: Scale, view: str) -> None:
    """Send the maps of the view of that name, or where they are to be fetched."""
    places = [(row, head) for row, site in enumerate(sites) for head in range(site.heads)]
    cells = len(shown.queries.members) * len(shown.keys.members)
    if 4 * cells * len(places) <= MOST_BYTES:
        messages = (_message(trace, shown, sites, at=place, view=view) for place in places)
        data = caching.cached((trace.key, "every head", view), lambda: every(messages))
    else:
        recording = ref(trace)  # the cache alone decides how long it stays

        def make(row: int, head: int) -> bytes | None:
            trace = recording()
            if trace is None or (row, head) not in places:
                return None
            return alone(_message(trace, shown, sites, at=(row, head), view=view))

        data = listed(places, view=view, path=served.offer((trace.key, view), make))
    heads(data, key="heads-view")


def _message(
    trace: Trace, shown: maps.Arrangement, sites: Sequence[AttentionSite], *, at: tuple[int, int], view: str
) -> HeadMessage:
    row, head = at
    site = sites[row]
    layer, stream, call = site.layer, site.stream, site.call
    statistics = row_statistics.reader(trace.record_of(layer, stream, call=call), shown)
    on_block = None if statistics is None else statistics.see
    weights = maps.weights(trace, shown, layer=layer, head=head, stream=stream, call=call, on_block=on_block)
    keys, beside = shown.keys.labels, sink_column.of_head(trace, shown, site=site, head=head)
    if beside is not None:
        keys, weights = beside.named(keys), beside.behind(weights)
    return HeadMessage(
        weights,
        queries=shown.queries.labels,
        keys=keys,
        layer=row,
        head=head,
        title=open_head.title(trace, site, head),
        vmax=open_head.top([weights]),
        rows=None if statistics is None else statistics.result(),
        view=view,
    )
