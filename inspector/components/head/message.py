"""The message of one head: the exact weights with tokens, and everything else that the view can show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from inspector.components.pack import BUDGET, Colours, pack, stops
from inspector.plots import theme
from inspector.plots.theme import Scale
from inspector.text import ordinals, read_marks

if TYPE_CHECKING:
    from inspector.row_statistics import RowStatistics


@dataclass(frozen=True)
class LinkedTokens:
    """The tokens of a head that light up with tokens of other heads on the page, while the reader looks at them.

    name: links all heads with the same name. queries, keys: a number for each token; tokens with an equal number belong
    together, and None is a token without a counterpart.
    """

    name: str
    queries: tuple[int | None, ...]
    keys: tuple[int | None, ...]


@dataclass(frozen=True)
class SharedLayout:
    """The layout of heads that stand beside each other: heads with an equal layout get one origin and cell size.

    queries, keys: the labels of all heads, each once. rows, columns: how many the largest map has; 0 where the maps'
    sizes differ so much that cells of one size would make a map tiny.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    rows: int
    columns: int

    UNLIKE: ClassVar[float] = 1.5

    @classmethod
    def around(cls, maps: Sequence[tuple[Sequence[str], Sequence[str]]]) -> SharedLayout:
        """Collect the labels of maps, each given by its queries and keys, with the numbers of tokens that repeat."""
        labels = [
            tuple(dict.fromkeys(name for side in sides for name in _numbered(side)))
            for sides in zip(*maps, strict=True)
        ]
        counts = [[len(side) for side in sides] for sides in zip(*maps, strict=True)]
        alike = all(max(sizes) <= cls.UNLIKE * min(sizes) for sizes in counts)
        rows, columns = (max(sizes) if alike else 0 for sizes in counts)
        return cls(labels[0], labels[1], rows, columns)


