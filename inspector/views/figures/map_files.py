"""The files of attention maps that stand beside each other: each alone, all in one picture, and the Python lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from inspector import export
from inspector.plots import matrices
from inspector.plots.scene import Scene, beside
from inspector.plots.theme import Mode, Scale
from inspector.trace import Array
from inspector.views.figures import menu
from inspector.views.shell import widgets
from inspector.wording import shell as words

_LABELS = menu.Labels(
    png_help="As you see it",
    svg_help="As you see it, sharp at any size",
    csv_help="The weights as you see them, to the last digit",
)


@dataclass(frozen=True, eq=False)
class MapPicture:
    """A map [Q, T] as the reader sees it; top: the end of its colour scale."""

    title: str
    weights: Array
    queries: Sequence[str]
    keys: Sequence[str]
    top: float
    scale: Scale = "linear"
    diverging: bool = False

    def scene(self, mode: Mode) -> Scene:
        """Lay out the map, cell for cell."""
        return matrices.picture(
            self.weights,
            queries=self.queries,
            keys=self.keys,
            title=self.title,
            quantity="difference" if self.diverging else "weight",
            top=self.top,
            diverging=self.diverging,
            scale=self.scale,
            mode=mode,
        )

    def csv(self) -> bytes:
        """Write the weights to the last digit."""
        return export.csv(self.weights, queries=self.queries, keys=self.keys).encode()


def draw(pictures: Mapping[str, MapPicture], *, name: str, python: str = "") -> None:
    """Draw the popover Save for maps by their names on the page.

    name: of the files, before a map's own name. python: the lines that give the same numbers.
    """
    every = list(pictures.values())
    with st.container(horizontal=True, width="content", gap="small"):
        kind = widgets.quiet_button()
        if st.button("Slide", icon=":material/slideshow:", type=kind, key=f"{name}-slide", help="In large type"):
            menu.slides(_slides(pictures), name=f"{name}-slide", key=name)
        files = st.popover("Save the maps", icon=":material/download:", type=kind)
    with files:
        menu.files(name, lambda mode: beside([one.scene(mode) for one in every]), of="All", labels=_LABELS)
        for title, one in pictures.items():
            file = f"{name}-{title.lower().replace(' ', '-')}"
            menu.files(file, one.scene, of=title, labels=_LABELS, csv=one.csv)
        if python:
            st.caption(words.WITHOUT_PAGE)
            widgets.python(python)


def _slides(pictures: Mapping[str, MapPicture]) -> dict[str, Callable[[Mode], Scene]]:
    """Return what a slide can show: the first two maps on one scale, where they share it, and each map alone."""
    (first, left), (second, right), *_ = pictures.items()
    found: dict[str, Callable[[Mode], Scene]] = {}
    if (left.top, left.scale, left.diverging) == (right.top, right.scale, right.diverging):
        found[f"{first} and {second}"] = lambda mode: _slide([left, right], title="", mode=mode)
    for title, one in pictures.items():
        found[title] = partial(_alone, one)
    return found


def _alone(one: MapPicture, mode: Mode) -> Scene:
    return _slide([one], title=one.title, mode=mode)


def _slide(maps: Sequence[MapPicture], *, title: str, mode: Mode) -> Scene:
    return matrices.slide(
        [matrices.Plot(values=one.weights, rows=one.queries, columns=one.keys, title=one.title) for one in maps],
        title=title,
        row_title="query",
        column_title="key",
        quantity="difference" if maps[0].diverging else "weight",
        top=maps[0].top,
        diverging=maps[0].diverging,
        scale=maps[0].scale,
        mode=mode,
    )
