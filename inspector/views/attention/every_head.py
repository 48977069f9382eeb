"""The maps of all heads of a stream, sent once for a text and a view: another head then opens in the browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector import maps, row_statistics
from inspector.components.head import MOST_BYTES, HeadMessage, every
from inspector.views.attention import open_head, sink_column
from inspector.views.components.heads import heads
from inspector.views.shell import caching

if TYPE_CHECKING:
    from inspector.plots.theme import Scale
    from inspector.trace import AttentionSite, Trace


def view(trace: Trace, shown: maps.Arrangement, *, sites: Sequence[AttentionSite], scale: Scale) -> str:
    """Name what is shown of the weights of a stream; "" where its maps are too many bytes, or of several widths."""
    if sink_column.mixed(trace, sites):
        return ""
    cells = len(shown.queries.members) * len(shown.keys.members) * sum(site.heads for site in sites)
    return "" if shown.is_long or 4 * cells > MOST_BYTES else f"{hash((trace.key, sites[0].stream, shown, scale)):x}"


def draw(trace: Trace, shown: maps.Arrangement, *, sites: Sequence[AttentionSite], scale: Scale, view: str) -> None:
    """Send the maps of the view of that name."""

    def messages() -> Iterator[HeadMessage]:
        for row, site in enumerate(sites):
            layer, stream, call = site.layer, site.stream, site.call
            record = trace.record_of(layer, stream, call=call)
            for head in range(site.heads):
                statistics = row_statistics.reader(record, shown)
                on_block = None if statistics is None else statistics.see
                weights = maps.weights(
                    trace, shown, layer=layer, head=head, stream=stream, call=call, on_block=on_block
                )
                keys, beside = shown.keys.labels, sink_column.of_head(trace, shown, site=site, head=head)
                if beside is not None:
                    keys, weights = beside.named(keys), beside.behind(weights)
                yield HeadMessage(
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

    heads(caching.cached((trace.key, "every head", view), lambda: every(messages())), key="heads-view")
