from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageColor

from inspector.plots import matrices, raster, theme

HOSTILE = ("<img src=x onerror=alert(1)>", "$x$", "a\u200bb", "", "日本", "👩\u200d🚀", "x" * 200, "\n")


def decode(png: bytes) -> np.ndarray:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def find_map(picture: np.ndarray, mode: str) -> tuple[int, int]:
    """Top and left of the map's first cell: its frame, two pixels wide, is what lies leftmost in the frame's colour."""
    muted = (picture == ImageColor.getrgb(theme.MUTED[mode])).all(axis=-1)
    left = int(np.flatnonzero(muted.sum(axis=0) >= 64)[0])  # a frame's side is longer than a letter
    return int(np.flatnonzero(muted[:, left])[0]) + 2, left + 2


@pytest.mark.parametrize("scale", ["linear", "sqrt"])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_cell_has_the_colour_of_its_weight(mode: str, scale: str) -> None:
    stops = theme.SEQUENTIAL[mode]
    places = np.arange(len(stops)) / (len(stops) - 1)  # one weight for each stop of the scale
    weights = (places if scale == "linear" else places**2)[None].repeat(2, axis=0).astype(np.float32)
    weights[1] = weights[1, ::-1]
    keys = [f"k{place}" for place in range(len(stops))]
    picture = decode(
        matrices.picture(weights, queries=["a", "b"], keys=keys, title="map", mode=mode, scale=scale).png()
    )
    top, left = find_map(picture, mode)
    for row, expected in enumerate((stops, stops[::-1])):
        for column, stop in enumerate(expected):
            cell = picture[top + 64 * row : top + 64 * (row + 1), left + 64 * column : left + 64 * (column + 1)]
            assert (np.abs(cell.astype(int) - ImageColor.getrgb(stop)) <= 1).all()  # float32 weights


def test_a_fixed_top_makes_pictures_comparable() -> None:
    picture = decode(matrices.picture(np.full((1, 1), 0.5), queries=["a"], keys=["b"], title="", top=1.0).png())
    top, left = find_map(picture, "light")
    assert tuple(picture[top, left]) == ImageColor.getrgb(theme.SEQUENTIAL["light"][6])


def test_a_long_text_keeps_every_cell() -> None:
    weights = np.zeros((512, 512), np.float32)
    weights[511, 3] = 1
    tokens = [f"token{place}" for place in range(512)]
    picture = decode(matrices.picture(weights, queries=tokens, keys=tokens, title="Layer 0, head 0").png())
    top, left = find_map(picture, "light")
    last = ImageColor.getrgb(theme.SEQUENTIAL["light"][-1])
    assert (picture[top + 1022 : top + 1024, left + 6 : left + 8] == last).all()
    assert (picture[top : top + 1022, left : left + 1024] == 255).all()
    assert max(picture.shape) < 1600


def test_hostile_tokens_are_drawn_and_none_cuts_the_picture() -> None:
    weights = np.eye(len(HOSTILE), dtype=np.float32)
    picture = decode(matrices.picture(weights, queries=HOSTILE, keys=HOSTILE, title="long " * 60).png())
    border = np.concatenate([picture[:8].reshape(-1, 3), picture[-8:].reshape(-1, 3)])
    sides = np.concatenate([picture[:, :8].reshape(-1, 3), picture[:, -8:].reshape(-1, 3)])
    assert (border == 255).all()
    assert (sides == 255).all()


def test_what_no_font_has_is_named() -> None:
    assert raster.drawable("cat") == "cat"
    assert raster.drawable("\U000f0000") == "U+F0000"  # private use: no font of the list draws it
    assert raster.drawable("a\U000f0000\u0301b") == "aU+F0000U+0301b"
    assert raster.drawable("\u200b") == "U+200B"
    assert raster.drawable(" ") == " "


@pytest.mark.parametrize(
    ("top", "expected"),
    [(1.0, [0, 0.5, 1]), (0.993, [0, 0.2, 0.4, 0.6, 0.8]), (0.44, [0, 0.2, 0.4]), (0.03, [0, 0.01, 0.02, 0.03])],
)
def test_the_colour_bar_has_round_numbers(top: float, expected: list[float]) -> None:
    assert raster.ticks(top) == pytest.approx(expected)


def test_wrong_shapes_are_said() -> None:
    with pytest.raises(ValueError, match=r"\(2, 2\) do not fit 1 queries and 2 keys"):
        matrices.picture(np.eye(2), queries=["a"], keys=["a", "b"], title="")


def test_signed_values_and_masked_cells_have_colours_of_their_own() -> None:
    values = np.array([[-2.0, 0.0, 2.0], [1.0, np.nan, -np.inf]])
    painted = raster.paint(values, mode="light", diverging=True)
    ends, middle = theme.DIVERGING["light"], len(theme.DIVERGING["light"]) // 2
    colours = ["#" + bytes(colour.tolist()).hex() for colour in painted.reshape(-1, 3)]
    assert colours[:3] == [ends[0], ends[middle], ends[-1]]
    assert colours[4] == colours[5] == theme.GRID["light"]
    assert colours[3] == ends[middle + middle // 2]
    picture = decode(matrices.picture(values, queries=["a", "b"], keys=["c", "d", "e"], title="", diverging=True).png())
    assert picture.shape[2] == 3
