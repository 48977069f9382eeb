"""Readings of the section A sentence as a vector: two poolings beside each other, and what [CLS] is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector.sentence_vectors import Nearest, Pooling, Vectors, partner_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Ranked:
    """One pooling's ranks of paraphrases.

    mean: the mean rank, 1 at best; first: how many sentences have theirs first. apart, within: the mean cosine of
    sentences that are no pair, and of pairs.
    """

    mean: float
    first: int
    apart: float
    within: float


@dataclass(frozen=True)
class Pooled:
    """Both poolings on the reader's sentences.

    sentences: how many have a partner; chance: the mean rank of a guess by chance; cls, mean: of each pooling, None
    without a pair. agreement: the mean cosine of a sentence's [CLS] with its own mean.
    """

    sentences: int
    chance: float
    cls: Ranked | None
    mean: Ranked | None
    agreement: float


@dataclass(frozen=True)
class Mixture:
    """[CLS] of one sentence, taken apart.

    itself: its weight on itself, mean over layers and heads, and layer: where it is largest, with most. special, text:
    the rest of the weight. own: the part of its state after attention that is its own, 1 - mixing, mean over layers,
    None where it was not seen. miss, cosine: of the nearest weighted average of the other tokens' last states; others:
    the mean miss of the other tokens, each by the averages of the rest.
    """

    itself: float
    special: float
    text: float
    layer: int
    most: float
    own: float | None
    miss: float
    cosine: float
    others: float


def pooled(found: Vectors) -> Pooled:
    """Read both poolings; sentences 0 and 1 are a pair, 2 and 3, and so on."""
    count = len(found.traces)
    pairs = count // 2 * 2
    return Pooled(
        sentences=pairs,
        chance=count / 2,  # of ranks 1 to N - 1
        cls=_ranked(found, "cls") if pairs else None,
        mean=_ranked(found, "mean") if pairs else None,
        agreement=float(found.agreement.mean()),
    )


def table(found: Vectors) -> pd.DataFrame:
    """Give a row per sentence: sentence, cls_rank and mean_rank of its paraphrase (NaN for none), agreement."""
    count = len(found.traces)
    pairs = count // 2 * 2
    ranks: dict[str, NDArray[np.float64]] = {}
    for pooling in ("cls", "mean"):
        row = np.full(count, np.nan)
        if pairs:
            row[:pairs] = partner_ranks(found.cosines(pooling))
        ranks[f"{pooling}_rank"] = row
    columns = {"sentence": [trace.text for trace in found.traces], **ranks, "agreement": found.agreement}
    return pd.DataFrame(columns)


def mixture(attention: pd.DataFrame, parts: pd.DataFrame | None, nearest: Nearest, others: list[Nearest]) -> Mixture:
    """Read one sentence's [CLS]; attention: of `cls_attention`, parts: of `cls_parts`, others: of the other tokens."""
    largest = attention.loc[attention["itself"].idxmax()]
    return Mixture(
        itself=float(attention["itself"].mean()),
        special=float(attention["special"].mean()),
        text=float(attention["text"].mean()),
        layer=int(largest["layer"]),
        most=float(largest["itself"]),
        own=None if parts is None else float(1 - parts["mixing"].mean()),
        miss=nearest.miss,
        cosine=nearest.cosine,
        others=float(np.mean([one.miss for one in others])),
    )


def _ranked(found: Vectors, pooling: Pooling) -> Ranked:
    cosines = found.cosines(pooling)
    ranks = partner_ranks(cosines)
    at = np.arange(len(ranks))
    pair = np.zeros_like(cosines, dtype=bool)
    pair[at, at ^ 1] = True
    rest = ~pair & ~np.eye(len(cosines), dtype=bool)
    apart = float(cosines[rest].mean()) if rest.any() else float("nan")
    return Ranked(float(ranks.mean()), int((ranks == 1).sum()), apart, float(cosines[pair].mean()))
