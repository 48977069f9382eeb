"""The state of [CLS] taken apart: is it a weighted average of the other tokens?

Attention gives [CLS] a weighted average of all values, its own among them. But the residual stream carries its own
state past attention, an FFN and norms follow, and it began as an embedding of its own.

Shapes: H heads, K kv heads, T tokens, D width, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.block import stages
from inspector.probe import record_blocks
from inspector.trace import Trace
from models import LoadedModel
from models.output_projection import find

Float64Array = NDArray[np.float64]
_STEPS = 3000  # of the search for the nearest average
_STREAM = "encoder"


@dataclass(frozen=True, eq=False)
class NearestAverage:
    """The weighted average of some states that is nearest to a state.

    weights: 0 or more, of sum 1; miss: its distance from the state, of the state's length; cosine: of both.
    """

    weights: Float64Array
    miss: float
    cosine: float


def cls_attention(trace: Trace) -> pd.DataFrame:
    """Measure what [CLS] takes in each layer, mean over heads; a row per layer, of sum 1.

    Columns: layer, itself (the weight on [CLS]), special (on the other special tokens, as [SEP]), text (on the text's).
    """
    special = np.array(trace.encoding.special)
    rows = []
    for site in trace.sites_of(_STREAM):
        weights = (
            trace.attention(layer=site.layer, stream=_STREAM, call=site.call)[:, 0].astype(np.float64).mean(axis=0)
        )
        others = weights[1:]
        rows.append((site.layer, weights[0], others[special[1:]].sum(), others[~special[1:]].sum()))
    return pd.DataFrame(rows, columns=["layer", "itself", "special", "text"])


def cls_parts(loaded: LoadedModel, trace: Trace) -> pd.DataFrame:
    """Split the state of [CLS] after each attention, before the norm, into what is its own and what others gave.

    With f_h(x_j) = v_h,j W_O^h the sum is own + others,

        others = sum_h sum_(j > 0) alpha_h,0j f_h(x_j)
        own = x_0 + sum_h alpha_h,00 f_h(x_0) + b_O

    Columns: layer, own and others (the lengths of both), mixing = others / (own + others), the mixing ratio of
    Kobayashi et al. 2021 (section 3) before its norm: 0 where [CLS] keeps to itself. Raises ValueError where the inside
    of a layer or the output projection of its attention is not seen.
    """
    projections = find(loaded)
    rows = []
    for stage in stages(trace, record_blocks(loaded, trace), stream=_STREAM):
        if stage.part != "attention":
            continue
        record = trace.record_of(stage.layer, _STREAM)
        projection = projections.get((_STREAM, stage.layer, record.site.call))
        value = record.value.double().cpu().numpy()  # [K, T, E]
        if projection is None or not value.size:
            raise ValueError(f"the values of layer {stage.layer} of {trace.model} were not seen")
        weights = trace.attention(layer=stage.layer, stream=_STREAM)[:, 0, 1:].astype(np.float64)  # [H, T - 1]
        each = value.repeat(len(weights) // len(value), axis=0)[:, 1:]
        mixed = np.einsum("ht,hte->he", weights, each)
        others = np.einsum("he,hed->d", mixed, projection.weight.double().cpu().numpy())
        of_cls = stage.before[0].astype(np.float64) + stage.added[0].astype(np.float64) - others
        lengths = float(np.linalg.norm(of_cls)), float(np.linalg.norm(others))
        rows.append((stage.layer, *lengths, lengths[1] / sum(lengths)))
    return pd.DataFrame(rows, columns=["layer", "own", "others", "mixing"])


def nearest_average(states: NDArray[np.floating[Any]], *, token: int = 0) -> NearestAverage:
    """Find the weighted average of the other tokens' states that is nearest to a token's.

    It minimises |x - sum_j w_j x_j| over w >= 0 of sum 1, by projected gradients with momentum (Beck & Teboulle 2009),
    on their inner products. states [T, D]; weights [T - 1]. Raises ValueError for fewer than two tokens.
    """
    if len(states) < 2 or not 0 <= token < len(states):
        raise ValueError(f"token {token} of {len(states)} has no others to take an average of")
    wide = states.astype(np.float64)
    x, others = wide[token], np.delete(wide, token, axis=0)
    gram, product = others @ others.T, others @ x
    step = 1.0 / np.linalg.eigvalsh(gram)[-1]
    weights = ahead = np.full(len(others), 1.0 / len(others))
    momentum = 1.0
    for _ in range(_STEPS):
        later = _on_simplex(ahead - step * (gram @ ahead - product))
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = later + (momentum - 1.0) / grown * (later - weights)
        if np.abs(later - weights).max() < 1e-12:
            break
        weights, momentum = later, grown
    average = weights @ others
    size = np.linalg.norm(x)
    cosine = float(average @ x / (np.linalg.norm(average) * size))
    return NearestAverage(weights, float(np.linalg.norm(average - x) / size), cosine)


def _on_simplex(point: Float64Array) -> Float64Array:
    """Project onto weights of 0 or more and sum 1 (Duchi et al. 2008, figure 1)."""
    falling = np.sort(point)[::-1]
    over = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    projected: Float64Array = np.maximum(point - over[last], 0.0)
    return projected
