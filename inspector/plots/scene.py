"""A picture made of text, boxes, lines and cells, written as SVG and as PNG: one layout, two files that look alike.

```python
scene = Scene(200, 80, "light", (Text(20, 50, "q · k", size=24), Box(10, 10, 180, 60, stroke="#000000")))
scene.svg(), scene.png()
```

Lengths are pixels of the SVG; a PNG has SHARP times as many. Nothing is fetched: the SVG's letters are letters, those
of the PNG are drawn by Pillow.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from inspector.plots import theme
from inspector.plots.raster import drawable, text_line
from inspector.plots.theme import Mode
from inspector.text import visible

SHARP = 2  # pixels of a PNG for each of the SVG
_FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', Helvetica, Arial, sans-serif"
_CELLS = 4096  # a picture of more cells is one image in the SVG
_MEASURED = 32  # pixels of the letters whose width is measured


@dataclass(frozen=True)
class Text:
    """A line of text: x, y are the ends of its baseline ("start", "end") or its middle; turned: read upwards."""

    x: float
    y: float
    text: str
    size: float
    colour: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    turned: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle with a fill, a frame, or both."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    weight: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True)
class Line:
    """A straight line from (x, y) to (to_x, to_y)."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: str
    weight: float = 1.5


@dataclass(frozen=True, eq=False)
class Cells:
    """A picture of colours uint8 [R, C, 3], a cell each; values [R, C]: the numbers that the SVG's cells name."""

    x: float
    y: float
    width: float
    height: float
    colours: NDArray[np.uint8]
    values: NDArray[np.floating] | None = None


Mark = Text | Box | Line | Cells


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture of width by height pixels; its marks are drawn in their order."""

    width: float
    height: float
    mode: Mode
    marks: Sequence[Mark]

    def svg(self) -> str:
        """Write the picture as SVG."""
        ink, paper = theme.TEXT[self.mode], theme.BACKGROUND[self.mode]
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}" fill="{ink}">',
            f'<rect width="100%" height="100%" fill="{paper}"/>',
            *(part for mark in self.marks for part in _written(mark)),
            "</svg>",
        ]
        return "\n".join(parts)

    def png(self, *, colours: int | None = None) -> bytes:
        """Draw the picture as PNG; with so many colours at most, for a smaller file."""
        size = (round(SHARP * self.width), round(SHARP * self.height))
        image = Image.new("RGB", size, theme.BACKGROUND[self.mode])
        for mark in self.marks:
            _draw(image, mark, ink=theme.TEXT[self.mode])
        file = io.BytesIO()
        if colours is None:
            image.save(file, format="PNG")
        else:
            image.quantize(colours).save(file, format="PNG", optimize=True)
        return file.getvalue()


def beside(scenes: Sequence[Scene]) -> Scene:
    """Put pictures of one mode beside each other, in order."""
    lefts = [sum(before.width for before in scenes[:place]) for place in range(len(scenes) + 1)]
    marks = [_moved(mark, left) for scene, left in zip(scenes, lefts, strict=False) for mark in scene.marks]
    return Scene(lefts[-1], max(scene.height for scene in scenes), scenes[0].mode, marks)


def _moved(mark: Mark, by: float) -> Mark:
    return replace(mark, x=mark.x + by, to_x=mark.to_x + by) if isinstance(mark, Line) else replace(mark, x=mark.x + by)


@lru_cache(maxsize=4096)
def _width(text: str) -> int:
    return text_line(text, _MEASURED).width


def width(text: str, size: float) -> float:
    """Measure a line of text, as the PNG draws it, in pixels; the SVG's font differs by little."""
    return _width(text) * size / _MEASURED


