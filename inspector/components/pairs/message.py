"""The message of the matrix of all pairs of heads."""

from __future__ import annotations

import numpy as np

from inspector.components.pack import pack
from inspector.head_distances import HeadDistances
from inspector.plots import theme


def matrix_bytes(distances: HeadDistances, *, selected: tuple[int, int] | None = None) -> bytes:
    """Pack every distance as float32; selected: the places of the open pair."""
    values = distances.values.astype(np.float32)
    header = {
        "heads": [[layer, head, *[call] * (call > 0)] for layer, head, call in distances.places],
        "colours": {mode: list(colours) for mode, colours in theme.SEQUENTIAL.items()},
        "vmax": float(values.max()) or 1.0,
        "selected": selected,
    }
    return pack(header, values)
