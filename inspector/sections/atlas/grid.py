"""The heads of an atlas as a grid, or those of two atlases as two grids on one scale of colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector.components.matrix import Panel
from inspector.sections.atlas import card
from inspector.sections.atlas.colour import opened, opening
from inspector.sections.section import Map
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.atlas import Atlas
    from inspector.sections.atlas.colour import Colour

ID = "atlas_grid"


@dataclass(frozen=True, eq=False)
class Grid:
    """The heads of a stream, coloured by a number. place: of the head that is told of. title: over the grid."""

    atlas: Atlas
    colour: Colour
    stream: str
    place: int
    title: str = ""

    @property
    def inside(self) -> NDArray[np.bool_]:
        """True for the heads of the atlas that the grid has, [N]."""
        inside: NDArray[np.bool_] = (self.atlas.heads["stream"] == self.stream).to_numpy()
        return inside

    @property
    def panel(self) -> Panel:
        """The heads as cells: rows are layers, or their several attentions, and columns heads."""
        sites, places = self._sites, self._places
        values = np.where(places >= 0, self.colour.values[places], np.nan)
        plain = sites == [(layer, 0) for layer in range(len(sites))]  # then a cell is named "layer 2, head 7"
        (row,), (column,) = np.nonzero(places == self.place)
        return Panel(
            values,
            rows=range(len(sites)) if plain else [words.row(layer, call) for layer, call in sites],
            columns=range(values.shape[1]),
            title=self.title,
            named=(int(row), int(column)),
        )

    def site(self, row: int, column: int) -> dict[str, int]:
        """Return layer, call and head of a cell; nothing for a cell without a head."""
        place = int(self._places[row, column])
        return card.site(self.atlas, place) if place >= 0 else {}

    @property
    def _sites(self) -> list[tuple[int, int]]:
        own = self.atlas.heads[self.inside]
        return list(dict.fromkeys(zip(own["layer"], own["call"], strict=True)))

    @property
    def _places(self) -> NDArray[np.int64]:
        """The row in `atlas.heads` of every cell, -1 for a cell without a head."""
        own, sites = self.atlas.heads[self.inside], self._sites
        places = np.full((len(sites), int(own["head"].max()) + 1), -1)
        rows = [sites.index(site) for site in zip(own["layer"], own["call"], strict=True)]
        places[rows, own["head"]] = own.index
        return places


def drawn(first: Grid, second: Grid | None = None, *, choosing: int = 1) -> Map:
    """Draw a grid, or two side by side. choosing: how many of them have cells that open a head of the first."""
    colour, reads = first.colour, "" if first.colour.scores is None else "head_relations"
    code = f"{opened(first.atlas, reads)}table = {colour.code}"
    name = first.atlas.manifest.model
    panels = [first.panel]
    if second is not None:
        code += f"\n\n{opening(second.atlas)}beside = {second.colour.code}"
        name += f"-and-{second.atlas.manifest.model}"
        panels.append(second.panel)
    return Map(
        ID,
        "",
        tuple(panels),
        words.LAYER,
        words.HEAD,
        words.grid_alt(colour.title) if second is None else words.grids_alt(colour.title),
        quantity=colour.quantity,
        numbered="neither",
        top=colour.top,
        diverging=colour.diverging,
        code=code,
        name=f"{name}-atlas",
        chooses=first.site,
        choosing=choosing,
    )
