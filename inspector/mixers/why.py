"""One cell of a mixer's map, rebuilt from what the layer's own code made for its query, its key and the tokens between.

For a state that decays (models/mixers/decaying_state.py) the weight of key j for query i is, with G_ij the decay from j
to i, b the strength of a write and r = 1 for a delta rule, else 0,

    M_ij = b_j (scale q_i . (G_ij k_j) - r sum_(j < l <= i) M_il (k_l . (G_lj k_j))) + D [i = j]:

what the query finds of the key, less what each later write l erased of it, as far as the query reads l (Yang et al.
2024, Gated Delta Networks, solved for one cell). All of it in float64, and the later weights from the map itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.mixers.recurrence import Recurrence, recurrence
from inspector.trace import Array, MixerRecord, MixerSite
from models.mixers import DecayingState
from models.mixers.by_channel import GatedConvolution, PastSoftmax, SelectiveScan
from models.mixers.hash_collisions import HashCollisions

EXACT = 1e-6
"""The difference of a rebuilt weight from the shown one, as a share of the map's weight farthest from 0, at most."""
Step = Literal["match", "decay", "erased", "strength", "skip"]  # of a state that decays
OtherStep = Literal[
    "angle", "collision", "score", "distance", "softmax", "kernel", "gate of the key", "gate of the query"
]


class CellStep(NamedTuple):
    """A step to a weight: what it does, the number after it, and what it did it with (None: with many numbers)."""

    name: Step | OtherStep
    value: float
    operand: float | None = None


@dataclass(frozen=True, eq=False)
class MixerCell:
    """A cell of a head's map. weight: as it is shown; steps: how it comes about, the last of them the weight.

    products: q_d k_d of each dimension, decayed and scaled, whose sum the match is after its decay; none where there
    are no such products. erasers: each later token up to the query, with its weight for the query, its overlap with the
    key, and what it erased, their product, before the strength; empty where nothing is erased. size: the map's weight
    farthest from 0, without its sign.
    """

    site: MixerSite
    head: int
    query: int
    key: int
    weight: float
    size: float
    steps: tuple[CellStep, ...]
    products: NDArray[np.float64]
    erasers: pd.DataFrame

    @property
    def rebuilt(self) -> float:
        """The weight that the steps lead to."""
        return self.steps[-1].value

    @property
    def holds(self) -> bool:
        """True where the rebuilt weight is the shown one, within EXACT of the map's size."""
        return abs(self.rebuilt - self.weight) <= EXACT * self.size


def why(record: MixerRecord, *, head: int, query: int, key: int, size: float) -> MixerCell:
    """Rebuild a cell of a head's map, or of a channel's; size: as in `MixerCell`, see `read`.

    Raises ValueError for a head, query or key that there is not, for a key that is still to come for the query, and
    where the map is not what the layer did.
    """
    tokens, alone = len(record.site.queries), record.of_head(head)
    for name, at in (("query", query), ("key", key)):
        if not 0 <= at < tokens:
            raise ValueError(f"{name} {at} is out of range: the text has tokens 0 to {tokens - 1}")
    core = alone.core
    if key > query and not isinstance(core, HashCollisions):
        raise ValueError(f"key {key} is still to come for query {query}, and has no weight")
    row = alone.window(queries=slice(query, query + 1), keys=slice(0, tokens))[0, 0]
    none = np.zeros(0), _erasers([], row, np.zeros(0))
    match core:
        case DecayingState() | SelectiveScan():
            steps, products, erasers = _of_state(recurrence(core), row, query, key)
        case HashCollisions():
            steps, products, erasers = _of_collisions(core, query, key), *none
        case PastSoftmax():
            steps, products, erasers = _of_softmax(core, query, key), *none
        case GatedConvolution():
            steps, products, erasers = _of_convolution(core, query, key), *none
        case _:
            raise ValueError(f"a cell of {record.site.name} is not rebuilt")
    return MixerCell(record.site, head, query, key, float(row[key]), size, tuple(steps), products, erasers)


def _of_state(
    made: Recurrence, row: Array, query: int, key: int
) -> tuple[list[CellStep], NDArray[np.float64], pd.DataFrame]:
    summed = made.decay.cumsum(axis=0)  # [T, 1 or E]
    factors = np.exp(summed[query] - summed[key])
    plain = made.query[query] * made.key[key]
    products = plain * factors
    found = float(products.sum())
    steps = [
        CellStep("match", float(plain.sum())),
        CellStep("decay", found, float(factors[0]) if len(factors) == 1 else None),
    ]
    later = list(range(key + 1, query + 1)) if made.removes else []
    overlaps = (made.key[later] * np.exp(summed[later] - summed[key]) * made.key[key]).sum(axis=1)
    erasers = _erasers(later, row, overlaps)
    if made.removes:
        erased = float(erasers["erased"].sum())
        steps.append(CellStep("erased", steps[-1].value - erased, erased))
    if made.strength is not None:
        strength = float(made.strength[key])
        steps.append(CellStep("strength", steps[-1].value * strength, strength))
    if made.skip is not None and query == key:
        steps.append(CellStep("skip", steps[-1].value + made.skip, made.skip))
    return steps, products, erasers


def _erasers(later: list[int], row: Array, overlaps: NDArray[np.float64]) -> pd.DataFrame:
    weights = row[later].astype(np.float64)
    return pd.DataFrame({"token": later, "weight": weights, "overlap": overlaps, "erased": weights * overlaps})


def _of_collisions(core: HashCollisions, query: int, key: int) -> list[CellStep]:
    match = float((core.query[query, 0].double() * core.key[key, 0].double()).sum())
    alike = 1 - np.arccos(np.clip(match, -1, 1)) / np.pi
    codes = core.codes
    return [CellStep("match", match), CellStep("angle", alike), CellStep("collision", alike**codes, float(codes))]


def _of_softmax(core: PastSoftmax, query: int, key: int) -> list[CellStep]:
    keys, decay, bonus = core.key[: query + 1, 0].double().numpy(), float(core.decay[0]), float(core.bonus[0])
    scores = keys + np.where(np.arange(query + 1) == query, bonus, (query - 1 - np.arange(query + 1)) * decay)
    total = float(np.log(np.exp(scores - scores.max()).sum()) + scores.max())
    moved = float(scores[key] - keys[key])
    steps = [CellStep("score", float(keys[key])), CellStep("distance", float(scores[key]), moved)]
    return [*steps, CellStep("softmax", float(np.exp(scores[key] - total)), total)]


def _of_convolution(core: GatedConvolution, query: int, key: int) -> list[CellStep]:
    width, between = core.kernel.shape[1], query - key
    kernel = float(core.kernel[0, width - 1 - between]) if between < width else 0.0
    gate_in, gate_out = float(core.gate_in[key, 0]), float(core.gate_out[query, 0])
    steps = [CellStep("kernel", kernel), CellStep("gate of the key", kernel * gate_in, gate_in)]
    return [*steps, CellStep("gate of the query", kernel * gate_in * gate_out, gate_out)]
