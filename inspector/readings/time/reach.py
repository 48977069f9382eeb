"""Readings of the section Gradient by distance: what a token's last state takes from near tokens and from far ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from inspector.distance.reach import Scalar, still
from inspector.heads import is_punctuation
from inspector.readings.links import Named, named
from inspector.trace import Trace

LEAST = 1e-6  # of a layer's largest gradient: less reaches a token in name only


@dataclass(frozen=True)
class Reached:
    """||ds / dx_t|| at the input of layer 0, s made of out_T.

    token, position: T. tokens: of the stream. reached: how many of them have a gradient above LEAST, T with them;
    by_last: through the last layer alone. itself: the norm at T. split: the largest distance of a near token. near,
    far: the mean norm of the other tokens up to `split` and beyond, but for those that a mask hides; None where there
    is no such token. top, top_norm: the token that gets most, T left out; None where T is alone. source: whether the
    tokens are those of the source, which has positions of its own: then itself is 0, and near is the mean of all.
    """

    token: Named
    position: int
    scalar: Scalar
    tokens: int
    reached: int
    by_last: int
    itself: float
    split: int
    near: float | None
    far: float | None
    top: Named | None
    top_norm: float
    source: bool


@dataclass(frozen=True)
class Carried:
    """The gradient of all tokens but T at the input of layer 0, by its ways back.

    whole: all ways. sublayers: through every sublayer, without a skip. itself, skip: at T, by all ways and by the skip
    alone. layers, parts: of the stream, and all sublayers of these layers.
    """

    whole: float
    sublayers: float
    itself: float
    skip: float
    layers: int
    parts: int


def last_of_text(trace: Trace) -> int:
    """The position of the last word's last token among those that end in the last hidden state.

    Of a mark where the text has no word, of the last token where there is nothing but special ones.
    """
    read = trace.read_by("decoder") if trace.target is not None else trace.encoding
    own = [position for position, special in enumerate(read.special) if not special]
    words = [position for position in own if not is_punctuation(read.tokens[position])]
    return (words or own or [len(read) - 1])[-1]


def told(table: pd.DataFrame, scalar: Scalar) -> Scalar:
    """The scalar to begin with: `scalar`, or a direction where that does not move."""
    return "direction" if still(table, scalar) else scalar


def reached(table: pd.DataFrame, *, tokens: Sequence[str], position: int, scalar: Scalar, stream: str) -> Reached:
    """Read a stream's rows of the table of `reach.measure`; tokens: those of the stream that ends in out."""
    rows = _rows(table, scalar, stream)
    last = rows[rows["layer"] == rows["layer"].max()]
    rows = rows[rows["layer"] == 0].reset_index(drop=True)
    source = bool(rows["distance"].isna().all())
    norms = rows["norm"]
    others = rows if source else rows[rows["position"] != position]
    others = others[others["norm"] > 0]
    away = others["distance"].abs()
    split = 0 if source or others.empty else int((away.max() + 1) // 2)
    near, far = (others, others.iloc[:0]) if source else (others[away <= split], others[away > split])
    top = None if others.empty else int(others["norm"].idxmax())
    return Reached(
        named(tokens, position),
        position,
        scalar,
        len(rows),
        _above(norms),
        _above(last["norm"]),
        0.0 if source else float(norms[position]),
        split,
        None if near.empty else float(near["norm"].mean()),
        None if far.empty else float(far["norm"].mean()),
        None if top is None else named(list(rows["token"]), top),
        0.0 if top is None else float(norms[top]),
        source,
    )


def carried(table: pd.DataFrame, *, scalar: Scalar, stream: str) -> Carried:
    """Read the rows of a stream in the table of `residual.measure`."""
    rows = _rows(table, scalar, stream)
    layers, crosses = int(rows["layer"].max()) + 1, stream == "decoder" and table["stream"].nunique() > 1
    first = rows[rows["layer"] == 0]
    own = first["distance"] == 0
    others = first[~own.fillna(False)].groupby("way")["norm"].apply(lambda norms: float((norms**2).sum() ** 0.5))
    itself = first[own.fillna(False)].set_index("way")["norm"]
    return Carried(
        float(others.get("all", 0.0)),
        float(others.get("sublayers", 0.0)),
        float(itself.get("all", 0.0)),
        float(itself.get("skip", 0.0)),
        layers,
        layers * (3 if crosses else 2),
    )


def by_layer(table: pd.DataFrame, *, scalar: Scalar, stream: str) -> pd.DataFrame:
    """The norm of the whole gradient, over all tokens, a row for each way and layer: way, layer, norm."""
    rows = _rows(table, scalar, stream)
    squared = rows.assign(norm=rows["norm"] ** 2).groupby(["way", "layer"], sort=False)["norm"].sum()
    return (squared**0.5).reset_index()


def shares(table: pd.DataFrame, *, scalar: Scalar, stream: str) -> pd.DataFrame:
    """Each token's share of its layer's norms, [layer, position]; 0 where a layer has no gradient."""
    norms = _rows(table, scalar, stream).pivot_table(index="layer", columns="position", values="norm")
    return norms.div(norms.sum(axis=1), axis=0).fillna(0.0)


def _above(norms: pd.Series) -> int:
    largest = norms.max()
    return int(((norms > 0) & (norms >= LEAST * largest)).sum())


def _rows(table: pd.DataFrame, scalar: Scalar, stream: str) -> pd.DataFrame:
    return table[(table["scalar"] == scalar) & (table["stream"] == stream)]