@dataclass(frozen=True)
class Segments:
    """The text that each token belongs to: 0 the text, 1 its pair."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]


@dataclass(frozen=True)
class HeadOptions:
    """The switches in the view of a head, as a link holds them; "" is the view's default.

    lines: "top3", the strongest of each query, 1 to 10; "above0.05", from a value on. between: "ab", queries of the
    text and keys of its pair; "ba", the other way; "a" and "b", within the text and within its pair. tokens: letters of
    the tokens that stand out.
    """

    lines: str = ""
    between: str = ""
    tokens: str = ""

    PATTERNS: ClassVar[dict[str, str]] = {
        "lines": r"top([1-9]|10)|above\d{1,6}(\.\d{1,9})?(e-?\d{1,2})?",
        "between": "ab|ba|a|b",
        "tokens": ".{1,40}",
    }

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value and not re.fullmatch(self.PATTERNS[option.name], value, re.DOTALL):
                raise ValueError(f"{option.name} {value!a} is none of {self.PATTERNS[option.name]}")


@dataclass(frozen=True, eq=False)
class ColouredHead:
    """A head of several whose mean is drawn, with lines in a separate colour; weights: float32 [Q, T]."""

    name: str
    weights: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WholeMap:
    """The whole map that a drawn window is cut from: the numbers of queries and keys, and a picture uint8 [rows, cols].

    picture: made by pack.quantise.
    """

    queries: int
    keys: int
    picture: NDArray[np.uint8]

    @property
    def header(self) -> dict[str, int]:
        """The sizes as the header holds them; the picture travels behind the weights."""
        rows, cols = self.picture.shape
        return {"queries": self.queries, "keys": self.keys, "rows": rows, "cols": cols}


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadMessage:
    """One head's weights float32 [Q, T] with its tokens, every value exact; NaN is a masked cell.

    ```python
    HeadMessage(weights=trace.attention(layer=3, head=7), queries=trace.tokens, keys=trace.tokens).to_bytes()
    ```

    colours: of the scale; None for the sequential scale, or the diverging scale where `diverging`. layer and head: the
    head's place in a grid on the same page, where a frame marks it. chosen: the pinned query, or several. vmax: top of
    the colour scale. diverging: the values are signed, in [-vmax, vmax], and `colours` has an odd number of stops with
    zero in the middle. first: the first query and key of a window of a long text. linked: the tokens' counterparts in
    other heads on the page. quantity: the name of the values, in the singular ("score", "difference of weights"). rows:
    numbers of each query's whole row, and its scores, shown on hover. segments: of a text and its pair. options: the
    reader's switches, where the page keeps them. parts: the heads whose mean is `weights`, for lines in a colour each.
    whole: the map, where `weights` is a window of it. compact: for a page that names the head itself and shows the grid
    at once; no title is drawn, and the map is no taller than the window leaves. beside: the layout that the head shares
    with others. lines: False for a map alone, without lines and their switches. ordinals: of a window, which of its
    like in the whole text each query and key is, see `maps.Groups.ordinals`; of a whole map the browser counts them.
    view: tells apart what a page shows of its heads, where `every` sends them all. marked: the cell, query and key,
    that the page's sentence names, a whole column where the query is None; picked: the cell that the reader chose.
    Raises ValueError for values that do not fit together, and for more parts than fit a message.
    """

    weights: NDArray[np.float32] = field(kw_only=False)
    queries: Sequence[str]
    keys: Sequence[str]
    colours: Colours | None = None
    layer: int | None = None
    head: int | None = None
    title: str = ""
    scale: Scale = "linear"
    chosen: int | Sequence[int] | None = None
    vmax: float = 1.0
    diverging: bool = False
    first: tuple[int, int] = (0, 0)
    linked: LinkedTokens | None = None
    quantity: str = "weight"
    rows: RowStatistics | None = None
    segments: Segments | None = None
    options: HeadOptions | None = None
    parts: Sequence[ColouredHead] = ()
    whole: WholeMap | None = None
    compact: bool = False
    beside: SharedLayout | None = None
    lines: bool = True
    ordinals: tuple[Sequence[int], Sequence[int]] | None = None
    view: str = ""
    marked: tuple[int | None, int] | None = None
    picked: tuple[int | None, int] | None = None

    def __post_init__(self) -> None:
        weights, queries, keys = self.weights, self.queries, self.keys
        if weights.shape != (len(queries), len(keys)):
            raise ValueError(f"weights of shape {weights.shape} don't fit {len(queries)} queries and {len(keys)} keys")
        if not weights.size:
            raise ValueError("there is no weight to draw: the text has no tokens")
        if not (math.isfinite(self.vmax) and self.vmax > 0):
            raise ValueError(f"vmax {self.vmax} is no top of a colour scale: it is finite and above 0")
        for pin in self._pins:
            if not 0 <= pin < len(queries):
                raise ValueError(f"chosen query {pin} is outside {len(queries)} queries")
        for name, numbers in (("linked numbers", self.linked), ("segments", self.segments)):
            if numbers and (len(numbers.queries), len(numbers.keys)) != weights.shape:
                given = f"{len(numbers.queries)} queries and {len(numbers.keys)} keys"
                raise ValueError(f"{name} of {given}; the map has {weights.shape[0]} and {weights.shape[1]}")
        if self.rows and len(self.rows.entropy) != len(queries):
            raise ValueError(f"there are {len(self.rows.entropy)} rows' numbers for {len(queries)} queries")
        self._check_marked()
        self._check_parts()
        stops(self._scale, odd=self.diverging)

    def to_bytes(self, *, at_hand: bool = False) -> bytes:
        """Pack the message: the header, the numbers, and the picture of the whole map where there is one.

        at_hand: the page draws another head of the same view, and has this one's numbers, of `every` or `alone`; they
        are left out, and of the header what all heads of a view share.
        """
        if at_hand:
            header = {name: value for name, value in self.header.items() if name in (*ALONE, *_CHOSEN)}
            return pack({**header, "atHand": True}, np.empty(0, np.float32))
        return pack(self.header, self.numbers) + (self.whole.picture.tobytes() if self.whole else b"")

    @property
    def numbers(self) -> NDArray[np.float32]:
        """The maps, float32 [Q T] each, and behind them of each query's whole row its entropy and offset, [Q] each.

        The offsets are NaN where the scores cannot be computed from the weights.
        """
        maps = [self.weights, *(part.weights for part in self.parts)]
        rows: list[Sequence[float]] = []
        if self.rows:
            rows = [self.rows.entropy, self.rows.offset or np.full(len(self.queries), np.nan).tolist()]
        return np.concatenate([np.asarray(values, np.float32).ravel() for values in (*maps, *rows)])

    @property
    def header(self) -> dict[str, Any]:
        """The message without its numbers; the keys are left out where they are the queries' tokens."""
        return {
            "queries": list(map(read_marks, self.queries)),
            **({} if list(self.keys) == list(self.queries) else {"keys": list(map(read_marks, self.keys))}),
            "layer": self.layer,
            "head": self.head,
            "title": self.title,
            "scale": self.scale,
            "colours": stops(self._scale, odd=self.diverging),
            "chosen": self._pins,
            "vmax": self.vmax,
            "diverging": self.diverging,
            "first": list(self.first),
            "linked": asdict(self.linked) if self.linked else None,
            "quantity": self.quantity,
            "rows": {"keys": self.rows.keys} if self.rows else None,
            "segments": asdict(self.segments) if self.segments else None,
            "options": asdict(self.options) if self.options else None,
            "parts": _parts(self.parts),
            "whole": self.whole.header if self.whole else None,
        } | self._seldom

    @property
    def _seldom(self) -> dict[str, Any]:
        """The parts of the header that only some pages ask for."""
        asked = {
            "compact": self.compact,
            "beside": asdict(self.beside) if self.beside else None,
            "alone": not self.lines,
            "ordinals": dict(zip(("queries", "keys"), self.ordinals, strict=True)) if self.ordinals else None,
            "view": self.view,
            "marked": list(self.marked) if self.marked else None,
            "picked": list(self.picked) if self.picked else None,
        }
        return {name: value for name, value in asked.items() if value}

    @property
    def _pins(self) -> list[int]:
        if self.chosen is None:
            return []
        return [self.chosen] if isinstance(self.chosen, int) else sorted(set(self.chosen))

    @property
    def _scale(self) -> Colours:
        return self.colours or (theme.DIVERGING if self.diverging else theme.SEQUENTIAL)

    def _check_marked(self) -> None:
        """Raise ValueError where the marked or the picked cell is outside of the map."""
        for what, cell in (("marked", self.marked), ("picked", self.picked)):
            for name, at, labels in zip(("query", "key"), cell or (), (self.queries, self.keys), strict=False):
                if at is not None and not 0 <= at < len(labels):
                    raise ValueError(f"the {what} {name} {at} is outside of {len(labels)}")

    def _check_parts(self) -> None:
        """Raise ValueError where more heads are given than colours or than fit BUDGET, or a part has another shape."""
        (queries, keys), most = self.weights.shape, len(theme.HEADS["light"])
        size = 4 * self.weights.size * (1 + len(self.parts))
        if self.parts and (len(self.parts) > most or size > BUDGET):
            raise ValueError(
                f"{len(self.parts)} heads in colours, {queries} by {keys} tokens, are {size:,} bytes for the "
                f"browser; there is room for {most} heads and {BUDGET:,} bytes. Choose fewer heads, or their mean."
            )
        for part in self.parts:
            if part.weights.shape != self.weights.shape:
                raise ValueError(f"{part.name} has the shape {part.weights.shape}, the mean {self.weights.shape}")


