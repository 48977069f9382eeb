"""Probabilities of a written text's steps, computed apart from the writing."""

from __future__ import annotations

import numpy as np
import torch

from inspector import generating
from models import LoadedModel


@torch.no_grad()
def next_probabilities(loaded: LoadedModel, made: generating.WrittenText, step: int) -> np.ndarray:
    """Compute the probabilities of a step's token by one forward of the whole model over what was there before."""
    before = torch.tensor([made.whole.ids[: made.begun + step - 1]])
    source = torch.tensor([loaded.encode(made.trace.text).ids])
    hidden = loaded.network(source, before) if loaded.shape == "encoder-decoder" else loaded.network(before)
    logits = loaded.network.logits(hidden)[0, -1].double().numpy()
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()
