"""Properties of score functions, on a head's own queries and keys and on random ones.

What a general or an additive score learns is drawn from seed 0 here: no trained model of the page has such a score.

Shapes: Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Generator, Tensor

from inspector.trace import AttentionRecord
from models.attention.scores import (
    AdditiveScore,
    DotScore,
    GeneralScore,
    LinearScore,
    NaiveAdditiveScore,
    ScoreFunction,
)
from models.transformer.learned_attention import additive_tensors, general_tensors

MOST = 48  # tokens, the first: naive scores are made one pair at a time
SHIFT = 5.0  # of the bias of v
KEYS = 64  # of a query, in `variances`
_QUERIES = 256


@dataclass(frozen=True)
class FunctionsOnHead:
    """Score functions on the first `tokens` queries and keys of a head, masks left out, in float64 but for `naive`.

    doubled: by function, how far score(2q, k) is from 2 score(q, k): the largest difference over the largest
    2 score(q, k); 0 where the function is linear in q. weights: how far softmax(2s) is from softmax(s) of the scaled
    dot product, the largest change of a weight. naive: the largest difference of a weight between the naive and the
    factorised additive score, float32. shifted: the largest change of a weight when SHIFT is added to the bias of v,
    float32.
    """

    tokens: int
    doubled: dict[str, float]
    weights: float
    naive: float
    shifted: float


def on_head(record: AttentionRecord) -> FunctionsOnHead:
    """Try the score functions on one head; the record is of one head.

    Raises ValueError where queries and keys were not seen, or are of several widths.
    """
    query, key = (tensor[None, :, :MOST].detach().cpu().double() for tensor in (record.query, record.key))
    width = query.shape[-1]
    if not width or key.shape[-1] != width:
        raise ValueError("its queries and keys are not known as vectors of one width, so nothing can be put between")
    functions = learned(width)
    rows = slice(0, query.shape[2])
    doubled = {}
    for name, function in functions.items():
        once, twice = 2 * function(query, key, rows), function(2 * query, key, rows)
        doubled[name] = float((twice - once).abs().max() / once.abs().max())
    dots = DotScore()(query, key, rows) * width**-0.5
    weights = float(((2 * dots).softmax(dim=-1) - dots.softmax(dim=-1)).abs().max())
    tensors = additive_tensors(Generator().manual_seed(0), heads=1, width=width)
    single = query.float(), key.float(), rows
    scores = AdditiveScore(**tensors)(*single)
    naive = NaiveAdditiveScore(**tensors)(*single)
    return FunctionsOnHead(
        tokens=query.shape[2],
        doubled=doubled,
        weights=weights,
        naive=_apart(scores, naive),
        shifted=_apart(scores, scores + SHIFT),
    )


def learned(width: int) -> dict[str, ScoreFunction]:
    """Score functions of one head in float64, by name; what they learn is drawn from seed 0."""
    generator = Generator().manual_seed(0)
    general = {name: tensor.double() for name, tensor in general_tensors(generator, heads=1, width=width).items()}
    additive = {name: tensor.double() for name, tensor in additive_tensors(generator, heads=1, width=width).items()}
    return {
        "dot": DotScore(),
        "general": GeneralScore(**general),
        "additive": AdditiveScore(**additive),
        "linear": LinearScore(),
    }


def _apart(a: Tensor, b: Tensor) -> float:
    return float((a.softmax(dim=-1) - b.softmax(dim=-1)).abs().max())


@torch.no_grad()
def variances(widths: Sequence[int], *, seeds: int = 5) -> pd.DataFrame:
    """Compare the spread of dot products and additive scores before training, by the width d_k.

    Queries and keys are independent, with entries of mean 0 and variance 1; the additive score's matrices start as
    nn.Linear starts them, so v has entries within 1 / sqrt(d_k). Means over `seeds` draws of 256
    queries and KEYS keys.

    Columns: width, function (dot, scaled, additive), variance (of all scores), largest (the largest weight of a
    query's softmax, mean over queries).
    """
    rows = []
    for width in widths:
        for seed in range(seeds):
            generator = Generator().manual_seed(seed)
            query, key = (torch.randn(1, 1, count, width, generator=generator) for count in (_QUERIES, KEYS))
            dots = (query @ key.mT)[0, 0]
            additive = _as_linear_starts(width, generator)(query, key, slice(0, _QUERIES))[0, 0]
            for name, scores in (("dot", dots), ("scaled", dots * width**-0.5), ("additive", additive)):
                largest = scores.softmax(dim=-1).amax(dim=-1).mean()
                rows.append((width, name, float(scores.var()), float(largest)))
    table = pd.DataFrame(rows, columns=["width", "function", "variance", "largest"])
    return table.groupby(["width", "function"], as_index=False, sort=False).mean()


def _as_linear_starts(width: int, generator: Generator) -> AdditiveScore:
    """Draw an additive score as nn.Linear(2d, d) and nn.Linear(d, 1) start: uniform within 1 / sqrt(inputs)."""

    def uniform(*sizes: int, inputs: int) -> Tensor:
        drawn: Tensor = (2 * torch.rand(1, *sizes, generator=generator) - 1) * inputs**-0.5
        return drawn

    return AdditiveScore(
        uniform(width, width, inputs=2 * width),
        uniform(width, width, inputs=2 * width),
        uniform(width, inputs=2 * width),
        uniform(width, inputs=width),
    )
