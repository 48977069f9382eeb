"""The flow along attention: how much a head really moves, and where a token's content came from through all layers.

A weight alpha_ij says what share of token j's value the query i takes, not how large that value is. With the output
projection, token j's part in what attention gives to token i is alpha_ij f_h(x_j), where
f_h(x) = (x W_V^h + b_V^h) W_O^h:

    attention(x)_i = sum_h sum_j alpha_h,ij f_h(x_j) + b_O      (Kobayashi et al. 2020, section 3)

All sums are taken in float64 and in blocks of query rows: memory is linear in the text, apart from the result.

Shapes: H heads, K kv heads, Q query positions, T key positions, D width, E head width, L layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.trace import AttentionRecord, Trace, places, recompute
from models import LoadedModel, output_projection
from models.attention import row_blocks
from models.attention.functions import ComposedAttention, WeightedSum
from models.output_projection import OutputProjection, ProjectionPlace

Float64Array = NDArray[np.float64]
Projections = Mapping[ProjectionPlace, OutputProjection] | LoadedModel

_KEYS = 128  # keys at once: f_h(x_j) of all heads is H D numbers for each key


@dataclass(frozen=True)
class ValueNorms:
    """The size of what each key hands over, in each head: plain ||v_j||, projected ||v_j W_O^h||, both [H, T]."""

    plain: Float64Array
    projected: Float64Array


def norm_weighted(
    trace: Trace,
    projections: Projections,
    *,
    layer: int,
    head: int | None = None,
    stream: str | None = None,
    call: int = 0,
    queries: slice = slice(None),
    keys: slice = slice(None),
) -> NDArray[np.float32]:
    """Norm-weighted attention, float32 [queries, keys]: the length of what query i takes from token j.

    For a head it is ||alpha_ij f_h(x_j)|| (Kobayashi et al. 2020). Without a head it is the layer's:
    ||sum_h alpha_h,ij f_h(x_j)||, where heads may add up or cancel out. Its square is
    sum_g sum_h alpha_g,ij alpha_h,ij <f_g(x_j), f_h(x_j)>, so that the inner products of each key's H vectors are
    enough, and no [H, Q, T, D] tensor is made. The unit is the residual stream's.

    projections: the recorded model, or its projections by `models.output_projection.find`. queries and keys: some rows
    and columns, the same bits as in the whole; no others are computed. Raises ValueError for a layer, head or stream
    out of range, for a window that holds nothing, for projections of another model, and where positions add to the
    values (Shaw).
    """
    record = trace.record_of(layer, stream, call=call)
    chosen = record if head is None else trace.record_of_head(layer, head, stream, call=call)
    rows = places(queries, "queries", count=len(record.site.queries))
    columns = places(keys, "keys", count=len(record.site.keys))
    heads = slice(None) if head is None else slice(head, head + 1)
    products = _inner_products(record, _projection(record, projections), heads, columns)
    norms = np.empty((rows.stop - rows.start, columns.stop - columns.start), np.float32)
    for block in row_blocks(len(record.site.queries), len(record.site.keys), among=rows):
        part = slice(max(block.start, rows.start), min(block.stop, rows.stop))
        weights = recompute.window(chosen, "weights", queries=part, keys=columns)
        norms[part.start - rows.start : part.stop - rows.start] = _length(weights, products)
    return norms


def value_norms(
    trace: Trace,
    projections: Projections,
    *,
    layer: int,
    stream: str | None = None,
    call: int = 0,
) -> ValueNorms:
    """The lengths of a layer's value vectors, before and after the output projection: a key that much attention goes to
    may hand over next to nothing (Kobayashi et al. 2020, section 4, on [SEP]).

    Raises ValueError as `norm_weighted` does.
    """
    record = trace.record_of(layer, stream, call=call)
    projection = _projection(record, projections)
    every = slice(0, len(record.site.keys))
    projected = [np.linalg.norm(vectors, axis=2) for vectors in _vectors(record, projection, slice(None), every)]
    return ValueNorms(np.linalg.norm(_values(record), axis=2), np.concatenate(projected).T)


def rollout(
    trace: Trace, *, token: int | None = None, stream: str | None = None, residual: float = 0.5
) -> Float64Array:
    """Attention rollout (Abnar & Zuidema 2020, section 3): float64 [L + 1, T] of a token, [L + 1, Q, T] of all.

    L counts the attentions of the stream. Row l says how much of each token's state before attention l went into the
    token's after the last: row 0 counts embeddings, row L the token alone. The attentions are the stream's trace.sites,
    in their order; a layer without attention mixes no tokens here, whatever its state space or convolution does. Layer
    l is taken to mix
    A'_l = residual I + (1 - residual) mean_h A_l,h, half and half in the paper, so row l is e_token A'_(L-1) .. A'_l: a
    vector times a matrix in each layer, never a matrix times a matrix. Rows sum to 1, to less with sinks; a
    sigmoid's rows are divided by their sums first (`WeightBlock.shares`).

    token: a query position of the stream; all where it is left out. A decoder that has a source is followed through its
    own text alone. Raises ValueError for a token, stream or residual out of range, and for "cross", whose maps lead
    from one text to another.
    """
    stream = trace.record_of(_first_layer(trace, stream), stream).site.stream
    if stream == "cross":
        raise ValueError(
            "rollout multiplies maps of a text with itself, and cross-attention leads from the target to the source; "
            "choose stream='encoder' or stream='decoder'"
        )
    if not 0 <= residual <= 1:
        raise ValueError(f"residual is {residual}; it is the share that a token keeps of itself, from 0 to 1")
    sites = trace.sites_of(stream)
    tokens = len(sites[0].queries)
    if token is not None and not 0 <= token < tokens:
        raise ValueError(f"token {token} is out of range: the {stream} read tokens 0 to {tokens - 1}")
    chosen = range(tokens) if token is None else [token]
    shares = np.zeros((len(sites) + 1, len(chosen), tokens))
    shares[-1] = np.eye(tokens)[chosen]
    for place, site in reversed(list(enumerate(sites))):
        shares[place] = residual * shares[place + 1]
        for rows, block in recompute.blocks(trace.record_of(site.layer, stream, call=site.call), "shares"):
            mean = block.mean(axis=0, dtype=np.float64)  # [rows, T]
            shares[place] += (1 - residual) * shares[place + 1, :, rows] @ mean
    return shares if token is None else shares[:, 0]


def _first_layer(trace: Trace, stream: str | None) -> int:
    return next((site.layer for site in trace.sites if stream in (None, site.stream)), 0)


# --- what each key hands over --------------------------------------------------------------------------------------


def _projection(record: AttentionRecord, projections: Projections) -> Float64Array:
    """W_O of the record's layer: [H, E, D]."""
    projections = output_projection.find(projections) if isinstance(projections, LoadedModel) else projections
    site, function = record.site, record.function
    if isinstance(function, ComposedAttention) and not isinstance(function.mix, WeightedSum):
        raise ValueError(
            "positions 'shaw' add a vector to each value that depends on the query, so a token hands over no single "
            "f(x); choose a model with other positions"
        )
    expected = (site.heads, record.value.shape[-1])
    projection = projections.get((site.stream, site.layer, site.call))
    if projection is None or projection.weight.shape[:2] != expected:
        shape = (
            "none"
            if projection is None
            else f"{projection.weight.shape[0]} heads of {projection.weight.shape[1]} features"
        )
        raise ValueError(
            f"{site.stream} layer {site.layer} has {expected[0]} heads of {expected[1]} features, and its projection "
            f"has {shape}; pass the output projections of the model that was recorded"
        )
    weight: Float64Array = projection.weight.double().cpu().numpy()
    return weight


