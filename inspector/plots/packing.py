"""Attention as bytes for the web components: a JSON header and raw numbers in one message.

The components take bytes alone (inside a dict they would arrive as text), so a message is
    uint32 little-endian length of the header | header, JSON in UTF-8 | zeros up to a multiple of 4 | raw data.
The grid of all heads travels as thumbnails of one byte a cell, an open head as exact float32.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.plots.theme import Scale
from inspector.pooling import MaxPool

Colours = Mapping[str, Sequence[str]]
"""Hex stops of a colour scale for "light" and "dark", from zero up (or from -vmax to vmax, zero in the middle)."""
Blocks = Iterable[tuple[slice, NDArray[np.float32]]]


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
    layers: Iterable[NDArray[np.float32] | Blocks], *, count: int, heads: int, queries: int, keys: int
) -> NDArray[np.uint8]:
    """Attention weights of `count` layers -> uint8 [L, H, rows, cols], small pictures of every head.

    A layer is float32 [H, Q, T], or an iterator over (rows, float32 [H, rows, T]) as Trace.blocks gives; or it was made
    small already, to `side` cells, and Q and T are what that left. Larger maps are max-pooled, so that a single bright
    cell stays visible; a value is round(255 sqrt(a)), which keeps the small weights of a long text apart.
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
    levels: NDArray[np.float32] = np.rint(255 * np.sqrt(np.clip(cells, 0, 1)))
    return levels.astype(np.uint8)


def side(count: int, heads: int) -> int:
    """Cells of a thumbnail, at most, in either direction, where so many layers have so many heads."""
    return max(1, min(SIDE, math.isqrt(BUDGET // (count * heads))))


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
    measures: Mapping[str, Sequence[Sequence[float | None]]] | None = None,
    roles: Roles | None = None,
    options: Options | None = None,
) -> bytes:
    """Thumbnails uint8 [L, H, rows, cols] -> the grid's message.

    tokens: the text's length. selected: the open (layer, head). notes: a short text for each layer and head, shown with
    the enlarged thumbnail, "entropy 1.23 nats". measures: by what heads can be sorted, each with a number for each
    layer and head, None where it has none. roles: what each head does. options: how the heads are sorted and which are
    shown.
    """
    layers, heads, rows, cols = pictures.shape
    if selected is not None and not (0 <= selected[0] < layers and 0 <= selected[1] < heads):
        raise ValueError(f"selected head {selected} is outside {layers} layers of {heads} heads")
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
        "measures": measures,
        "roles": None if roles is None else asdict(roles),
        "options": asdict(options or Options()),
    }
    return pack(header, pictures)


@dataclass(frozen=True)
class Linked:
    """Heads on one page that light up each other's tokens while one is looked at: those with the same name.

    queries, keys: a number for each token; tokens of linked heads belong together where it is equal. None: there is no
    counterpart.
    """

    name: str
    queries: tuple[int | None, ...]
    keys: tuple[int | None, ...]


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
    chosen: int | None = None,
    vmax: float = 1.0,
    diverging: bool = False,
    first: tuple[int, int] = (0, 0),
    linked: Linked | None = None,
) -> bytes:
    """One head's weights float32 [Q, T] with its tokens -> the head's message, every value exact.

    NaN is a masked cell. chosen: the pinned query. vmax: top of the colour scale. diverging: the values are signed
    differences in [-vmax, vmax], and `colours` has an odd number of stops with zero in the middle. first: query and key
    that a window of a long text begins with. linked: the tokens' counterparts in other heads on the page.
    """
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(f"weights of shape {weights.shape} don't fit {len(queries)} queries and {len(keys)} keys")
    if not weights.size:
        raise ValueError("there is no weight to draw: the text has no tokens")
    if not (math.isfinite(vmax) and vmax > 0):
        raise ValueError(f"vmax {vmax} is no top of a colour scale: it is finite and above 0")
    if chosen is not None and not 0 <= chosen < len(queries):
        raise ValueError(f"chosen query {chosen} is outside {len(queries)} queries")
    if linked and (len(linked.queries), len(linked.keys)) != weights.shape:
        numbers = f"{len(linked.queries)} queries and {len(linked.keys)} keys"
        raise ValueError(f"linked numbers {numbers}; the map has {weights.shape[0]} and {weights.shape[1]}")
    header = {
        "queries": list(queries),
        "keys": list(keys),
        "layer": layer,
        "head": head,
        "title": title,
        "scale": scale,
        "colours": _stops(colours, odd=diverging),
        "chosen": chosen,
        "vmax": vmax,
        "diverging": diverging,
        "first": list(first),
        "linked": asdict(linked) if linked else None,
    }
    return pack(header, np.asarray(weights, np.float32))


def _stops(colours: Colours, *, odd: bool = False) -> dict[str, list[str]]:
    for mode in ("light", "dark"):
        stops = len(colours[mode]) if mode in colours else 0
        if stops < 2 or (odd and stops % 2 == 0):
            wanted = "an odd number of colours, the middle one at zero," if odd else "two colours or more"
            raise ValueError(f"a scale needs {wanted} for {mode!r}; it has {stops}")
    return {mode: list(colours[mode]) for mode in ("light", "dark")}
