"""Symmetry of queries and keys: how far two tokens are treated alike, by scores and by weights, and the diagonal.

asymmetry(M) = ||M - M^T||_F / ||M||_F: 0 for a symmetric M, sqrt(2) = 1.41 where M_ij and M_ji have nothing in common,
2 where M^T = -M. W_Q = W_K makes S = Q K^T symmetric; A = softmax(S) is not, for each row has a normaliser of its own.

Shapes: H heads, K kv heads, T positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.heads import with_call
from inspector.scores.logits import cells
from inspector.scores.saturation import Floats
from inspector.trace import AttentionRecord, Trace, recompute
from models.attention import row_blocks
from models.attention.functions import for_each_head

WHOLE = 768  # tokens, up to which A of all heads is held beside its transpose, a head at a time


@dataclass(frozen=True)
class Diagonal:
    """Weights of a layer on the diagonal, [H] each, over the queries that see more than one key.

    share: the mean share of its row's weight that a token gives itself. peak: the share of queries whose largest
    weight is their own. even: the share that even attention would give, mean of 1 / keys seen.
    """

    share: Floats
    peak: Floats
    even: float


def asymmetry(matrix: NDArray[Any]) -> Floats:
    """||M - M^T||_F / ||M||_F of each square matrix [..., T, T] -> [...]; NaN for one of zeros."""
    wide = matrix.astype(np.float64)
    whole, apart = (np.linalg.norm(matrix, axis=(-2, -1)) for matrix in (wide, wide - wide.swapaxes(-1, -2)))
    share: Floats = np.divide(apart, whole, out=np.full_like(whole, np.nan), where=whole > 0)
    return share


def score_asymmetry(query: Tensor, key: Tensor) -> Floats:
    """Asymmetry of Q K^T before scale, mask and softmax: query [H, T, E], key [K, T, E] -> [H].

    In blocks of rows: memory is linear in the text. Exactly 0 where queries are keys.
    """
    q, k = query.float(), for_each_head(key[None].float(), len(query))[0]
    apart, whole = torch.zeros(2, len(q), dtype=torch.float64)
    for rows in row_blocks(q.shape[1], k.shape[1]):
        scores = q[:, rows] @ k.mT
        whole += scores.double().square().sum(dim=(1, 2)).cpu()
        apart += (scores - k[:, rows] @ q.mT).double().square().sum(dim=(1, 2)).cpu()
    asymmetries: Floats = (apart / whole).sqrt().numpy()
    return asymmetries


def product(record: AttentionRecord, *, most: int | None = None) -> NDArray[np.float32]:
    """Q K^T of one head's record, before scale, bias and mask: float32 [T, T], of the first `most` tokens."""
    part = slice(0, most)
    products: NDArray[np.float32] = (record.query[0, part].float() @ record.key[0, part].float().mT).cpu().numpy()
    return products


def diagonal(trace: Trace, *, layer: int, stream: str, call: int = 0) -> Diagonal:
    """Measure how much a layer's queries give to themselves, block by block."""
    record = trace.record_of(layer, stream, call=call)
    on_diagonal, peaks, even, queries = np.zeros(len(record.query)), np.zeros(len(record.query)), 0.0, 0
    for block in recompute.bands(record):
        rows = np.arange(block.queries.start, block.queries.stop)
        _, visible = cells(record, block)
        seen = np.full(len(rows), block.weights.shape[-1]) if visible is None else visible.any(axis=0).sum(axis=-1)
        chosen = np.flatnonzero(seen > 1)
        at = rows[chosen] - block.keys.start
        on_diagonal += block.shares[:, chosen, at].sum(axis=1, dtype=np.float64)
        peaks += (block.weights[:, chosen].argmax(axis=-1) == at).sum(axis=1)
        even += float((1 / seen[chosen]).sum())
        queries += len(chosen)
    if not queries:
        nothing = np.full(len(on_diagonal), np.nan)
        return Diagonal(nothing, nothing, float("nan"))
    return Diagonal(on_diagonal / queries, peaks / queries, even / queries)


def measure(trace: Trace, *, stream: str, on_layer: Callable[[float, int], None] | None = None) -> pd.DataFrame:
    """Measure the symmetry of every head of a stream that attends to itself, a row per head.

    scores: asymmetry of Q K^T without mask, NaN where queries and keys were not seen. weights: asymmetry of A, as it is
    (a causal mask alone makes it one-sided); NaN in a text of more than 768 tokens, for A is then not held as a whole.
    diagonal: mean weight on the token itself; peak: share of queries whose largest weight is their own; even: the share
    that even attention would give. on_layer: called with the layers that are done, and how many there are.

    Raises ValueError for cross-attention, whose queries and keys are two texts.
    """
    if stream == "cross":
        raise ValueError(
            "queries and keys of cross-attention are two texts, so neither matrix has a transpose of its kind"
        )
    tables, sites = [], trace.sites_of(stream)
    for done, site in enumerate(sites):
        if on_layer is not None:
            on_layer(done, len(sites))
        record = trace.record_of(site.layer, stream, call=site.call)
        nothing = np.full(site.heads, np.nan)
        seen = bool(record.query.shape[-1])
        on_diagonal = diagonal(trace, layer=site.layer, stream=stream, call=site.call)
        table = pd.DataFrame(
            {
                "stream": stream,
                "layer": site.layer,
                "head": range(site.heads),
                "scores": score_asymmetry(record.query, record.key) if seen else nothing,
                "weights": nothing if len(site.keys) > WHOLE else _of_weights(trace, site.layer, stream, site.call),
                "diagonal": on_diagonal.share,
                "peak": on_diagonal.peak,
                "even": on_diagonal.even,
            }
        )
        tables.append(with_call(table, site, trace.sites))
    return pd.concat(tables, ignore_index=True)


def _of_weights(trace: Trace, layer: int, stream: str, call: int) -> Floats:
    weights = trace.attention(layer=layer, stream=stream, call=call)
    return np.array([asymmetry(weight) for weight in weights])
