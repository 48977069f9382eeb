"""Layers that a pattern needs until every token can reach every token, by boolean powers of the mask.

After k layers token j can have reached token i where A^k has a path: A_ij is 1 where query i sees key j, and sums are
"or". A has its diagonal, as the residual stream passes every layer, so a path never gets lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.long_texts.patterns import Bools


def layers_to_reach(seen: Bools) -> int | None:
    """Find the fewest layers k with no 0 in A^k; None where no number of layers is enough. seen: boolean [n, n].

    Raises ValueError where a token does not see itself.
    """
    if not bool(seen.diagonal().all()):
        raise ValueError(f"token {int(np.argmin(seen.diagonal()))} does not see itself; show every token its own key")
    powers = [seen]  # A^1, A^2, A^4, ...
    while not powers[-1].all():
        twice = _after(powers[-1], powers[-1])
        if (twice == powers[-1]).all():
            return None
        powers.append(twice)
    if len(powers) == 1:
        return 1
    layers: int = 2 ** (len(powers) - 2)
    reached = powers[-2]
    for step in range(len(powers) - 3, -1, -1):  # the most layers that are not enough, from the highest bit down
        farther = _after(reached, powers[step])
        if not farther.all():
            layers, reached = layers + 2**step, farther
    return layers + 1


def layers_between(seen: Bools) -> NDArray[np.float32]:
    """Count the layers until each query can have heard of each key, [n, n]; NaN where none are enough.

    seen: boolean [n, n], in which each token sees itself.
    """
    layers = np.where(seen, np.float32(1), np.float32("nan"))
    reached, count = seen, 1
    while (farther := _after(seen, reached) & ~reached).any():
        count += 1
        layers[farther] = count
        reached = reached | farther
    return layers


def _after(first: Bools, second: Bools) -> Bools:
    """Multiply two boolean matrices; counts of paths up to n are exact in float32."""
    paths: Bools = (first.astype(np.float32) @ second.astype(np.float32)) > 0
    return paths
