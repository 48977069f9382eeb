"""Attention as bytes for the web components: a JSON header and raw numbers in one message.

The components take bytes alone (inside a dict they would arrive as text), so a message is
    uint32 little-endian length of the header | header, JSON in UTF-8 | zeros up to a multiple of 4 | raw data.
The grid of all heads travels as thumbnails of one byte a cell, an open head as exact float32.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from inspector.components.head.message import HeadOptions, Linked, Part, Segments, Whole, check_parts, of_parts, of_rows
from inspector.plots.theme import Scale
from inspector.trace.pooling import MaxPool

if TYPE_CHECKING:
    from inspector.row_statistics import RowStatistics
    from inspector.trace.recompute import AttentionSite

Colours = Mapping[str, Sequence[str]]
"""Hex stops of a colour scale for "light" and "dark", from zero up (or from -vmax to vmax, zero in the middle)."""
Blocks = Iterable[tuple[slice, NDArray[np.float32]]]

__all__ = [
    "Blocks",
    "Colours",
    "HeadOptions",
    "Linked",
    "Options",
    "Part",
    "Roles",
    "Segments",
    "Whole",
    "grid_bytes",
    "head_bytes",
    "pack",
    "side",
    "thumbnails",
]


@dataclass(frozen=True)
class Roles:
    """What each head does: names by layer and head; of the names that are framed, what they mean and in which colour.

    colours: mode -> name -> hex. A name without a meaning ("other") has no frame.
    """

    names: Sequence[Sequence[str]]
    meanings: Mapping[str, str]
    colours: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Options:
    """How the reader arranged the grid: sorted by which measure (None: as in the model), and the roles shown (all)."""

    sort: str | None = None
    rising: bool = False
    only: tuple[str, ...] = ()


SIDE = 96  # cells of a thumbnail, at most, in either direction
BUDGET = 1_200_000  # bytes of all thumbnails together; more layers and heads make smaller ones


def pack(header: Mapping[str, object], data: NDArray[np.float32] | NDArray[np.uint8]) -> bytes:
    """Header and numbers -> one message. The header holds JSON values, without NaN; the data is uint8 or float32."""
    if data.dtype not in (np.uint8, np.float32):
        raise ValueError(f"data to pack is uint8 or float32, not {data.dtype}: convert it with .astype")
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    start = len(text).to_bytes(4, "little") + text
    return start + bytes(-len(start) % 4) + data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes()


def thumbnails(
    layers: Iterable[NDArray[np.float32] | Blocks],
    *,
    count: int,
    heads: int,
    queries: int,
    keys: int,
    top: float = 1.0,
) -> NDArray[np.uint8]:
    """Attention weights of `count` layers -> uint8 [L, H, rows, cols], small pictures of every head.

    A layer is float32 [H, Q, T], or an iterator over (rows, float32 [H, rows, T]) as Trace.blocks gives; or it was made
    small already, to `side` cells, and Q and T are what that left. Larger maps are max-pooled, so that a single bright
    cell stays visible; a value is round(255 sqrt(a / top)), which keeps the small weights of a long text apart, and 255
    for what is over `top`.
    """
    pools: list[MaxPool] = []
    for layer in layers:
        if len(pools) == count:
            raise ValueError(f"there are more layers than the {count} announced")
        pools.append(MaxPool(heads, queries, keys, side=side(count, heads)))
        for rows, block in _blocks(layer):
            if block.shape != (heads, rows.stop - rows.start, keys) or rows.stop > queries:
                wanted = f"{heads} heads, {queries} queries, {keys} keys"
                raise ValueError(f"rows {rows.start}:{rows.stop} of shape {block.shape} don't fit {wanted}")
            pools[-1].add(block, queries=rows, keys=slice(0, keys))
    if len(pools) < count:
        raise ValueError(f"there are {len(pools)} layers, fewer than the {count} announced")
    cells = np.stack([pool.cells for pool in pools])
    levels: NDArray[np.float32] = np.rint(255 * np.sqrt(np.clip(cells / np.float32(top), 0, 1)))
    return levels.astype(np.uint8)


def readable_top(cells: NDArray[np.float32]) -> float:
    """A top of the colours that shows a long text's weights: 99 of 100 cells that are not 0 lie below.

    Rounded up to two digits, so that it can be said as it is; 1 at most, and where every cell is 0.
    """
    seen = cells[cells > 0]
    if not seen.size:
        return 1.0
    largest = float(np.quantile(seen, 0.99))
    digits = 1 - math.floor(math.log10(largest))
    return float(min(1.0, math.ceil(largest * 10.0**digits) / 10.0**digits))


def side(count: int, heads: int) -> int:
    """Cells of a thumbnail, at most, in either direction, where so many layers have so many heads."""
    return max(1, min(SIDE, math.isqrt(BUDGET // (count * heads))))


def sides(sites: Sequence[AttentionSite]) -> dict[str, int]:
    """`side` of each stream."""
    layers = Counter(site.stream for site in sites)
    return {site.stream: side(layers[site.stream], site.heads) for site in sites}


def _blocks(layer: NDArray[np.float32] | Blocks) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    if isinstance(layer, np.ndarray):
        yield slice(0, layer.shape[1]), layer
    else:
        yield from layer


def grid_bytes(
    pictures: NDArray[np.uint8],
    *,
    tokens: int,
    colours: Colours,
    scale: Scale = "linear",
    selected: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    names: Sequence[str] | None = None,
    crossed: Collection[tuple[int, int]] | None = None,
    measures: Mapping[str, Sequence[Sequence[float | None]]] | None = None,
    roles: Roles | None = None,
    options: Options | None = None,
    columns: str = "head",
    labels: Sequence[str] | None = None,
) -> bytes:
    """Thumbnails uint8 [L, H, rows, cols] -> the grid's message.

    A row is an attention, and (row, head) a place: not the model's layer, where not all layers attend.

    tokens: the text's length. selected: the open place. notes: a short text for each place, shown with the enlarged
    thumbnail, "entropy 1.23 nats". names: of the rows; "layer 0" and so on where left out; columns: what they count,
    and labels what each is called where they are not 0, 1, 2. crossed: the places of all that are crossed out, where a
    click crosses out or takes that back instead of opening; None where it opens. measures: by what heads can be sorted,
    each with a number for each place, None where it has none. roles: what each head does. options: how the heads are
    sorted and which are shown.
    """
    layers, heads, rows, cols = pictures.shape
    if selected is not None and not (0 <= selected[0] < layers and 0 <= selected[1] < heads):
        raise ValueError(f"selected head {selected} is outside {layers} layers of {heads} heads")
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
        "colours": _stops(colours),
        "notes": notes,
        "names": list(names) if names is not None else [f"layer {layer}" for layer in range(layers)],
        "crossed": None if crossed is None else sorted(crossed),
        "measures": measures,
        "roles": None if roles is None else asdict(roles),
        "options": asdict(options or Options()),
        "columns": columns,
        "labels": None if labels is None else list(labels),
    }
    return pack(header, pictures)


def head_bytes(
    weights: NDArray[np.float32],
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    colours: Colours,
    layer: int | None = None,
    head: int | None = None,
    title: str = "",
    scale: Scale = "linear",
    chosen: int | Sequence[int] | None = None,
    vmax: float = 1.0,
    diverging: bool = False,
    first: tuple[int, int] = (0, 0),
    linked: Linked | None = None,
    quantity: str = "weight",
    rows: RowStatistics | None = None,
    segments: Segments | None = None,
    options: HeadOptions | None = None,
    parts: Sequence[Part] = (),
    whole: Whole | None = None,
) -> bytes:
    """One head's weights float32 [Q, T] with its tokens -> the head's message, every value exact.

    NaN is a masked cell. layer and head: its place in a grid on the same page, which frames it. chosen: the pinned
    query, or several. vmax: top of the colour scale. diverging: the values are signed, in [-vmax, vmax], and `colours`
    has an odd number of stops with zero in the middle. first: query and key that a window of a long text begins with.
    linked: the tokens' counterparts in other heads on the page. quantity: what the values are, in the singular
    ("score", "difference of weights"). rows: what is told of each query's whole row, and its scores, on hover.
    segments: of a text and its pair. options: what the reader switched, of a page that keeps it. parts: the heads of
    which `weights` is the mean, for lines in a colour each. whole: the map that this is a window of. Raises ValueError
    for what does not fit together, and for more parts than fit a message.
    """
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(f"weights of shape {weights.shape} don't fit {len(queries)} queries and {len(keys)} keys")
    if not weights.size:
        raise ValueError("there is no weight to draw: the text has no tokens")
    if not (math.isfinite(vmax) and vmax > 0):
        raise ValueError(f"vmax {vmax} is no top of a colour scale: it is finite and above 0")
    pins = [] if chosen is None else [chosen] if isinstance(chosen, int) else sorted(set(chosen))
    for pin in pins:
        if not 0 <= pin < len(queries):
            raise ValueError(f"chosen query {pin} is outside {len(queries)} queries")
    for name, numbers in (("linked numbers", linked), ("segments", segments)):
        if numbers and (len(numbers.queries), len(numbers.keys)) != weights.shape:
            given = f"{len(numbers.queries)} queries and {len(numbers.keys)} keys"
            raise ValueError(f"{name} of {given}; the map has {weights.shape[0]} and {weights.shape[1]}")
    if rows and len(rows.entropy) != len(queries):
        raise ValueError(f"there are {len(rows.entropy)} rows' numbers for {len(queries)} queries")
    check_parts(parts, weights, budget=BUDGET)
    header = {
        "queries": list(queries),
        "keys": list(keys),
        "layer": layer,
        "head": head,
        "title": title,
        "scale": scale,
        "colours": _stops(colours, odd=diverging),
        "chosen": pins,
        "vmax": vmax,
        "diverging": diverging,
        "first": list(first),
        "linked": asdict(linked) if linked else None,
        "quantity": quantity,
        "rows": of_rows(rows) if rows else None,
        "segments": asdict(segments) if segments else None,
        "options": asdict(options) if options else None,
        "parts": of_parts(parts),
        "whole": whole.header if whole else None,
    }
    maps = np.stack([np.asarray(one, np.float32) for one in (weights, *(part.weights for part in parts))])
    return pack(header, maps) + (whole.picture.tobytes() if whole else b"")


def _stops(colours: Colours, *, odd: bool = False) -> dict[str, list[str]]:
    for mode in ("light", "dark"):
        stops = len(colours[mode]) if mode in colours else 0
        if stops < 2 or (odd and stops % 2 == 0):
            wanted = "an odd number of colours, the middle one at zero," if odd else "two colours or more"
            raise ValueError(f"a scale needs {wanted} for {mode!r}; it has {stops}")
    return {mode: list(colours[mode]) for mode in ("light", "dark")}
