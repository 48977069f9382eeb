"""The message of the grid: small pictures of all heads, one byte a cell, with the heads' names, notes and roles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.components.pack import BUDGET, Colours, pack, quantise, stops
from inspector.plots import theme
from inspector.plots.theme import Scale
from inspector.text import bits, number
from inspector.trace.pooling import pool

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, MixerSite

Measure = Literal["moved", "surprise"]

SIDE = 96  # cells of a thumbnail, at most, in either direction


@dataclass(frozen=True)
class Roles:
    """The role of each head: names by layer and head, and the meaning and colour of each name that is framed.

    does: name -> what one such head does, and what several do. colours: mode -> name -> hex. A name without a meaning
    ("other") has no frame.
    """

    names: Sequence[Sequence[str]]
    meanings: Mapping[str, str]
    does: Mapping[str, tuple[str, str]]
    colours: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Options:
    """The reader's arrangement of the grid: the measure to sort by (None: as in the model) and the roles to show."""

    sort: str | None = None
    rising: bool = False
    only: tuple[str, ...] = ()


def grid_bytes(
    pictures: NDArray[np.uint8],
    *,
    tokens: int,
    colours: Colours = theme.SEQUENTIAL,
    scale: Scale = "linear",
    selected: tuple[int, int] | None = None,
    named: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    names: Sequence[str] | None = None,
    crossed: Collection[tuple[int, int]] | None = None,
    measures: Mapping[str, Sequence[Sequence[float | None]] | None] | None = None,
    roles: Roles | None = None,
    options: Options | None = None,
    columns: str = "head",
    labels: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    joined: Mapping[int, str] | None = None,
    diverging: bool = False,
) -> bytes:
    """Pack thumbnails uint8 [L, H, rows, cols] into the grid's message.

    A row is an attention, and (row, head) a place: not the model's layer, where not all layers attend.

    tokens: the text's length. selected: the open place. named: the place that a sentence names, which is marked.
    notes: a short text for each place, shown with the enlarged thumbnail, "entropy 1.23 nats". names: of the rows;
    "layer 0" and so on where left out. columns: the name of what a column counts; labels: the columns' names where
    they are not 0, 1, 2. crossed: the places that are crossed out, where a click crosses a head out or takes that back;
    None where a click opens the head. measures: the measures to sort heads by, each with a number for each place, or
    None; None for all of a measure whose numbers the host sends once heads are sorted by it. roles: what each head
    does. options: how the heads are sorted and which are shown. widths: the number of heads of each row, where rows
    have different numbers; what `pictures` and tables hold of further heads is not shown. joined: the rows whose
    one picture is of several places together, each with the picture's name. diverging: zero is in the middle of the
    colours.
    """
    layers, heads, rows, cols = pictures.shape
    for what, place in (("selected", selected), ("named", named)):
        if place is not None and not (0 <= place[0] < layers and 0 <= place[1] < heads):
            raise ValueError(f"{what} head {place} is outside {layers} layers of {heads} heads")
    if widths is not None and (len(widths) != layers or not all(0 < width <= heads for width in widths)):
        raise ValueError(f"widths {list(widths)} don't fit {layers} layers of up to {heads} heads")
    if names is not None and len(names) != layers:
        raise ValueError(f"{len(names)} names don't fit {layers} layers; give one for each")
    tables: dict[str, Sequence[Sequence[object]] | None] = {
        "notes": notes,
        "roles": None if roles is None else roles.names,
    }
    for name, table in {**tables, **(measures or {})}.items():
        if table is not None and [len(row) for row in table] != [heads] * layers:
            raise ValueError(f"{name} need an entry for each of {layers} layers of {heads} heads")
    header = {
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "cols": cols,
        "tokens": tokens,
        "selected": selected,
        "scale": scale,
        "colours": stops(colours),
        "notes": notes,
        "names": list(names) if names is not None else [f"layer {layer}" for layer in range(layers)],
        "crossed": None if crossed is None else sorted(crossed),
        "measures": measures,
        "roles": None if roles is None else asdict(roles),
        "options": asdict(options or Options()),
        "columns": columns,
        "labels": None if labels is None else list(labels),
        **({} if named is None else {"named": list(named)}),
        **({} if widths is None else {"widths": list(widths)}),
        **({} if not joined else {"joined": dict(joined)}),
        **({"diverging": True} if diverging else {}),
    }
    return pack(header, pictures)