def _values(record: AttentionRecord) -> Float64Array:
    """The value vectors that each head reads: [K, T, E] -> [H, T, E]."""
    values: Float64Array = record.value.double().cpu().numpy()
    return values.repeat(record.site.heads // len(values), axis=0)


def _vectors(record: AttentionRecord, weight: Float64Array, heads: slice, keys: slice) -> Iterator[Float64Array]:
    """f_h(x_j) of the chosen heads and keys, in blocks of keys: [keys, H, D]; the same blocks whichever keys."""
    values = _values(record)[heads]
    for start in range(keys.start // _KEYS * _KEYS, keys.stop, _KEYS):
        vectors = (values[:, start : start + _KEYS] @ weight[heads]).swapaxes(0, 1)
        yield vectors[max(keys.start - start, 0) : keys.stop - start]


def _inner_products(record: AttentionRecord, weight: Float64Array, heads: slice, keys: slice) -> Float64Array:
    """<f_g(x_j), f_h(x_j)> of the chosen heads, for each of the keys: [H, H, keys]."""
    blocks = [vectors @ vectors.swapaxes(1, 2) for vectors in _vectors(record, weight, heads, keys)]
    return np.ascontiguousarray(np.concatenate(blocks).transpose(1, 2, 0))


def _length(weights: NDArray[np.float32], products: Float64Array) -> Float64Array:
    """||sum_h weights_h,ij f_h(x_j)||: weights [H, rows, T], inner products [H, H, T] -> [rows, T].

    Pair by pair of heads, which needs no more than a few [rows, T] arrays at once.
    """
    alpha = weights.astype(np.float64)
    square = np.zeros(alpha.shape[1:])
    for head, weight in enumerate(alpha):
        square += weight * weight * products[head, head]
        for other in range(head):
            square += 2 * weight * alpha[other] * products[head, other]
    return np.sqrt(np.maximum(square, 0))  # only rounding takes it below 0
