"""Signs of random weights: shares of attention that one key gets by chance, and norms as they were drawn.

A query that sees three keys gives each about a third, whether a model was trained or not. `largest_share` is how much a
single key gets where no training chose it. tests/benchmarks/chance.py measures the table and prints it: for each head
width BertModel, GPT-2 and Llama with random weights, as transformers draws them, in a model width that goes with such
heads; of 20 seeds the 95th percentile of the largest share of all rows, heads and layers that see as many keys.

The table holds for scores that random weights leave near 0. Where a norm of queries and keys, or none of the scale,
makes random scores as large as trained ones, and where nothing is a share, `norms_as_drawn` tells by the norms alone.

```python
largest_share(13, width=32)  # 0.158: of 13 keys alike each would get 0.077
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inspector.heads import FEWEST
from models.cards import catalogue
from models.registry import CONFIGURED

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, Trace, WeightBlock

UNKNOWN_WIDTH = 64  # of the heads of a model that shows its scores alone

KEYS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 128, 256)
SHARES = {
    8: (0.547, 0.371, 0.279, 0.227, 0.188, 0.143, 0.115, 0.096, 0.072, 0.049, 0.037, 0.025, 0.019, 0.010, 0.005),
    16: (0.574, 0.394, 0.311, 0.245, 0.209, 0.157, 0.126, 0.106, 0.080, 0.054, 0.041, 0.027, 0.021, 0.011, 0.006),
    32: (0.705, 0.529, 0.412, 0.343, 0.295, 0.225, 0.181, 0.158, 0.118, 0.085, 0.063, 0.044, 0.033, 0.018, 0.010),
    64: (0.821, 0.663, 0.523, 0.472, 0.426, 0.319, 0.267, 0.240, 0.191, 0.141, 0.107, 0.077, 0.058, 0.035, 0.019),
    128: (0.882, 0.778, 0.616, 0.527, 0.482, 0.383, 0.337, 0.288, 0.244, 0.199, 0.152, 0.108, 0.078, 0.059, 0.022),
}
"""Head width -> the share by the number of keys in KEYS that a query sees."""


def is_random(trace: Trace) -> bool:
    """Return True for an untrained model of Headlight, or a variant of one: whatever it does is chance."""
    base, untrained = trace.model.partition("?")[0], [card.id for card in catalogue() if not card.trained]
    return base in (*untrained, CONFIGURED)


def norms_as_drawn(trace: Trace) -> bool:
    """Return True where every norm of a recording has the gain and the bias of its initialisation, to the last bit.

    That is a gain of one number for all dimensions and a bias of 0, in all norms that have any: a step of training
    moves both. False where no recorded norm has a gain or a bias. A trained model whose gains were multiplied into the
    weights behind its norms gives True as well.
    """
    learned = [norm for norm in trace.norms if norm.learned]
    return bool(learned) and all((norm.gamma == norm.gamma[0]).all() and not norm.beta.any() for norm in learned)


def untrained(trace: Trace) -> Literal["random", "looks untrained", ""]:
    """Say whether a model is known to have random weights, or looks so by its norms; "" where neither is so.

    Of a variant of a trained model, whose norms may be drawn anew, norms tell nothing.
    """
    if is_random(trace):
        return "random"
    return "looks untrained" if "?" not in trace.model and norms_as_drawn(trace) else ""


def largest_share(keys: ArrayLike, *, width: int) -> NDArray[np.float64]:
    """Return the largest share that random weights give to one of `keys` keys; 1 for a single key, which gets all.

    keys: how many keys a query sees, any shape. width: E, the width of a head; 0 where it is unknown. What the table
    lacks takes the next number with a larger share: fewer keys, a wider head.
    """
    tabled = next((wider for wider in SHARES if wider >= (width or UNKNOWN_WIDTH)), max(SHARES))
    place = np.searchsorted(KEYS, np.asarray(keys), side="right")
    shares: NDArray[np.float64] = np.array([1.0, *SHARES[tabled]])[place]
    return shares


def beyond(shares: NDArray[np.floating], *, width: int) -> NDArray[np.bool_]:
    """Mark the shares [..., queries, keys] that are larger than `largest_share`; a query sees the keys above 0."""
    by_chance = largest_share(np.count_nonzero(shares, axis=-1), width=width)
    cells: NDArray[np.bool_] = shares > by_chance[..., None]
    return cells


class HeadsBeyondChance:
    """Finds the heads in which some query gives a key more than random weights would, from blocks as they come."""

    def __init__(self, trace: Trace) -> None:
        self._widths = {_place(record.site): record.query.shape[-1] for record in trace.attentions}
        self._beyond = {_place(site): np.zeros(site.heads, np.bool_) for site in trace.sites}
        self._choosing = dict.fromkeys(self._beyond, 0)

    def see(self, site: AttentionSite, block: WeightBlock) -> None:
        """Look at a block of all heads of an attention; nothing is looked for twice."""
        place = _place(site)
        if self._choosing[place] < FEWEST:
            self._choosing[place] += int((np.count_nonzero(block.shares[0], axis=-1) > 1).sum())
        heads = self._beyond[place]
        for head in np.flatnonzero(~heads):
            heads[head] = beyond(block.shares[head], width=self._widths[place]).any()

    @property
    def result(self) -> NDArray[np.bool_]:
        """True for each head that goes beyond chance, in the order of `heads.measure`: [N].

        All True in a text so short that fewer than FEWEST queries of some attention have a choice.
        """
        if min(self._choosing.values()) < FEWEST:
            return np.ones(sum(map(len, self._beyond.values())), np.bool_)
        return np.concatenate(list(self._beyond.values()))


def _place(site: AttentionSite) -> tuple[str, int, int]:
    return site.stream, site.layer, site.call