MOST_BYTES = 4 * 2**20
"""Bytes of the maps of all heads, at most, for a file or a page that holds them all."""
ALONE = ("layer", "head", "title", "vmax")
"""The parts of a message, and of its header, that differ from head to head in a view."""
LOOK = ("diverging", "colours", "rows")
"""The parts of a header that differ from head to head where layers mix tokens in several ways."""
_CHOSEN = ("view", "chosen", "options", "marked", "picked")
"""The entries that differ by what the reader chose, or by the page's sentence."""


def every(messages: Iterable[HeadMessage]) -> bytes:
    """Pack the numbers of all heads of a view, and what of each message's header is the head's alone.

    Another head then opens in the browser, in the place of the one whose message the view was drawn from. The messages
    share their view and tokens; none is marked, for the page's sentence is still that of the head before.
    """
    sent = list(messages)
    differ = LOOK if len({message.diverging for message in sent}) > 1 else ()
    heads = [
        {**{name: getattr(message, name) for name in ALONE}, **{name: message.header[name] for name in differ}}
        for message in sent
    ]
    numbers = [message.numbers for message in sent]
    most = max(map(len, numbers))  # maps of shares have numbers of rows behind them
    alike = [np.pad(given, (0, most - len(given)), constant_values=np.nan) for given in numbers]
    return pack({"view": sent[0].view, "heads": heads}, np.stack(alike))


def listed(places: Iterable[tuple[int, int]], *, view: str, path: str) -> bytes:
    """Pack the places of all heads of a view, layer and head each, whose maps are fetched one by one.

    path: of the address of a head's map, which is of `alone`: PATH/LAYER/HEAD.
    """
    heads = [{"layer": layer, "head": head} for layer, head in places]
    return pack({"view": view, "heads": heads, "path": path}, np.empty(0, np.float32))


def alone(message: HeadMessage) -> bytes:
    """Pack the numbers of a head, and what of its message's header is the head's alone."""
    return pack({name: getattr(message, name) for name in ALONE}, message.numbers)


def _numbered(labels: Sequence[str]) -> list[str]:
    """Write labels as long as the browser writes them: "the 2nd"."""
    numbered = zip(map(read_marks, labels), ordinals(labels), strict=True)
    return [f"{label} {nth}th" if nth else label for label, nth in numbered]


def _parts(parts: Sequence[ColouredHead]) -> list[dict[str, Any]]:
    """Return the names and colours of several heads as the header holds them."""
    colours = [dict(zip(theme.HEADS, pair, strict=True)) for pair in zip(*theme.HEADS.values(), strict=True)]
    return [{"name": part.name, "colours": colours[at]} for at, part in enumerate(parts)]