def wrapped(text: str, size: float, room: float) -> list[str]:
    """Break a text into lines of at most `room` pixels; a longer word has a line alone."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


# --- SVG -----------------------------------------------------------------------------------------------------------


def _written(mark: Mark) -> Iterator[str]:
    match mark:
        case Text():
            look = f' fill="{mark.colour}"' if mark.colour else ""
            look += ' font-weight="600"' if mark.bold else ""
            look += f' transform="rotate(-90 {mark.x:g} {mark.y:g})"' if mark.turned else ""
            text = html.escape(visible(mark.text))
            yield (
                f'<text x="{mark.x:g}" y="{mark.y:g}" font-size="{mark.size:g}" text-anchor="{mark.anchor}"{look}>'
                f"{text}</text>"
            )
        case Box():
            stroke = f' stroke="{mark.stroke}" stroke-width="{mark.weight:g}"' if mark.stroke else ""
            yield f'<rect {_place(mark)} rx="{mark.radius:g}" fill="{mark.fill or "none"}"{stroke}/>'
        case Line():
            ends = f'x1="{mark.x:g}" y1="{mark.y:g}" x2="{mark.to_x:g}" y2="{mark.to_y:g}"'
            yield f'<line {ends} stroke="{mark.colour}" stroke-width="{mark.weight:g}"/>'
        case Cells():
            yield from _cells(mark)


def _place(mark: Box | Cells) -> str:
    return f'x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}"'


def _cells(mark: Cells) -> Iterator[str]:
    rows, columns = mark.colours.shape[:2]
    if mark.values is None or rows * columns > _CELLS:
        file = io.BytesIO()
        Image.fromarray(mark.colours).save(file, format="PNG")
        data = base64.b64encode(file.getvalue()).decode()
        yield (
            f'<image {_place(mark)} preserveAspectRatio="none" image-rendering="pixelated" '
            f'href="data:image/png;base64,{data}"/>'
        )
        return
    wide, high = mark.width / columns, mark.height / rows
    for (row, column), value in np.ndenumerate(mark.values):
        red, green, blue = mark.colours[row, column].tolist()
        yield (
            f'<rect x="{mark.x + column * wide:g}" y="{mark.y + row * high:g}" width="{wide:g}" height="{high:g}" '
            f'fill="#{red:02x}{green:02x}{blue:02x}" shape-rendering="crispEdges"><title>{value:.9g}</title></rect>'
        )


# --- PNG -----------------------------------------------------------------------------------------------------------


def _draw(image: Image.Image, mark: Mark, *, ink: str) -> None:
    canvas = ImageDraw.Draw(image)
    match mark:
        case Text():
            _draw_text(image, mark, colour=mark.colour or ink)
        case Box():
            x, y, right, bottom = (
                round(SHARP * side) for side in (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
            )
            canvas.rounded_rectangle(
                (x, y, right - 1, bottom - 1),
                radius=SHARP * mark.radius,
                fill=mark.fill or None,
                outline=mark.stroke or None,
                width=round(SHARP * mark.weight) if mark.stroke else 0,
            )
        case Line():
            ends = [SHARP * end for end in (mark.x, mark.y, mark.to_x, mark.to_y)]
            canvas.line(ends, fill=mark.colour, width=round(SHARP * mark.weight))
        case Cells():
            x, y, right, bottom = (
                round(SHARP * side) for side in (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
            )
            cells = Image.fromarray(mark.colours)
            shrinks = right - x < cells.width or bottom - y < cells.height
            resampling = Image.Resampling.BOX if shrinks else Image.Resampling.NEAREST
            image.paste(cells.resize((right - x, bottom - y), resampling), (x, y))


def _draw_text(image: Image.Image, mark: Text, *, colour: str) -> None:
    size = round(SHARP * mark.size)
    line = text_line(drawable(mark.text), size)
    before = {"start": 0.0, "middle": line.width / 2, "end": float(line.width)}[mark.anchor]
    x, y = SHARP * mark.x, SHARP * mark.y
    if mark.turned:
        line = line.rotate(90, expand=True)
        corner = (round(x - size), round(y - line.height + before))
    else:
        corner = (round(x - before), round(y - size))
    image.paste(colour, corner, line)
    if mark.bold:  # Pillow's font has no bold: a hair more of it
        image.paste(colour, (corner[0] + 1, corner[1]), line)