def side(count: int, heads: int) -> int:
    """Return the most cells of a thumbnail in either direction where `count` layers have so many heads."""
    return max(1, min(SIDE, math.isqrt(BUDGET // (count * heads))))


def sides(sites: Sequence[AttentionSite | MixerSite]) -> dict[str, int]:
    """Return `side` of each stream, whose layers may have different numbers of heads."""
    layers = Counter(site.stream for site in sites)
    heads = {stream: max(site.tiles for site in sites if site.stream == stream) for stream in layers}
    return {stream: side(layers[stream], heads[stream]) for stream in layers}


def widths(sites: Sequence[AttentionSite]) -> list[int] | None:
    """Return the number of heads of each attention of a stream; None where all have the same."""
    heads = [site.heads for site in sites]
    return heads if len(set(heads)) > 1 else None


def readable_top(cells: NDArray[np.float32]) -> float:
    """Return a top of the colours that shows a long text's weights: 99 of 100 cells that are not 0 lie below the top.

    The top is rounded up to two digits, so that it reads exactly; 1 at most, and 1 where every cell is 0.
    """
    seen = cells[cells > 0]
    if not seen.size:
        return 1.0
    largest = float(np.quantile(seen, 0.99))
    digits = 1 - math.floor(math.log10(largest))
    return float(min(1.0, math.ceil(largest * 10.0**digits) / 10.0**digits))


def changes(layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]) -> tuple[NDArray[np.uint8], float]:
    """Make small pictures [L, H, rows, cols] of |after - before| of every head, and return them with the last colour.

    layers: the maps [H, Q, T] of each layer before and after. The last colour is the largest difference.
    """
    apart = [np.abs(after - before) for before, after in layers]
    top = max(float(layer.max()) for layer in apart)
    most = side(len(apart), len(apart[0]))
    scaled = [np.divide(layer, top or 1.0, dtype=np.float32) for layer in apart]
    return quantise(np.stack([pool(layer, side=most) for layer in scaled])), top


def importance_top(measured: pd.DataFrame, by: Measure) -> float:
    """Return the value that has the last colour: the largest, without its sign."""
    return float(measured[by].abs().max()) if len(measured) else 0.0


def importance_bytes(
    measured: pd.DataFrame,
    *,
    by: Measure,
    layers: int,
    heads: int,
    crossed: Collection[tuple[int, int]],
    names: Sequence[str] | None = None,
) -> bytes:
    """Pack the importance of each head: a cell of one colour for each head of a stream, blank where not measured yet.

    measured: a stream's rows of inspector.importance, whose "layer" is the row of the grid. by: "moved", from 0 (the
    background) up, on the sequential scale; "surprise", which may be below 0, on the diverging scale: indigo where the
    true tokens surprise more without the head. crossed: heads that are dropped, as (row, head). names: of the rows,
    where they are not "layer 0" and so on.
    """
    signed, most = by == "surprise", importance_top(measured, by) or 1.0
    levels = np.full((layers, heads), 0.5 if signed else 0.0)
    notes = [["not measured yet"] * heads for _ in range(layers)]
    for row in measured.itertuples():
        value = float(getattr(row, by))
        levels[row.layer, row.head] = 0.5 + value / most / 2 if signed else value / most
        more = "" if np.isnan(row.surprise) else f", {bits(row.surprise)}"
        notes[row.layer][row.head] = f"without it 1 − cosine {number(row.moved)}{more}"
    return grid_bytes(
        np.rint(255 * levels).astype(np.uint8)[..., None, None],
        tokens=1,
        colours=theme.DIVERGING if signed else theme.SEQUENTIAL,
        diverging=signed,
        scale="sqrt",  # which takes the bytes as they are
        notes=notes,
        names=names,
        crossed=crossed,
    )
