"""A message for a web component: a JSON header and raw numbers in one run of bytes.

The components take nothing but bytes (bytes inside a dict would arrive as text), so a message is
    uint32 little-endian length of the header | header, JSON in UTF-8 | zeros up to a multiple of 4 | raw data.
The message of a component lies beside the component: `grid/message.py`, `head/message.py`, `pairs/message.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Colours = Mapping[str, Sequence[str]]
"""Hex stops of a colour scale for "light" and "dark", from zero up (or from -vmax to vmax, zero in the middle)."""

BUDGET = 1_200_000  # bytes of a message's pictures or maps, at most; the browser draws as many without a pause


def pack(header: Mapping[str, object], data: NDArray[np.float32] | NDArray[np.uint8]) -> bytes:
    """Pack a header of JSON values, without NaN, and data in uint8 or float32 into one message."""
    if data.dtype not in (np.uint8, np.float32):
        raise ValueError(f"data to pack is uint8 or float32, not {data.dtype}: convert it with .astype")
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    start = len(text).to_bytes(4, "little") + text
    return start + bytes(-len(start) % 4) + data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes()


def quantise(weights: NDArray[np.float32], *, top: float = 1.0) -> NDArray[np.uint8]:
    """Round weights to the bytes of a picture: round(255 sqrt(a / top)), and 255 for a weight over `top`.

    The root keeps the small weights of a long text apart.
    """
    levels: NDArray[np.float32] = np.rint(255 * np.sqrt(np.clip(weights / np.float32(top), 0, 1)))
    return levels.astype(np.uint8)


def stops(colours: Colours, *, odd: bool = False) -> dict[str, list[str]]:
    """Return the colours as the header holds them; `odd` asks for a middle colour, which is zero.

    Raises ValueError where a mode is missing or has too few colours.
    """
    for mode in ("light", "dark"):
        count = len(colours[mode]) if mode in colours else 0
        if count < 2 or (odd and count % 2 == 0):
            wanted = "an odd number of colours, the middle one at zero," if odd else "two colours or more"
            raise ValueError(f"a scale needs {wanted} for {mode!r}; it has {count}")
    return {mode: list(colours[mode]) for mode in ("light", "dark")}
