"""The state of a head: how large it is after each token, how fast it decays, how strongly each token is written.

A state is what a layer without a softmax keeps in place of a KV cache, and it does not grow with the text. Of a delta
rule a write erases what its key held before: `erased_by` says which later token took how much of an earlier one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.mixers.recurrence import Recurrence, recurrence
from inspector.trace import MixerRecord
from models.mixers import DecayingState
from models.mixers.by_channel import SelectiveScan


def has_state(record: MixerRecord) -> bool:
    """Return True for a layer whose heads have a state that decays."""
    return isinstance(record.core, DecayingState | SelectiveScan)


def erases(record: MixerRecord) -> bool:
    """Return True for a layer whose writes erase what their keys held."""
    return isinstance(record.core, DecayingState) and record.core.removes


def decays(record: MixerRecord) -> pd.DataFrame:
    """Measure which share of its state each head leaves at a token, exp g, mean over tokens: columns head and decay.

    Where each dimension of a key has its own decay it is the mean over these too. Raises ValueError for a layer without
    a state that decays, and for one with a map for each channel.
    """
    if not isinstance(record.core, DecayingState) or record.site.by_channel:
        raise ValueError(f"{record.site.name} has no heads whose state decays")
    kept = record.core.decay.double().exp().flatten(2).mean(dim=-1) if record.core.decay.ndim == 3 else None
    kept = record.core.decay.double().exp() if kept is None else kept
    return pd.DataFrame({"head": range(record.site.heads), "decay": kept.mean(dim=0).numpy()})


def by_token(record: MixerRecord, head: int) -> pd.DataFrame:
    """Measure a head's state token by token: a row each, with position, token, and

    state: ||S_t||, the Frobenius norm after the token, in the unit of the values. decay: the share of the state that
    the token leaves, exp g, the mean over the dimensions of a key where each has its own. strength: how strongly the
    token is written (beta of a delta rule, dt of a state space); 1 where the core has none.

    Raises ValueError for a layer without such a state, and a head that there is not.
    """
    made, values = _recurrence(record, head), record.value[:, head].double().numpy()
    norms = []
    state = np.zeros((made.key.shape[1], values.shape[1]))
    strength = np.ones(len(values)) if made.strength is None else made.strength
    for key, value, decay, written in zip(made.key, values, made.decay, strength, strict=True):
        state = np.exp(decay)[:, None] * state
        left = value - key @ state if made.removes else value
        state = state + written * np.outer(key, left)
        norms.append(float(np.linalg.norm(state)))
    columns = {"state": norms, "decay": np.exp(made.decay).mean(axis=1), "strength": strength}
    table = pd.DataFrame({"token": list(record.site.queries), **columns})
    return table.rename_axis("position").reset_index()


def erased_by(record: MixerRecord, head: int) -> NDArray[np.float64]:
    """Compute which share of what is left of a token j a later token l erases: float64 [l, j], 0 for l <= j.

    What is left of j is where its value stands in the state, a vector c_j of the width of a key: b_j k_j when it is
    written, then c_j <- (I - b_l k_l k_lT) diag(exp g_l) c_j. The share is the length of what l takes of it, over the
    length that c_j has before.

    Raises ValueError for a layer that erases nothing, and a head that there is not.
    """
    made = _recurrence(record, head)
    if not made.removes:
        raise ValueError(f"{record.site.name} erases nothing: its state decays, and is added to")
    tokens = len(made.key)
    strength = np.ones(tokens) if made.strength is None else made.strength
    left, shares = np.zeros_like(made.key), np.zeros((tokens, tokens))
    for later in range(tokens):
        before = left[:later] * np.exp(made.decay[later])
        taken = strength[later] * (before @ made.key[later])[:, None] * made.key[later]
        lengths = np.linalg.norm(before, axis=1)
        shares[later, :later] = np.divide(
            np.linalg.norm(taken, axis=1), lengths, out=np.zeros(later), where=lengths > 0
        )
        left[:later] = before - taken
        left[later] = strength[later] * made.key[later]
    return shares


def _recurrence(record: MixerRecord, head: int) -> Recurrence:
    core = record.of_head(head).core
    if not isinstance(core, DecayingState | SelectiveScan):
        raise ValueError(f"{record.site.name} has no state that decays")
    return recurrence(core)
