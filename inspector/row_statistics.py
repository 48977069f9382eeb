"""Two numbers for each row of a head's map: how spread it is, and what leads from its weights back to its scores.

softmax: ln A_ij = s_ij - ln sum_k exp(s_ik), so score and logarithm of the weight differ by one number in a whole row.
Whoever has the weights needs that number alone to tell every score, which is how a page shows both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.maps import Arrangement
from inspector.trace import Trace, recompute

_CLOSE = 1e-4  # nats: by so much may a score that comes from its weight be off
_SMALLEST = float(np.finfo(np.float32).tiny)  # smaller float32 weights have fewer digits


@dataclass(frozen=True)
class Rows:
    """A number for each query.

    keys: how many a whole row has. entropy: -sum_j A_ij ln A_ij in nats, over all keys, those too that are hidden or
    outside a window.
    offset: score_ij - ln A_ij in nats, the same for every key; None where the weights are too coarse to say it
    (bfloat16), so that no score is told.
    """

    keys: int
    entropy: tuple[float, ...]
    offset: tuple[float, ...] | None


def of_head(trace: Trace, shown: Arrangement, *, layer: int, head: int, stream: str, call: int = 0) -> Rows | None:
    """The numbers of the queries in `shown`, block by block; None where its rows are no longer those of the softmax.

    That is where word pieces are merged or rows renormalised. Raises ValueError for a layer or stream out of range.
    """
    if shown.renormalise or any(len(group) > 1 for group in (*shown.queries.members, *shown.keys.members)):
        return None
    positions = shown.queries.positions
    record = trace.record_of(layer, stream, call=call).of_head(head)
    rows = slice(int(positions[0]), int(positions[-1]) + 1)
    entropies, offsets, close = [], [], True
    both = (recompute.bands(record, kind, queries=rows) for kind in ("weights", "scores"))
    for weights, scores in zip(*both, strict=True):
        here = positions[(weights.queries.start <= positions) & (positions < weights.queries.stop)]
        a, s = (band.values[0, here - band.queries.start].astype(np.float64) for band in (weights, scores))
        logs = np.log(a, out=np.zeros_like(a), where=a > 0)
        entropies.append(-(a * logs).sum(axis=-1))
        at = a.argmax(axis=-1)[:, None]
        offsets.append(np.take_along_axis(s - logs, at, axis=-1))
        close = close and _holds(a, s, logs + offsets[-1])
    every = np.concatenate(offsets)[:, 0].tolist()
    return Rows(len(record.site.keys), tuple(np.concatenate(entropies).tolist()), tuple(every) if close else None)


def _holds(weights: NDArray[np.float64], scores: NDArray[np.float64], told: NDArray[np.float64]) -> bool:
    """Whether the scores told by the offset are the scores, wherever a weight has all its digits."""
    full = weights >= _SMALLEST
    return bool(np.isfinite(scores[full]).all() and np.abs(scores - told)[full].max(initial=0) <= _CLOSE)
