"""The files of attention maps that stand beside each other: each alone, all in one picture, and the Python lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from inspector import export
from inspector.plots import lines, matrices
from inspector.plots.scene import Scene, beside
from inspector.plots.theme import Mode, Scale
from inspector.sections.section import File
from inspector.trace import Array
from inspector.views.figures import save

LABELS = save.Labels(
    slide_help="In large type",
    png_help="As you see it",
    svg_help="As you see it, sharp at any size",
    csv_help="The weights as you see them, to the last digit",
)


@dataclass(frozen=True, eq=False)
class MapPicture:
    """A map [Q, T] as the reader sees it; top: the end of its colour scale. quantity: the name of the values.

    caption: the sentence that the page says of it; named: the cell, query and key, that the sentence names, or
    (None, key) of all queries.
    """

    title: str
    weights: Array
    queries: Sequence[str]
    keys: Sequence[str]
    top: float
    scale: Scale = "linear"
    diverging: bool = False
    quantity: str = "weight"
    caption: str = ""
    named: tuple[int | None, int] | None = None

    @classmethod
    def difference(cls, title: str, values: Array, queries: Sequence[str], keys: Sequence[str]) -> MapPicture:
        """Return a map of signed differences, on a scale of its own."""
        top = float(abs(values).max()) or 1.0
        return cls(title, values, queries, keys, top, diverging=True, quantity="difference")

    def scene(self, mode: Mode) -> Scene:
        """Lay out the map, cell for cell."""
        return matrices.picture(
            self.weights,
            queries=self.queries,
            keys=self.keys,
            title=self.title,
            quantity=self.quantity,
            top=self.top,
            diverging=self.diverging,
            scale=self.scale,
            caption=self.caption,
            named=self.named,
            mode=mode,
        )

    def slide(self, mode: Mode) -> Scene:
        """Lay out the map in large type."""
        return _slide([self], self.title, mode)

    def lines(self, mode: Mode) -> Scene:
        """Lay out the map as lines from its queries to its keys, in large type."""
        return lines.slide(
            self.weights,
            queries=self.queries,
            keys=self.keys,
            title=self.title,
            caption=self.caption,
            named=self.named,
            mode=mode,
        )

    def files(self, name: str, *, of: str = "", labels: save.Labels = LABELS) -> list[File]:
        """List the map as a picture, and its weights to the last digit; of: its title on the buttons."""
        table = File(f"{name}.csv", lambda _: self._csv(), labels.csv_help, f"{of}, CSV" if of else "")
        return [*save.picture(name, self.scene, of=of, labels=labels), table]

    def _csv(self) -> str:
        return export.csv(self.weights, queries=self.queries, keys=self.keys)


def draw(
    pictures: Mapping[str, MapPicture],
    *,
    name: str,
    about: str = "",
    python: str = "",
    more: Sequence[File] = (),
) -> None:
    """Draw the menu of maps by their names on the page.

    name: of the files, before a map's own name. about: names the maps in the menu's button, their names where empty.
    python: the lines that give the same numbers. more: files beside the maps' own.
    """

    def all_of_them(mode: Mode) -> Scene:
        return beside([picture.scene(mode) for picture in pictures.values()])

    save.menu(
        save.picture(name, all_of_them, of="All", labels=LABELS),
        *(picture.files("-".join([name, *title.lower().split()]), of=title) for title, picture in pictures.items()),
        *([more] if more else []),
        slides=[save.slide(_slides(pictures), name=f"{name}-slide", key=name)],
        key=name,
        about=about or ", ".join(pictures),
        python=python,
        labels=LABELS,
    )


def _slides(pictures: Mapping[str, MapPicture]) -> dict[str, save.Layout]:
    """Return what a slide can show: the first two maps on one scale, where they share it, and each map alone."""
    (first, left), (second, right), *_ = pictures.items()
    alone = {title: picture.slide for title, picture in pictures.items()}
    if (left.top, left.scale, left.diverging) == (right.top, right.scale, right.diverging):
        return {f"{first} and {second}": partial(_slide, [left, right], ""), **alone}
    return {**alone}


def _slide(pictures: Sequence[MapPicture], title: str, mode: Mode) -> Scene:
    first = pictures[0]
    return matrices.slide(
        [
            matrices.Plot(
                values=picture.weights,
                rows=picture.queries,
                columns=picture.keys,
                title=picture.title,
                named=picture.named,
            )
            for picture in pictures
        ],
        title=title,
        row_title="query",
        column_title="key",
        quantity=first.quantity,
        top=first.top,
        diverging=first.diverging,
        scale=first.scale,
        caption=first.caption if len(pictures) == 1 else "",
        mode=mode,
    )
