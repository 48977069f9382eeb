"""The files of attention maps that stand beside each other: each alone, all in one picture, and the Python lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from inspector import export
from inspector.plots import matrices, raster, vector
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode, Scale
from inspector.trace import Array
from inspector.views.figures import menu
from inspector.views.shell import downloads, session, widgets


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

    def png(self, mode: Mode) -> bytes:
        """Draw the map as PNG."""
        return raster.png(self.weights, **self._look(mode))

    def svg(self, mode: Mode) -> str:
        """Draw the map as SVG."""
        return vector.svg(self.weights, **self._look(mode))

    def csv(self) -> bytes:
        """Write the weights to the last digit."""
        return export.csv(self.weights, queries=self.queries, keys=self.keys).encode()

    def _look(self, mode: Mode) -> dict[str, Any]:
        return {
            "queries": self.queries,
            "keys": self.keys,
            "title": self.title,
            "mode": mode,
            "scale": self.scale,
            "top": self.top,
            "quantity": "difference" if self.diverging else "weight",
            "diverging": self.diverging,
        }


def draw(pictures: Mapping[str, MapPicture], *, name: str, python: str = "") -> None:
    """Draw the popover Save for maps by their names on the page.

    name: of the files, before a map's own name. python: the lines that give the same numbers.
    """
    mode, every = session.mode(), list(pictures.values())
    with st.container(horizontal=True, width="content", gap="small"):
        kind = widgets.quiet_button()
        if st.button("Slide", icon=":material/slideshow:", type=kind, key=f"{name}-slide", help="In large type"):
            menu.slides(_slides(pictures), name=f"{name}-slide", key=name)
        files = st.popover("Save the maps", icon=":material/download:", type=kind)
    with files:
        with st.container(horizontal=True, gap="small"):
            downloads.button(
                f"{name}.png",
                lambda: raster.beside([one.png(mode) for one in every], mode=mode),
                "The maps beside each other, as you see them",
                label="All, PNG",
            )
            downloads.button(
                f"{name}.svg",
                lambda: vector.beside([one.svg(mode) for one in every], mode=mode).encode(),
                "The maps beside each other, sharp at any size",
                label="All, SVG",
            )
        for title, one in pictures.items():
            _files(f"{name}-{title.lower().replace(' ', '-')}", title, one, mode)
        if python:
            st.caption("The same numbers without the page:")
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


def _files(file: str, title: str, one: MapPicture, mode: Mode) -> None:
    with st.container(horizontal=True, gap="small"):
        downloads.button(f"{file}.png", lambda: one.png(mode), "The map as you see it", label=f"{title}, PNG")
        downloads.button(
            f"{file}.svg",
            lambda: one.svg(mode).encode(),
            "The map as you see it, sharp at any size",
            label=f"{title}, SVG",
        )
        downloads.button(
            f"{file}.csv", one.csv, "The weights as you see them, to the last digit", label=f"{title}, CSV"
        )
