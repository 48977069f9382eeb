"""Likeness of heads by what they do over a corpus: heads of one model, or of several that have an atlas.

Every measure's mean over the texts is standardised: less its mean over all heads that are compared, divided by their
standard deviation. The distance of two heads is

    d(a, b)^2 = mean over groups of the mean over the group's measures of (z_a - z_b)^2

The groups (`measures.Measure.group`) count alike, so that thirty offsets do not drown the rest. Two heads drawn at
random are sqrt(2) apart in root mean square; 0 says that all means are equal, not that the maps are.

Shapes: N heads that are compared, of all models; M measures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas.measures import MEASURES

Matrix = NDArray[np.float64]

AT_RANDOM = float(np.sqrt(2))
"""The distance of two heads drawn at random, in root mean square."""
_LEAST = 0.5  # of the head's measures, which another head has to share
_FLAT = 1e-9  # a spread of means that rounding alone makes


def like(means: Sequence[Matrix], *, model: int, place: int) -> pd.DataFrame:
    """Rank all heads by their distance from one head, the nearest first; the head itself is left out.

    means: of each model [N of the model, M], NaN where a measure means nothing. model, place: of the head.

    Returns a row per head: model, place, distance, measures (how many both heads have). A head that shares fewer than
    half of the head's measures is left out: between two texts, and of a model without W_O, some mean nothing. Raises
    ValueError for other measures and for a head that is not there.
    """
    if any(of_model.ndim != 2 or of_model.shape[1] != len(MEASURES) for of_model in means):
        raise ValueError(
            f"means of shapes {[of_model.shape for of_model in means]} are not of {len(MEASURES)} measures each"
        )
    if not (0 <= model < len(means) and 0 <= place < len(means[model])):
        raise ValueError(
            f"there is no head {place} of model {model} among {[len(of_model) for of_model in means]} heads"
        )
    models = np.repeat(np.arange(len(means)), [len(of_model) for of_model in means])
    places = np.concatenate([np.arange(len(of_model)) for of_model in means])
    z = standardised(np.concatenate(list(means)))  # [N, M]
    number = int(np.flatnonzero((models == model) & (places == place))[0])
    squares = (z - z[number]) ** 2
    shared = (~np.isnan(squares)).sum(axis=1)
    comparable = (shared >= max(1, _LEAST * shared[number])) & (np.arange(len(z)) != number)
    distances = pd.DataFrame(
        {"model": models, "place": places, "distance": np.sqrt(_mean_of_groups(squares)), "measures": shared}
    )
    return distances[comparable].sort_values(["distance", "model", "place"], ignore_index=True)


def standardised(means: Matrix) -> Matrix:
    """Standardise each measure over all heads, [N, M]; NaN where a head has it not, or where all heads are equal."""
    known = ~np.isnan(means)
    count = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, means, 0.0).sum(axis=0) / count
    difference = means - middle
    spread = np.sqrt(np.where(known, difference**2, 0.0).sum(axis=0) / count)
    flat = spread <= _FLAT * np.maximum(np.abs(middle), 1.0)
    standard: Matrix = np.where(flat, np.nan, difference / np.where(flat, 1.0, spread))
    return standard


def _mean_of_groups(squares: Matrix) -> Matrix:
    """Average [N, M] within each group of measures, and the groups: [N]; NaN where nothing is known."""
    groups = np.array([measure.group for measure in MEASURES])
    parts = [_known_mean(squares[:, groups == group]) for group in dict.fromkeys(groups.tolist())]
    return _known_mean(np.stack(parts, axis=1))


def _known_mean(values: Matrix) -> Matrix:
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    mean: Matrix = np.where(count > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)
    return mean
