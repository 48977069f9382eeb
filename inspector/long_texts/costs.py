"""Costs of a pattern: a layer's FLOPs by length, and the length from which a sparse pattern is worth its trouble.

FLOPs of one layer's matrix products = 2nP + 2nF + 4 H E cells: P numbers in the matrices of attention, F in the FFN's;
a cell costs 2E in the scores and 2E in the mix, in each head. It is what a computation takes that touches the cells
seen and no other; a plain kernel that fills masked scores computes all n^2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from inspector.costs.clock import LayerShape
from inspector.long_texts.patterns import Full, Pattern

LONGEST = 2**20  # tokens; what does not pay off up to here does not
_STEPS = 2048  # tokens: within a block BigBird's saving falls a little, so the last length that fails is looked for


def pair_flops(shape: LayerShape, pattern: Pattern, tokens: int) -> int:
    """Count the FLOPs of scores and mix of one layer over the cells seen: 4 H E cells."""
    return 4 * shape.heads * shape.head_width * pattern.cells(tokens)


def layer_flops(shape: LayerShape, pattern: Pattern, tokens: int) -> int:
    """Count the FLOPs of one layer's matrix products."""
    of_tokens = 2 * tokens * (shape.projection_parameters + shape.ffn_parameters)
    return of_tokens + pair_flops(shape, pattern, tokens)


def saving(shape: LayerShape, pattern: Pattern, tokens: int) -> float:
    """Share of a full layer's FLOPs that the pattern saves, 0..1."""
    return 1 - layer_flops(shape, pattern, tokens) / layer_flops(shape, Full(), tokens)


def pays_off(shape: LayerShape, pattern: Pattern, *, share: float) -> int | None:
    """Find the length from which on the pattern saves at least this share of a layer's FLOPs; None where it never does.

    A saving grows with the length, to 1 - 1/size^2 for chunks, to a half for the causal mask, else to 1.
    """
    if saving(shape, pattern, LONGEST) < share:
        return None
    low, high = 1, LONGEST
    while low < high:
        middle = (low + high) // 2
        if saving(shape, pattern, middle) >= share:
            high = middle
        else:
            low = middle + 1
    failing = [length for length in range(low, low + _STEPS) if saving(shape, pattern, length) < share]
    return failing[-1] + 1 if failing else low


def growth(shape: LayerShape, patterns: Mapping[str, Pattern], lengths: Sequence[int]) -> pd.DataFrame:
    """Count cells and FLOPs by length, a row per pattern and length.

    share: cells / n^2; pairs: FLOPs of scores and mix; flops: of the whole layer; saved: share of a full layer's.
    """
    rows = [
        (
            *(name, tokens, pattern.cells(tokens), pattern.cells(tokens) / tokens**2),
            *(pair_flops(shape, pattern, tokens), layer_flops(shape, pattern, tokens)),
            saving(shape, pattern, tokens),
        )
        for name, pattern in patterns.items()
        for tokens in lengths
    ]
    return pd.DataFrame(rows, columns=["pattern", "tokens", "cells", "share", "pairs", "flops", "saved"])
