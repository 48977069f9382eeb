"""Other weightings of a head's own queries and keys: softmax, sigmoid, linear attention, softmax of the cosine.

Each is an attention function of the own Transformer in the place of the model's own (models/attention), with the
model's mask. A bias on the scores, a soft-cap and sinks are left out: q and k alone are compared.

Shapes: Q query positions, T key positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from inspector.information import entropy
from inspector.trace import Array, AttentionRecord, recompute
from models.attention.functions import ComposedAttention, WeightedSum
from models.attention.scores import CosineScore, DotScore, FillWith, LinearScore, ScoreFunction

NAMES = ("softmax", "sigmoid", "linear", "cosine")
SHOWN = 96  # queries and keys of a map, the first


@dataclass(frozen=True)
class Weighting:
    """One weighting of a head. map: the weights of the first SHOWN queries and keys, float32.

    Means over the queries that see more than one key: entropy, of each row divided by its sum, nats; largest: the
    largest weight of a row. sums: the smallest and the largest sum of a row, over all rows.
    """

    name: str
    map: Array
    entropy: float
    largest: float
    sums: tuple[float, float]


def weigh(record: AttentionRecord, *, on_done: Callable[[int, int], object] = lambda done, of: None) -> list[Weighting]:
    """Weigh the keys of one head in every way; the record is of one head. Memory is that of one map of SHOWN.

    softmax: of q . k / sqrt(d_k). sigmoid: of q . k / sqrt(d_k) - ln n, n the keys that the query sees. linear:
    phi(q) . phi(k) over the row's sum, phi = elu + 1. cosine: softmax of the cosine of q and k.

    on_done: called with the weightings that are done, and how many there are. Raises ValueError where queries and keys
    were not seen, or are of several widths.
    """
    width = record.query.shape[-1]
    if not width or record.key.shape[-1] != width:
        raise ValueError("its queries and keys are not known as vectors of one width, so they cannot be weighed anew")
    made = []
    for done, name in enumerate(NAMES):
        on_done(done, len(NAMES))
        made.append(_weighed(name, replace(record, function=function(name, width=width), to_padding=None)))
    return made


def function(name: str, *, width: int) -> ComposedAttention:
    """Give the attention function of a weighting for heads of a width."""
    scores: dict[str, ScoreFunction] = {"linear": LinearScore(), "cosine": CosineScore()}
    factor = width**-0.5 if name in ("softmax", "sigmoid") else 1.0
    score = scores.get(name, DotScore())
    return ComposedAttention(
        score, factor, None, FillWith(-inf), fill_first=False, mix=WeightedSum(), sigmoid=name == "sigmoid"
    )


def _weighed(name: str, record: AttentionRecord) -> Weighting:
    entropies, largest, sums, choosing = [], [], [], []
    for block in recompute.bands(record):
        weights = block.weights[0]
        entropies.append(entropy(block.shares[0]).astype(np.float64))
        largest.append(weights.max(axis=-1).astype(np.float64))
        sums.append(weights.sum(axis=-1, dtype=np.float64))
        choosing.append(np.isfinite(block.scores[0]).sum(axis=-1) > 1)
    chosen, every = np.concatenate(choosing), np.concatenate(sums)

    def mean(rows: list[NDArray[np.float64]]) -> float:
        return float(np.concatenate(rows)[chosen].mean()) if chosen.any() else float("nan")

    queries, keys = (slice(0, min(SHOWN, len(side))) for side in (record.site.queries, record.site.keys))
    shown = recompute.window(record, "weights", queries=queries, keys=keys)[0]
    return Weighting(name, shown, mean(entropies), mean(largest), (float(every.min()), float(every.max())))
