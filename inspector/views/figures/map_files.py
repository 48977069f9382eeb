"""The files of attention maps that stand beside each other: each alone, all in one picture, and the Python lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from inspector import export
from inspector.plots import raster, vector
from inspector.plots.theme import Mode, Scale
from inspector.trace import Array
from inspector.views.shell import downloads, session


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
    with st.popover("Save the maps", icon=":material/download:", type="tertiary"):
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
            st.code(python, language="python")


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
