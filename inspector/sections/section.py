"""A section of a page as a value: what it tells and draws of its subject, whoever shows it.

`answer(subject, **chosen)` yields blocks. A block is data: a page, a notebook cell, a report and a test show or read
the same ones. Nothing here knows of Streamlit, a session or a link.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    import models
    from inspector.components.grid import Roles
    from inspector.components.matrix import MatrixMessage, Numbered, Panel
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode, Scale
    from inspector.sections.picks import Pick
    from inspector.sections.subject import Subject
    from inspector.trace import Array


class Draw(Protocol):
    """A figure with all but the mode given: a `Chart`, or a function of `inspector.plots` through functools.partial."""

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the figure in this mode."""


@dataclass(frozen=True)
class Mark:
    """The datum that a sentence speaks of.

    figure: the id of a picture. where: column -> value in the table of a Figure or Map; "layer" and "head" of
    Thumbnails; "query" and "key" of HeadMaps, by number.
    """

    figure: str
    where: Mapping[str, Any]


@dataclass(frozen=True)
class Sentence:
    """The sentence that opens a section, in Markdown. terms: of the glossary; about: what it names in the pictures."""

    text: str
    terms: tuple[str, ...] = ()
    about: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Paragraph:
    """Markdown in the size of the text, under a heading where there is one. help: behind a mark at its end."""

    text: str
    heading: str = ""
    help: str = ""


@dataclass(frozen=True)
class Note:
    """Markdown in small type: what a picture leaves out, or under a heading why no picture stands there.

    code: Python lines that give what it speaks of, where no picture has them.
    """

    text: str
    heading: str = ""
    code: str = ""


@dataclass(frozen=True)
class Problem:
    """A part that cannot be shown, and why, in a sentence that may quote a file or a text."""

    text: str


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart under its heading.

    id: of the element, and of the files where `name` is empty. alt: is read aloud in the picture's place. code: the
    Python lines that give the numbers. table: what the CSV holds; the chart's points where None. sentence: reads the
    picture, above it; note: below it. chooses: the id of the pick that a click on a point chooses, by the point's y; or
    the point's number in its series -> what is chosen, by the ids of picks.
    """

    id: str
    heading: str
    draw: Draw
    alt: str
    code: str = ""
    table: pd.DataFrame | None = None
    sentence: str = ""
    note: str = ""
    name: str = ""
    chooses: str | Callable[[int], Mapping[str, int | str | None]] = ""


@dataclass(frozen=True, eq=False)
class Map:
    """A matrix, or two side by side, under a heading; the fields below `quantity` are those of `MatrixMessage`.

    row_title, column_title: what a row and a column are. alt: tells what the map shows. chooses: row, column -> what a
    click on the cell chooses, by picks or their ids; None where a click chooses nothing. choosing: how many of the
    panels have cells that choose, from the first on.
    """

    id: str
    heading: str
    panels: tuple[Panel, ...]
    row_title: str
    column_title: str
    alt: str
    quantity: str = "weight"
    numbered: Numbered = "both"
    top: float | None = None
    diverging: bool = False
    scale: Scale = "linear"
    kinds: Sequence[str] = ()
    code: str = ""
    sentence: str = ""
    note: str = ""
    name: str = ""
    chooses: Callable[[int, int], Mapping[Any, Any]] | None = None
    choosing: int = 2

    def lying(self) -> Map:
        """Return the map with its longer side across, so that all of it is on one screen.

        Rows and columns are exchanged where the first panel has more rows; of a map of layers by heads, where a model
        has more layers than heads. Of one without marked rows, borders and numbered labels.
        """
        if len(self.panels[0].rows) <= len(self.panels[0].columns):
            return self
        panels = tuple(
            replace(
                panel,
                values=panel.values.T,
                rows=panel.columns,
                columns=panel.rows,
                named=panel.named and (panel.named[1], panel.named[0]),
            )
            for panel in self.panels
        )
        choose = self.chooses
        return replace(
            self,
            panels=panels,
            row_title=self.column_title,
            column_title=self.row_title,
            chooses=None if choose is None else lambda row, column: choose(column, row),
        )

    def message(self) -> MatrixMessage:
        """Return what the component draws."""
        from inspector.components.matrix import MatrixMessage

        return MatrixMessage(
            self.panels,
            row_title=self.row_title,
            column_title=self.column_title,
            quantity=self.quantity,
            numbered=self.numbered,
            top=self.top,
            diverging=self.diverging,
            scale=self.scale,
            kinds=self.kinds,
        )


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Small pictures of all heads of a stream: a row for each layer, a column for each head.

    pictures: uint8 [L, H, rows, cols]. tokens: the text's length. selected: the layer and the head that are open.
    notes: a short text for each. chooses: layer, head -> what a click chooses, by the ids of picks. scene: the picture
    as a file. table: what the CSV holds. named: the layer and the head that a sentence names. roles: what each head
    does, which is framed and counted.
    """

    id: str
    pictures: NDArray[np.uint8]
    tokens: int
    selected: tuple[int, int]
    notes: Sequence[Sequence[str]]
    alt: str
    chooses: Callable[[int, int], Mapping[str, int]]
    scene: Callable[[Mode], Scene]
    table: pd.DataFrame
    code: str = ""
    note: str = ""
    name: str = ""
    named: tuple[int, int] | None = None
    roles: Roles | None = None


