"""The tensors of a state that decays as its recurrence takes them: of one head, in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.mixers import DecayingState
from models.mixers.by_channel import SelectiveScan

_EPSILON = 1e-6  # of the cores' l2norm
Float64Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recurrence:
    """One head: query, scaled, and key [T, E], decay, a logarithm, [T, 1 or E], strength [T], 1 where None.

    removes, skip: as in `models.mixers.DecayingState`.
    """

    query: Float64Array
    key: Float64Array
    decay: Float64Array
    strength: Float64Array | None
    removes: bool
    skip: float | None


def recurrence(core: DecayingState | SelectiveScan) -> Recurrence:
    """Return what one head's, or one channel's, recurrence takes; core: of that head alone."""
    if isinstance(core, SelectiveScan):
        core = core.state()

    def vectors(tensor: Tensor) -> Tensor:
        alone = tensor[:, 0].double()
        if not core.normalised:
            return alone
        return alone * torch.rsqrt(alone.square().sum(dim=-1, keepdim=True) + _EPSILON)

    decay = core.decay[:, 0].double()
    return Recurrence(
        (vectors(core.query) * core.scale).numpy(),
        vectors(core.key).numpy(),
        (decay if decay.ndim == 2 else decay[:, None]).numpy(),
        None if core.strength is None else core.strength[:, 0].double().numpy(),
        core.removes,
        None if core.skip is None else float(core.skip[0]),
    )
