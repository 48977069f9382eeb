"""The learning rate at each step: a linear warm-up, then a decay."""

from __future__ import annotations

from math import cos, pi, sqrt

from models.training.recipes import Decay


def learning_rate(step: int, *, highest: float, warmup: int, steps: int, decay: Decay) -> float:
    """Compute the learning rate of step 1, 2, .. `steps`; `highest` is reached at step `warmup`.

    warm-up: highest * step / warmup
    noam:    highest * sqrt(warmup / step)   (Vaswani et al. 2017, eq. 3, where highest = 1 / sqrt(D warmup))
    cosine:  highest * (1 + cos(pi * t)) / 2 (Loshchilov & Hutter 2017, eq. 5), t from 0 after warm-up to 1 at the end
    linear:  highest * (1 - t)
    late:    highest up to the last fifth of the steps, then linearly to 0 (Hu et al. 2024, section 4, who call it WSD);
             before that fifth it does not depend on `steps`, so a training may be made longer or shorter

    Raises ValueError for a step before 1 or after the last.
    """
    if not 1 <= step <= steps:
        raise ValueError(f"step {step} of {steps}; steps count from 1")
    if step < warmup:
        return highest * step / warmup
    if decay == "noam":
        return highest * sqrt(max(warmup, 1) / step)
    if decay == "late":
        return highest * min(1.0, (steps - step) / (steps - last_constant(steps)))
    gone = (step - warmup) / max(steps - warmup, 1)  # t
    return highest * ((1 + cos(pi * gone)) / 2 if decay == "cosine" else 1 - gone)


def last_constant(steps: int) -> int:
    """Return the last step before the rate of a late decay falls."""
    return steps * 4 // 5
