"""Two numbers for each row of a head's map: the entropy of the row, and the offset that turns its weights into scores.

softmax: ln A_ij = s_ij - ln sum_k exp(s_ik), so score and logarithm of the weight differ by the same number in a whole
row. A page that has the weights and this number can show every score too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.maps import Arrangement
from inspector.trace import AttentionRecord, Trace, WeightBlock, recompute
from models.attention.given import GivenWeights

_CLOSE = 1e-4  # nats: the largest error allowed in a score that is computed from its weight
_SMALLEST = float(np.finfo(np.float32).tiny)  # smaller float32 weights have fewer digits


@dataclass(frozen=True)
class RowStatistics:
    """Two numbers for each query.

    keys: the number of keys in a whole row. entropy: -sum_j A_ij ln A_ij in nats, over all keys, hidden keys and keys
    outside a window included; of a sigmoid's row divided by its sum.
    offset: score_ij - ln A_ij in nats, the same for every key; None where the weights are too coarse (bfloat16) to
    compute scores from them, and where a sigmoid makes each weight by itself.
    """

    keys: int
    entropy: tuple[float, ...]
    offset: tuple[float, ...] | None


class RowReader:
    """Computes the statistics of the queries in `shown` from a head's blocks as they come, see `Trace.window`.

    positions: the queries, in the text's order. scored: False for weights that were given, whose scores nobody knows.
    """

    def __init__(self, shown: Arrangement, *, keys: int, scored: bool = True) -> None:
        self.positions = shown.queries.positions
        self._keys = keys
        self._entropies: list[NDArray[np.float64]] = []
        self._offsets: list[NDArray[np.float64]] = []
        self._close = scored

    def see(self, block: WeightBlock) -> None:
        """Look at a block of whole rows of the head (H = 1)."""
        queries = self.positions[(block.queries.start <= self.positions) & (self.positions < block.queries.stop)]
        rows = queries - block.queries.start
        a = block.shares[0, rows].astype(np.float64)
        logs = np.log(a, out=np.zeros_like(a), where=a > 0)
        self._entropies.append(-(a * logs).sum(axis=-1))
        if not self._close:
            return
        s, largest = block.scores[0, rows].astype(np.float64), a.argmax(axis=-1)[:, None]
        offset = np.take_along_axis(s - logs, largest, axis=-1)
        self._offsets.append(offset[:, 0])
        self._close = block.normalised and _holds(a, s, logs + offset)

    def result(self) -> RowStatistics:
        """The statistics of all queries, once every block has been seen."""
        entropy = tuple(np.concatenate(self._entropies).tolist())
        offset = tuple(np.concatenate(self._offsets).tolist()) if self._close else None
        return RowStatistics(self._keys, entropy, offset)


def reader(record: AttentionRecord, shown: Arrangement) -> RowReader | None:
    """Make a reader for the queries in `shown`; None where a shown row is no longer the softmax's.

    Merged word pieces and renormalised rows are no longer the softmax's.
    """
    if shown.renormalise or any(len(group) > 1 for group in (*shown.queries.members, *shown.keys.members)):
        return None
    return RowReader(shown, keys=len(record.site.keys), scored=not isinstance(record.function, GivenWeights))


def of_head(
    trace: Trace, shown: Arrangement, *, layer: int, head: int, stream: str, call: int = 0
) -> RowStatistics | None:
    """Compute the statistics of the queries in `shown`, in one pass over these rows; None as for `reader`.

    Raises ValueError for a layer or stream out of range.
    """
    record = trace.record_of(layer, stream, call=call).of_head(head)
    rows = reader(record, shown)
    if rows is None:
        return None
    for block in recompute.bands(record, queries=slice(int(rows.positions[0]), int(rows.positions[-1]) + 1)):
        rows.see(block)
    return rows.result()


def _holds(weights: NDArray[np.float64], scores: NDArray[np.float64], computed: NDArray[np.float64]) -> bool:
    """Return True if the scores from the offset equal the scores, wherever a weight has all its digits."""
    full = weights >= _SMALLEST
    return bool(np.isfinite(scores[full]).all() and np.abs(scores - computed)[full].max(initial=0) <= _CLOSE)
