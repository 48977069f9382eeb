"""Slides of maps that stand beside each other: two on one scale, and each alone."""

from __future__ import annotations

import numpy as np

from inspector.plots.scene import Cells
from inspector.views.figures import map_files
from inspector.views.figures.map_files import MapPicture


def picture(title: str, top: float, *, diverging: bool = False) -> MapPicture:
    return MapPicture(title, np.full((2, 2), 0.5, np.float32), ("a", "b"), ("c", "d"), top, diverging=diverging)


def test_two_maps_share_a_slide_only_where_they_share_a_scale() -> None:
    apart = picture("A minus B", 0.3, diverging=True)
    slides = map_files._slides({"A": picture("one", 1.0), "B": picture("two", 1.0), "A minus B": apart})
    assert list(slides) == ["A and B", "A", "B", "A minus B"]
    drawn = {name: make("light").marks for name, make in slides.items()}
    counts = [sum(isinstance(m, Cells) and m.values is not None for m in marks) for marks in drawn.values()]
    assert counts == [2, 1, 1, 1]
    own = map_files._slides({"A": picture("one", 1.0), "B": picture("two", 0.5), "A minus B": apart})
    assert list(own) == ["A", "B", "A minus B"]
