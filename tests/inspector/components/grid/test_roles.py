"""The colours of what heads do, as every kind of colour vision sees them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from inspector.components.grid import roles
from inspector.plots import theme
from inspector.plots.theme import Mode

# Machado, Oliveira & Fernandes 2009, table 1, severity 1: on linear RGB.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1, 1.08883])


def linear(colour: str) -> NDArray[np.float64]:
    srgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB 1976 of linear RGB."""
    xyz = TO_XYZ @ rgb.clip(0, 1) / WHITE
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_any_two_frames_are_told_apart(mode: Mode, vision: str) -> None:
    colours = {**roles.COLOURS[mode], "the open head": theme.PRIMARY[mode]}
    seen = {name: lab(VISIONS[vision] @ linear(colour)) for name, colour in colours.items()}
    apart = {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(seen, 2)}
    nearest = min(apart, key=lambda pair: apart[pair])
    assert apart[nearest] > 14, (nearest, apart[nearest])  # 2.3 is just noticeable


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_frame_stands_out_from_the_page(mode: Mode) -> None:
    luminance = {name: float(TO_XYZ[1] @ linear(colour)) for name, colour in roles.COLOURS[mode].items()}
    page = float(TO_XYZ[1] @ linear(theme.BACKGROUND[mode]))
    for name, value in luminance.items():
        lighter, darker = max(value, page), min(value, page)
        assert (lighter + 0.05) / (darker + 0.05) >= 3, name  # WCAG 2.2, 1.4.11: graphics
