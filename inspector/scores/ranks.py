"""Orders of the keys: by q . k, by the cosine with q, and by the distance from it.

|q - k|^2 = |q|^2 + |k|^2 - 2 q . k and cos = q . k / (|q| |k|): in one row |q| is the same for all keys, so the three
rank alike where all keys have one length, and differ by the spread of |k| else.

Shapes: H heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from inspector.heads import with_call
from inspector.scores.saturation import Floats
from inspector.trace import AttentionRecord, Trace
from models.attention.functions import for_each_head

ROWS = 64  # queries of a head whose keys are ranked, at most, evenly over the text
FEWEST = 3  # keys that a query must see: two are always ranked alike or the other way round


def measure(trace: Trace, *, stream: str, on_layer: Callable[[float, int], None] | None = None) -> pd.DataFrame:
    """Compare the order of the keys by q . k with that by cosine and by distance, a row per head of a stream.

    cosine, distance: Spearman's rank correlation (Spearman 1904) of q . k with cos(q, k) and with -|q - k|, within a
    row and over the keys that it sees, mean over at most 64 queries that lie evenly over the text. key_spread: the
    standard deviation of |k| over its mean; longest: the longest key over the shortest.

    NaN where queries and keys were not seen, and where no query sees three keys.
    """
    tables, sites = [], trace.sites_of(stream)
    for done, site in enumerate(sites):
        if on_layer is not None:
            on_layer(done, len(sites))
        record = trace.record_of(site.layer, stream, call=site.call)
        cosine, distance = _correlations(record)
        lengths = for_each_head(record.key[None].float().norm(dim=-1), site.heads)[0].double().cpu().numpy()  # [H, T]
        least = np.maximum(lengths.min(axis=1), 1e-30)
        known = bool(record.key.shape[-1])
        table = pd.DataFrame(
            {
                "stream": stream,
                "layer": site.layer,
                "head": range(site.heads),
                "cosine": cosine,
                "distance": distance,
                "key_spread": lengths.std(axis=1) / np.maximum(lengths.mean(axis=1), 1e-30) if known else np.nan,
                "longest": lengths.max(axis=1) / least if known else np.nan,
            }
        )
        tables.append(with_call(table, site, trace.sites))
    return pd.concat(tables, ignore_index=True)


def lengths(record: AttentionRecord) -> pd.DataFrame:
    """List how long each key of one head is: columns key, its token, and length; the record is of one head."""
    return pd.DataFrame({"key": record.site.keys, "length": record.key[0].double().norm(dim=-1).cpu().numpy()})


def spearman(a: NDArray[np.floating], b: NDArray[np.floating]) -> Floats:
    """Spearman's rank correlation of each two rows [rows, T] -> [rows], equal values sharing their mean rank.

    Cells that are NaN in `a` count in neither; NaN where fewer than three count, or a row is constant.
    """
    hidden = np.isnan(a)
    ranks = [pd.DataFrame(np.where(hidden, np.nan, values)).rank(axis=1).to_numpy() for values in (a, b)]
    count = (~hidden).sum(axis=1, keepdims=True)
    x, y = (np.where(hidden, 0.0, ranked - (count + 1) / 2) for ranked in ranks)
    size = np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum(axis=1))
    enough = (size > 0) & (count[:, 0] >= FEWEST)
    correlation: Floats = np.divide((x * y).sum(axis=1), size, out=np.full(len(x), np.nan), where=enough)
    return correlation


def rows_of(count: int, most: int = ROWS) -> NDArray[np.intp]:
    """Choose at most `most` of `count` rows, evenly, the last among them."""
    return np.unique(np.linspace(count - 1, 0, min(count, most)).round().astype(np.intp))


@torch.no_grad()
def _correlations(record: AttentionRecord) -> tuple[Floats, Floats]:
    heads = len(record.query)
    correlations = np.full((2, heads), np.nan)
    if not record.query.shape[-1]:
        return correlations[0], correlations[1]
    rows = rows_of(record.query.shape[1])
    query, key = record.query[:, rows].float().cpu(), record.key.float().cpu()
    hidden = _hidden(record, rows)
    for head in range(heads):
        q, k = query[head], key[head // (heads // len(key))]
        dots = (q @ k.T).double()
        sizes = k.double().square().sum(dim=-1)
        cosines = dots / sizes.sqrt().clamp(min=1e-30)  # |q| is the same in a row
        nearness = 2 * dots - sizes  # -|q - k|^2 + |q|^2
        seen = dots.numpy() if hidden is None else np.where(hidden[min(head, len(hidden) - 1)], np.nan, dots.numpy())
        for place, other in enumerate((cosines, nearness)):
            each = spearman(seen, other.numpy())
            correlations[place, head] = np.nanmean(each) if np.isfinite(each).any() else np.nan
    return correlations[0], correlations[1]


def _hidden(record: AttentionRecord, rows: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """True where the mask hides a key: [1 or H, rows, T]; None without a mask."""
    if record.mask is None:
        return None
    each = [record.mask.rows(row, row + 1)[0] for row in rows.tolist()]  # [1 or H, 1, T]
    hidden: NDArray[np.bool_] = ~torch.cat(each, dim=1).cpu().numpy()
    return hidden
