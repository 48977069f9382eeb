"""The messages that a file and a notebook draw a stream from: of the grid of all heads, and of each head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from inspector import maps, mixers, overview, row_statistics
from inspector.components.grid import (
    AttentionPictures,
    MixerPictures,
    all_kinds_bytes,
    grid_bytes,
    roles,
    sides,
    signed_bytes,
    widths,
)
from inspector.components.head import HeadMessage, LinkedTokens, Segments, WholeMap
from inspector.components.pack import quantise
from inspector.overview import Overview
from inspector.plots import attention, raster
from inspector.plots.attention import Weights
from inspector.plots.theme import Scale
from inspector.trace import Array, AttentionSite, MixerSite, Trace
from inspector.wording import mixers as words
from models.formatting import layer_name
from models.mixers import MixerKind

SmallPictures = Mapping[tuple[int, MixerKind], Array | None]
Window = tuple[slice, slice]
"""The queries and the keys of a part of a map, each start:stop."""

_SIDE = 96  # cells of the picture of the whole map beside a window, in either direction


class StreamMessages:
    """The messages of all that mixes a stream's tokens; `sites`: a row of the grid each.

    look: the overview of this trace with pictures of grid.sides cells; small: those of its mixers, by layer and kind;
    None computes them at first use. linked: heads of this trace in one document light up each other's tokens.
    """

    def __init__(
        self,
        trace: Trace,
        stream: str,
        *,
        scale: Scale = "linear",
        look: Overview | None = None,
        small: SmallPictures | None = None,
        linked: bool = False,
    ) -> None:
        self.trace, self.stream, self.scale, self.linked = trace, stream, scale, linked
        self.sites = trace.mixing_sites_of(stream)
        self._look, self._small = look, small

    @cached_property
    def look(self) -> Overview | None:
        """The overview, None where no layer has softmax attention."""
        if self._look is None and self.trace.sites:
            return overview.measure(self.trace, sides=sides(self.trace.mixing_sites))
        return self._look

    @cached_property
    def small(self) -> SmallPictures:
        """The small pictures of every mixer, by layer and kind, see `mixers.small_picture`."""
        if self._small is not None:
            return self._small
        most = sides(self.trace.mixing_sites)
        sites = {record.site: record for record in self.trace.mixers}
        return {(at.layer, at.kind): mixers.small_picture(record, side=most[at.stream]) for at, record in sites.items()}

    @cached_property
    def whole(self) -> maps.Arrangement:
        """All queries and keys of the stream."""
        return maps.arrange(self.trace, stream=self.stream)

    def has_map(self, row: int) -> bool:
        """Return False for a row of a mixer whose matrix is not what the layer did."""
        site = self.sites[row]
        return not isinstance(site, MixerSite) or self.small[site.layer, site.kind] is not None

    def places(self, *, opened: tuple[int, int]) -> list[tuple[int, int]]:
        """List row and head of every picture in the grid; of channels that share a picture the open one, else 0."""
        return [
            (row, opened[1] if row == opened[0] and site.tiles < site.heads else number)
            for row, site in enumerate(self.sites)
            for number in range(site.tiles)
            if self.has_map(row)
        ]

    def head(self, row: int, head: int | None, *, window: Window | None = None, pans: bool = False) -> HeadMessage:
        """Make the message of a head, or of softmax attention of the mean over a layer's heads (None).

        row: of the grid, which is what the browser tells heads apart by. window: a part of a long text's map. pans: the
        host follows where the reader moves a window to. Raises ValueError for a map that is not what the layer did.
        """
        site = self.sites[row]
        signed = isinstance(site, MixerSite)
        down, across = window or (slice(0, len(site.queries)), slice(0, len(site.keys)))
        if window is None or head is None:
            weights = weights_of(self.trace, site, head)
        else:
            weights = self._part(site, head, window)
        seen = maps.part(self.whole, queries=down, keys=across)
        rows = None
        if head is not None and not isinstance(site, MixerSite):
            rows = row_statistics.of_head(
                self.trace, seen, layer=site.layer, head=head, stream=site.stream, call=site.call
            )
        ordinals = (self.whole.queries.ordinals[down], self.whole.keys.ordinals[across])
        return HeadMessage(
            weights,
            queries=site.queries[down],
            keys=site.keys[across],
            layer=row,
            head=None if head is None else min(head, site.tiles - 1),
            title=title_of(site, head, site.stream if len(self.trace.streams) > 1 else None),
            scale=self.scale,
            vmax=raster.largest(weights) if signed else 1.0,
            diverging=signed,
            first=(down.start, across.start),
            rows=rows,
            segments=self._segments(down, across),
            linked=self._linked(down, across) if self.linked else None,
            ordinals=None if window is None else ordinals,
            whole=self._whole(row, head) if pans and window is not None and head is not None else None,
        )

    def grid(self, *, selected: tuple[int, int]) -> bytes:
        """Pack the grid of all heads; of all that mixes the stream's tokens, where that is more."""
        sites, attentions = self.sites, self.trace.sites_of(self.stream)
        tokens = len(sites[0].queries)
        drawn = None
        if self.look is not None and attentions:
            measures = self.look.measures[self.look.measures["stream"] == self.stream]
            drawn = AttentionPictures(
                quantise(self.look.pictures[self.stream]),
                roles.notes(measures),
                roles.roles(measures),
                roles.sortable(measures),
            )
        if drawn is not None and len(attentions) == len(sites):
            return grid_bytes(
                drawn.pictures,
                tokens=tokens,
                scale=self.scale,
                selected=selected,
                names=[layer_name(other.layer, other.call, short=True) for other in attentions],
                widths=widths(attentions),
                notes=drawn.notes,
                measures=drawn.measures,
                roles=drawn.roles,
            )
        side = sides(self.trace.mixing_sites)[self.stream]
        of_mixers = {
            row: MixerPictures.of(
                self.trace.mixer(layer=other.layer, kind=other.kind),
                self.small[other.layer, other.kind],
                side=side,
                tokens=tokens,
            )
            for row, other in enumerate(sites)
            if isinstance(other, MixerSite)
        }
        return all_kinds_bytes(sites, drawn, of_mixers, tokens=tokens, scale=self.scale, selected=selected)

    def _part(self, site: AttentionSite | MixerSite, head: int, window: Window) -> Weights:
        down, across = window
        if isinstance(site, MixerSite):
            of_head = self.trace.mixer(layer=site.layer, kind=site.kind).of_head(head)
            cells: Weights = of_head.window(queries=down, keys=across)[0]
            return cells
        return self.trace.window(
            layer=site.layer, head=head, stream=site.stream, call=site.call, queries=down, keys=across
        )

    def _whole(self, row: int, head: int) -> WholeMap:
        """Make the small picture of the map that a window is a part of."""
        site = self.sites[row]
        if isinstance(site, MixerSite):
            record = self.trace.mixer(layer=site.layer, kind=site.kind).of_head(head)
            cells = mixers.pooled(record, self.whole, side=_SIDE)[0]
            picture = signed_bytes(cells / (np.abs(cells).max() or 1), self.scale)
        else:
            assert self.look is not None
            picture = quantise(self.look.pictures[self.stream][self.trace.sites_of(self.stream).index(site), head])
        return WholeMap(len(site.queries), len(site.keys), picture)

    def _segments(self, down: slice, across: slice) -> Segments | None:
        if self.trace.text_pair is None or self.stream == "cross":
            return None
        of_token = self.trace.read_by(self.stream).segments
        return Segments(of_token[down], of_token[across])

    def _linked(self, down: slice, across: slice) -> LinkedTokens:
        """Number the tokens of both texts that an encoder and a decoder read, under the trace's key."""
        target = 0 if self.trace.target is None else len(self.trace.tokens)
        queries, keys = {"encoder": (0, 0), "cross": (target, 0)}.get(self.stream, (target, target))
        return LinkedTokens(
            self.trace.key,
            tuple(range(queries + down.start, queries + down.stop)),
            tuple(range(keys + across.start, keys + across.stop)),
        )


def weights_of(trace: Trace, site: AttentionSite | MixerSite, head: int | None) -> Weights:
    """Give the map of a head, or of softmax attention the mean over a layer's heads: [Q, T]."""
    if isinstance(site, MixerSite):
        return trace.attention(layer=site.layer, head=head, kind=site.kind)
    return attention.chosen(trace, layer=site.layer, head=head, stream=site.stream, call=site.call)[0]


def title_of(site: AttentionSite | MixerSite, head: int | None, stream: str | None) -> str:
    """Name what is drawn of a site: "Layer 1, head 7"."""
    if isinstance(site, MixerSite):
        return words.title(site, head or 0)
    return attention.title(site.layer, head, stream, call=site.call)