@dataclass(frozen=True, eq=False)
class HeadMap:
    """A map of a head, float32 [Q, T]. id: among the maps; name: of its files; title: over it; long: in its files."""

    id: str
    name: str
    title: str
    long: str
    weights: Array


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """Maps of one head beside each other, on one colour scale that ends at `top`.

    chooses: layer, head -> what the keys to the next head and the one before choose; of: how many layers and heads.
    named: the query and the key of the cell that a sentence names.
    """

    id: str
    maps: tuple[HeadMap, ...]
    queries: Sequence[str]
    keys: Sequence[str]
    layer: int
    head: int
    of: tuple[int, int]
    top: float
    alt: str
    chooses: Callable[[int, int], Mapping[str, int]]
    code: str = ""
    note: str = ""
    name: str = ""
    named: tuple[int, int] | None = None


@dataclass(frozen=True)
class Number:
    """A number with its name, as text with its unit, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Numbers:
    """Several numbers in one line, or as cards. of: what they describe; about: stands before their meanings."""

    numbers: tuple[Number, ...]
    of: str = ""
    about: str = ""
    cards: bool = False
    heading: str = ""


@dataclass(frozen=True)
class Check:
    """A sentence that says whether two ways to the same number agree. holds: whether they do."""

    text: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Table:
    """A table. id: of its file. words: column -> its head on the page. folded: behind its heading, or "All numbers".

    height: in pixels, None for all rows. prose: a few rows of words, which wrap; no file is made of them. code: Python
    lines that give its numbers, "" where a picture has them.
    """

    id: str
    frame: pd.DataFrame
    heading: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    folded: bool = True
    height: int | None = None
    prose: bool = False
    code: str = ""


@dataclass(frozen=True)
class Link:
    """A way to another page. page: its address; given: the names and values of the link."""

    page: str
    label: str
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Measurement:
    """A work that a reader starts, such as the clock's, and what is told of what it found.

    id: of its button. key: tells what is measured apart, and finds it again by `Subject.measured`. work: takes what is
    called with the runs that are done and all, and what keeps a result so far; gives the result. about: what will be
    measured, said until it is. answer: result -> blocks.
    """

    id: str
    key: Hashable
    work: Callable[[Callable[[int, int], object], Callable[[Any], object]], Any]
    about: str
    answer: Callable[[Any], Iterator[Block]]


@dataclass(frozen=True)
class Ask:
    """A question before long work: on the page what follows is made when the reader presses the button.

    id: of the button. label: the button's words. about: what the work takes. of: tells works of one text apart.
    """

    id: str
    label: str
    about: str
    of: Hashable = ()


@dataclass(frozen=True)
class Quote:
    """A text of a corpus, letter by letter. said: Markdown, stands before it; link: to where it is read."""

    said: str
    text: str
    link: Link | None = None


@dataclass(frozen=True)
class Choice:
    """A button that chooses. chosen: by the ids of picks, None for a default; a choice of nothing is words alone."""

    id: str
    label: str
    chosen: Mapping[str, int | str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Choices:
    """Buttons beside each other, in as many lines as they need."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class File:
    """A file to take away, made when a reader asks for it. name: its ending says how a table or a picture is written.

    make: takes the mode that the reader sees. meaning: what it holds. label: of its button, the ending where empty.
    """

    name: str
    make: Callable[[Mode], pd.DataFrame | Scene | str | bytes]
    meaning: str
    label: str = ""


@dataclass(frozen=True)
class Files:
    """Files to take away, beside each other."""

    files: tuple[File, ...]


@dataclass(frozen=True)
class Row:
    """Columns beside each other, below each other in a narrow window; a column is a block or several."""

    columns: tuple[Block | tuple[Block, ...], ...]
    widths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Need:
    """A need of a page or a section that not every model meets.

    cannot: what such a model does not do, to follow its name. can: whether a model can. why_not: the reason in full, ""
    where there is none to add. instead: ids of models that can, the best first. reads: the reader's text is shown.
    """

    cannot: str
    can: Callable[[models.LoadedModel], bool]
    instead: Sequence[str]
    why_not: Callable[[models.LoadedModel], str] = lambda loaded: ""
    reads: bool = True


