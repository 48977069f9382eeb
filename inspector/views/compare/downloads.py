"""Files of the maps that are compared, and the Python lines of the comparison."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.export import python
from inspector.views.compare.difference import PanelDifference
from inspector.views.compare.panels import Panel
from inspector.views.figures import map_files
from inspector.views.figures.map_files import MapPicture
from inspector.views.figures.map_options import MapOptions
from inspector.views.shell import recording_notes


def draw(panels: Sequence[Panel], pair: PanelDifference | str, *, options: MapOptions) -> None:
    """Draw the menu of the maps."""
    lines = python.comparison(pair.a.compared, pair.b.compared) if isinstance(pair, PanelDifference) else ""
    map_files.draw(_pictures(panels, pair, options), name="compared", python=lines)


def _pictures(panels: Sequence[Panel], pair: PanelDifference | str, options: MapOptions) -> dict[str, MapPicture]:
    top = max((panel.top for panel in panels if panel.attends), default=1.0)
    pictures = {
        panel.name: MapPicture(
            f"{panel.title}, {panel.model}{recording_notes.weights(panel.trace.model)}",
            panel.weights,
            panel.shown.queries.labels,
            panel.shown.keys.labels,
            panel.top if options.own_scale or not panel.attends else top,
            options.scale,
            diverging=not panel.attends,
        )
        for panel in panels
    }
    if isinstance(pair, PanelDifference):
        apart = pair.apart
        pictures[pair.title] = MapPicture.difference(pair.title, apart.values, apart.queries, apart.keys)
    return pictures
