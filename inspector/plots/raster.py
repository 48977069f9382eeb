"""Colours of attention maps, and lines of text, as pixels drawn by Pillow. No browser, nothing is fetched.

Labels are set in Pillow's own scalable font, then in a few widespread fonts where this machine has them (Noto CJK,
DejaVu, the system's). A character that no font can draw is written as U+XXXX, never as an empty box.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from inspector.plots import theme
from inspector.plots.attention import Weights
from inspector.plots.theme import Mode, Scale
from inspector.text import visible
from inspector.trace.pooling import pool

# Sizes in pixels, about twice those of the page: sharp on a slide.
_LABEL = 22
_STRIP, _STRIP_CELLS, _STRIP_GAP = 192, 96, 16
_FONTS = (
    *("NotoSans-Regular.ttf", "DejaVuSans.ttf", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf"),
    *("NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansDevanagari-Regular.ttf"),
    *("Arial Unicode.ttf", "PingFang.ttc", "segoeui.ttf", "msyh.ttc"),
)


def strip(
    maps: Sequence[Weights], *, labels: Sequence[str], mode: Mode = "light", scale: Scale = "sqrt"
) -> Image.Image:
    """Draw maps [Q, T] of equal shape in a row with a label above each; query 0 on top, key 0 at the left.

    Long maps are max-pooled, so that a single bright cell stays visible. All share one colour range, from 0 (the
    background) to 1, so that layers can be compared. Raises ValueError where maps differ in shape, or labels in number.
    """
    shapes = sorted({weights.shape for weights in maps})
    if len(shapes) != 1 or len(labels) != len(maps):
        raise ValueError(
            f"{len(maps)} maps of shapes {shapes} and {len(labels)} labels make no row; "
            "give one label for each map, and maps of one shape"
        )
    pictures = pool(np.stack([np.asarray(weights, np.float32) for weights in maps]), side=_STRIP_CELLS)
    colours = paint(pictures, mode=mode, scale=scale, top=1.0)
    zoom = max(1, _STRIP // max(pictures.shape[1:]))
    height, width = zoom * pictures.shape[1], zoom * pictures.shape[2]

    names = [text_line(label, _LABEL) for label in labels]
    column = max(width, *(name.width for name in names)) + 2
    size = (len(maps) * (column + _STRIP_GAP) - _STRIP_GAP, names[0].height + height + 2)
    row = Image.new("RGB", size, theme.BACKGROUND[mode])
    for place, (name, cells) in enumerate(zip(names, colours, strict=True)):
        left = place * (column + _STRIP_GAP)
        row.paste(theme.TEXT[mode], (left, 0), name)
        row.paste(theme.GRID[mode], (left, names[0].height, left + width + 2, names[0].height + height + 2))
        row.paste(Image.fromarray(cells).resize((width, height), 0), (left + 1, names[0].height + 1))
    return row


def paint(
    weights: Weights, *, mode: Mode, scale: Scale = "linear", top: float | None = None, diverging: bool = False
) -> NDArray[np.uint8]:
    """Colour weights [..., Q, T] as [..., Q, T, 3], red, green, blue; `top` (the largest where None) gets the last.

    diverging: signed values, -top gets the first. Masked cells (NaN, -inf) are grey.
    """
    top = largest(weights) if top is None else top or 1.0
    values = np.asarray(weights, dtype=np.float64)
    masked = ~np.isfinite(values)
    share = np.clip(np.where(masked, 0, values) / top, -1 if diverging else 0, 1)
    share = np.sign(share) * np.sqrt(np.abs(share)) if scale == "sqrt" else share
    colours = theme.DIVERGING[mode] if diverging else theme.SEQUENTIAL[mode]
    stops = np.array([_channels(stop) for stop in colours])
    places = np.linspace(-1 if diverging else 0, 1, len(stops))
    painted = np.stack([np.interp(share, places, stops[:, c]) for c in range(3)], axis=-1).round()
    painted[masked] = _channels(theme.GRID[mode])
    return painted.astype(np.uint8)


def largest(weights: Weights) -> float:
    """Return the largest finite size of a value, where a colour scale ends; 1 where all are 0."""
    finite = np.abs(weights[np.isfinite(weights)])
    return float(finite.max(initial=0)) or 1.0


def _channels(stop: str) -> list[int]:
    return [int(stop[at : at + 2], 16) for at in (1, 3, 5)]


def drawable(text: str) -> str:
    """Write every character of `text` that no font here can draw, or that draws nothing, as U+XXXX."""
    clusters = _clusters(visible(text))
    return "".join(c if _font_for(c) is not None else "".join(f"U+{ord(part):04X}" for part in c) for c in clusters)


def ticks(top: float) -> list[float]:
    """Return three to six round values from 0 to at most `top`, a step of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(top / 2))
    step = max(factor * power for factor in (1, 2, 5) if factor * power <= top / 2)
    return [step * count for count in range(math.floor(top / step + 1e-9) + 1)]


def bar_ticks(top: float, *, diverging: bool) -> list[tuple[float, float]]:
    """Return the ticks of a colour bar, (place from its lower end 0 to its upper end 1, value), from 0 or from -top."""
    least = -top if diverging else 0.0
    values = ([-value for value in ticks(top)[:0:-1]] if diverging else []) + ticks(top)
    return [((value - least) / (top - least), value) for value in values]


def text_line(text: str, size: int) -> Image.Image:
    """Draw a line of text as a mask; lines of the same size are equally high, whatever their letters."""
    runs: list[tuple[int, str]] = []
    for cluster in _clusters(drawable(text)):
        font = _font_for(cluster) or 0
        if runs and runs[-1][0] == font:
            runs[-1] = (font, runs[-1][1] + cluster)
        else:
            runs.append((font, cluster))
    lengths = [math.ceil(_fonts(size)[font].getlength(run)) for font, run in runs]
    line = Image.new("L", (max(1, sum(lengths)), round(1.4 * size)))
    for (font, run), start in zip(runs, np.cumsum([0, *lengths]), strict=False):
        ImageDraw.Draw(line).text((int(start), size), run, fill=255, font=_fonts(size)[font], anchor="ls")
    return line


@lru_cache(maxsize=8)
def _fonts(size: int) -> tuple[ImageFont.FreeTypeFont, ...]:
    """Load Pillow's own font, then the fonts of `_FONTS` that Pillow finds in the system's font folders."""
    own = ImageFont.load_default(size)
    if not isinstance(own, ImageFont.FreeTypeFont):
        raise ValueError("this Pillow was built without FreeType, so it cannot draw labels; install Pillow's own wheel")
    found = [own]
    for name in _FONTS:
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue  # not on this machine
    return tuple(found)


def _clusters(text: str) -> list[str]:
    """Split text into characters, each with the marks and joiners that follow it, which one font has to draw."""
    clusters: list[str] = []
    for character in text:
        if clusters and (unicodedata.category(character).startswith("M") or character in "\u200c\u200d"):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


@lru_cache(maxsize=4096)
def _font_for(cluster: str) -> int | None:
    """Return the index of the first font with a glyph for every character of the cluster, None for none."""
    if cluster.isspace():
        return 0
    for index, font in enumerate(_fonts(_LABEL)):
        # What a font lacks is drawn as its "not defined" glyph, which is also what a non-character gets.
        missing = bytes(font.getmask("\U0010ffff"))
        if all(bytes(font.getmask(character)) != missing for character in cluster):
            return index
    return None
