"""The picture of the rooms and their arrows, drawn from the imports. `make rooms` writes docs/rooms.svg.

Each row is a floor of tests/rooms.py and each arrow leads down. An arrow that others make in steps is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from tests import rooms

PATH = Path(__file__).with_name("rooms.svg")
LETTER, HEIGHT, GAP, FLOOR, LANE = 7.9, 30, 26, 62, 12  # pixels: letter, box, between boxes, floor, passing arrow
COLOURS = {
    "app": "#e8e8ec #6b6f7b",
    "views": "#dff3ee #1f7a70",
    "inspector": "#e9eafc #4a4fc4",
    "models": "#fdf0d8 #a86a12",
}
PAGES = "inspector/views/*: the pages"
LABELS = {
    "app": "app.py, python -m inspector",
    "inspector/*.py": "inspector/*.py: the analysis",
    "models": "models: load, catalogue, train",
    "models/*.py": "models/*.py: small files that all use",
}
Arrow = tuple[str, str]


def merged(arrows: Iterable[Arrow]) -> set[Arrow]:
    """Take the pages for one room: all stand on a floor of their own."""
    floor = rooms.floor("inspector/views/*.py")
    named = {tuple(PAGES if rooms.floor(room) == floor else room for room in ends) for ends in arrows}
    return {(start, end) for start, end in named if start != end}


def shortest(arrows: Iterable[Arrow]) -> list[Arrow]:
    """Leave out each arrow whose ends are joined by a way over other rooms."""
    below: dict[str, set[str]] = defaultdict(set)
    for start, end in arrows:
        below[start].add(end)

    @cache
    def reached(room: str) -> frozenset[str]:
        return frozenset(far for near in set(below[room]) for far in {near, *reached(near)})

    return sorted((a, b) for a in list(below) for b in below[a] if not any(b in reached(c) for c in below[a] - {b}))


def floor(room: str) -> int:
    return rooms.floor("inspector/views/*.py" if room == PAGES else room)


def placed(arrows: list[Arrow]) -> tuple[dict[str, float], list[list[str]], float]:
    """Place rooms from left to right: each near the middle of those above it.

    An arrow that passes a floor takes a lane there. The result: the middle of each room and lane, the points of each
    arrow by name, and the width of the picture.
    """
    rows: dict[int, list[str]] = defaultdict(list)
    for room in sorted({room for ends in arrows for room in ends}, key=str):
        rows[floor(room)].append(room)
    ways = []
    for start, end in arrows:
        lanes = [f"{start}>{end}>{number}" for number in range(floor(start) - 1, floor(end), -1)]
        for lane in lanes:
            rows[int(lane.rpartition(">")[2])].append(lane)
        ways.append([start, *lanes, end])
    above: dict[str, list[str]] = defaultdict(list)
    for way in ways:
        for upper, lower in pairwise(way):
            above[lower].append(upper)
    middles: dict[str, float] = {}
    for number in sorted(rows, reverse=True):
        row = sorted(rows[number], key=lambda name: (mean([middles[one] for one in above[name]]), name))
        left = -sum(width(name) + GAP for name in row) / 2
        for name in row:
            middles[name] = left + (width(name) + GAP) / 2
            left += width(name) + GAP
    far = max(abs(middle) + width(name) / 2 for name, middle in middles.items()) + GAP
    return {name: middle + far for name, middle in middles.items()}, ways, 2 * far


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def width(name: str) -> float:
    return LANE if ">" in name else LETTER * len(LABELS.get(name, name)) + 20


def picture(arrows: Iterable[Arrow]) -> str:
    """Draw rooms and arrows as SVG."""
    middles, ways, wide = placed(shortest(merged(arrows)))
    tall = len(rooms.FLOORS) * FLOOR + GAP
    box = f"0 0 {wide:.0f} {tall}"

    def top(name: str) -> float:
        number = int(name.rpartition(">")[2]) if ">" in name else floor(name)
        return tall - GAP - HEIGHT - number * FLOOR

    parts = []
    for way in ways:
        points = [(middles[way[0]], top(way[0]) + HEIGHT)]
        for name in way[1:-1]:
            points += [(middles[name], top(name)), (middles[name], top(name) + HEIGHT)]
        points.append((middles[way[-1]], top(way[-1]) - 5))
        curve = f"M {points[0][0]:.0f} {points[0][1]:.0f}"
        for (x, y), (to_x, to_y) in pairwise(points):
            half = (y + to_y) / 2
            curve += f" C {x:.0f} {half:.0f} {to_x:.0f} {half:.0f} {to_x:.0f} {to_y:.0f}"
        parts.append(f'<path d="{curve}"/>')
    for name in sorted(name for name in middles if ">" not in name):
        kind = next(kind for kind in COLOURS if f"/{kind}/" in f"/{name}/")
        fill, edge = COLOURS[kind].split()
        left = middles[name] - width(name) / 2
        parts.append(
            f'<rect x="{left:.0f}" y="{top(name):.0f}" width="{width(name):.0f}" height="{HEIGHT}" rx="5" '
            f'fill="{fill}" stroke="{edge}"/>\n'
            f'<text x="{middles[name]:.0f}" y="{top(name) + 20:.0f}">{escape(LABELS.get(name, name))}</text>'
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{wide:.0f}" height="{tall}">',
            "<title>Rooms and arrows: each room imports rooms of lower floors alone</title>",
            "<style>path { fill: none; stroke: #7c8090; stroke-width: 1.3; marker-end: url(#head); } "
            "text { font: 13px ui-monospace, Menlo, Consolas, monospace; text-anchor: middle; fill: #1c1d22; }</style>",
            '<marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<polygon points="0 0 8 4 0 8" fill="#7c8090"/></marker>',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def drawn() -> str:
    """Draw the arrows that lead down; tests/test_architecture.py names each that does not."""
    return picture(ends for ends in rooms.arrows() if rooms.floor(ends[1]) < rooms.floor(ends[0]))


if __name__ == "__main__":
    PATH.write_text(drawn(), encoding="utf-8")