@dataclass(frozen=True)
class Section:
    """A section of a page, or a part of one with choices of its own.

    id: in the link. title: in the bar of sections, the heading of a part. answer: takes the subject, and what was
    chosen by the ids of the picks. about: what the section speaks of: the recorded text, the model on any text, a
    configuration, whose model is loaded or not, an opened atlas, or a course that is the same for all. needs_model: it
    runs the model or reads its weights. starts: the words of the switch that starts it, where it runs long; the link
    has the switch under `id`. waits: what is said meanwhile. parts: those that the answer may yield, with an answer
    made for the subject (`dataclasses.replace`); one without a title goes on with the section, and its sentence and its
    choices stand on top with the section's, unless it stands in a row. need: what the model must be able to do; on the
    page another model stands in for one that cannot. compares: it tells of `Subject.beside` too. long: it may show how
    far it is, with a Stop. folded: a part that is asked once a reader opens it; icon: beside its title, a name of
    Material Symbols. aside: in a wide window the choices stand left of the blocks, not above them. behind: the words of
    a button that opens the section's choices; those of parts that go on with it stand beside the button. named: what a
    sentence over the part speaks of.
    """

    id: str
    title: str
    answer: Callable[..., Iterator[Block]]
    picks: tuple[Pick, ...] = ()
    about: Literal["text", "model", "configuration", "atlas", "course"] = "text"
    needs_model: bool = False
    starts: str = ""
    waits: str = ""
    parts: tuple[Section, ...] = ()
    need: Need | None = None
    compares: bool = False
    long: bool = False
    folded: bool = False
    icon: str = ""
    aside: bool = False
    behind: str = ""
    named: tuple[Mark, ...] = ()

    def blocks(self, subject: Subject, **chosen: Any) -> Iterator[Block]:
        """Yield the blocks, what a sentence names marked in the pictures behind it.

        What is not chosen has its default. ValueError for a choice that the subject has not.
        """
        known = {pick.id: pick for pick in self.picks}
        if unknown := sorted(chosen.keys() - known.keys()):
            names = ", ".join(known) or "nothing"
            raise ValueError(f"The section {self.title} has no choice {unknown[0][:60]!a}; it has {names}.")
        if self.needs_model:
            subject.model  # noqa: B018  says how to give the model, where there is none
        values = {
            id: pick.checked(subject, chosen[id]) if id in chosen else pick.first(subject) for id, pick in known.items()
        }
        yield from _marked(self.answer(subject, **values), self.named)


Block = (
    Sentence
    | Paragraph
    | Note
    | Problem
    | Figure
    | Map
    | Thumbnails
    | HeadMaps
    | Numbers
    | Check
    | Table
    | Link
    | Quote
    | Choices
    | Files
    | Ask
    | Measurement
    | Row
    | Section
)


def flat(blocks: Sequence[Block] | Iterator[Block]) -> Iterator[Block]:
    """Yield blocks in reading order, those of rows one after another; a part stays a Section."""
    for block in blocks:
        if isinstance(block, Row):
            for column in block.columns:
                yield from flat(column if isinstance(column, tuple) else (column,))
        else:
            yield block


def _marked(blocks: Iterator[Block], named: tuple[Mark, ...]) -> Iterator[Block]:
    """Yield blocks with what a sentence before them, or over their part, names."""
    for block in blocks:
        if isinstance(block, Sentence):
            named = (*named, *block.about)
        yield _marking(block, named) if named else block


def _marking(block: Block, named: tuple[Mark, ...]) -> Block:
    """Return a block that marks what is named in it; a Map's panels have their named cell from their section."""
    if isinstance(block, Section):
        return replace(block, named=named)
    if isinstance(block, Row):
        columns = (
            tuple(_marking(inner, named) for inner in column) if isinstance(column, tuple) else _marking(column, named)
            for column in block.columns
        )
        return replace(block, columns=tuple(columns))
    match [mark.where for mark in named if mark.figure == getattr(block, "id", "")], block:
        case [_, *_] as rows, Figure() if hasattr(block.draw, "marking"):  # a Chart, or Panels of them
            return replace(block, draw=block.draw.marking(rows))
        case [where, *_], Thumbnails():
            return replace(block, named=(where["layer"], where["head"]))
        case [where, *_], HeadMaps():
            return replace(block, named=(where["query"], where["key"]))
    return block
