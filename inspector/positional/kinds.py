"""The kinds of position encoding side by side: what each makes of one query and one key, wherever the two stand.

Shapes: T positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.attention.relative import AlibiBias, ShawScore, T5Bias, alibi_slopes
from models.transformer.positions import Rotary, sinusoidal

Kind = Literal["sinusoidal", "learned", "shaw", "xl", "t5", "rope", "alibi"]
KINDS: tuple[Kind, ...] = get_args(Kind)
POSITIONS, WIDTH, APART = 64, 32, 8
_REACH, _BUCKETS, _HEADS = 16, 32, 8  # Shaw's clipping distance, T5's buckets, ALiBi's heads (the first is taken)


def side_by_side(*, distance: int = APART, seed: int = 0) -> pd.DataFrame:
    """Score one query and one key at every two of 64 places, in float64, a row per kind.

    The token's vectors, W_Q and W_K [32, 32], and what a kind learns are drawn from a normal distribution (seed); the
    rest is the kind's formula. Columns: kind; same: how far the scores of places `distance` apart (the key behind the
    query) differ, largest less smallest; others: how far the means of the distances 0 to 32 back differ, largest less
    smallest. So same is 0 where a score depends on distance alone, and others is 0 where it does not depend on it.
    Raises ValueError for a distance below 1 or above 32.
    """
    if not 1 <= distance <= POSITIONS // 2:
        raise ValueError(f"distance is {distance}; it can be 1 to {POSITIONS // 2}")
    rows = []
    for kind in KINDS:
        table = scores(kind, seed=seed)
        means = [np.diagonal(table, -back).mean() for back in range(POSITIONS // 2 + 1)]
        rows.append((kind, float(np.ptp(np.diagonal(table, -distance))), float(np.ptp(means))))
    return pd.DataFrame(rows, columns=["kind", "same", "others"])


def scores(kind: Kind, *, seed: int = 0) -> NDArray[np.float64]:
    """Scores of one query at position i and one key at position j, float64 [T, T] (/ sqrt(E), but T5 as T5 does).

    sinusoidal, learned: (x + P_i) W_Q . (y + P_j) W_K; shaw: q . (k + a_(j - i)), clipped (Shaw et al. 2018, eq. 4);
    xl: (q + u) . k + (q + v) . R_(i - j) W_R (Dai et al. 2019, 3.3); t5: q . k + b_bucket(j - i) (Raffel et al. 2020);
    rope: q turned by i, k by j (Su et al. 2021); alibi: q . k - m |i - j| (Press et al. 2022).
    """
    random = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    x, y, w_q, w_k = drawn(WIDTH), drawn(WIDTH), drawn(WIDTH, WIDTH), drawn(WIDTH, WIDTH)
    w_q, w_k = w_q / WIDTH**0.5, w_k / WIDTH**0.5
    query, key = ((vector @ matrix).expand(1, 1, POSITIONS, WIDTH) for vector, matrix in ((x, w_q), (y, w_k)))
    rows, root = slice(0, POSITIONS), WIDTH**0.5

    def absolute(table: Tensor) -> Tensor:
        made: Tensor = (x + table) @ w_q @ ((y + table) @ w_k).mT / root
        return made

    def shaw() -> Tensor:
        table = drawn(2 * _REACH + 1, WIDTH)
        made: Tensor = ShawScore(table, 0)(query, key, rows)[0, 0] / root
        return made

    def transformer_xl() -> Tensor:
        u, v, w_r = drawn(WIDTH), drawn(WIDTH), drawn(WIDTH, WIDTH) / root
        apart = torch.arange(POSITIONS)[:, None] - torch.arange(POSITIONS)
        waves = sinusoidal(POSITIONS, WIDTH)
        back = torch.where(torch.arange(WIDTH) % 2 == 0, -1.0, 1.0) * waves  # sin is odd, cos is even
        far = torch.where(apart[..., None] >= 0, waves[apart.abs()], back[apart.abs()]) @ w_r  # [T, T, E]
        q, k = query[0, 0], key[0, 0]
        made: Tensor = ((q + u) @ k.mT + ((q + v)[:, None] * far).sum(dim=-1)) / root
        return made

    def t5() -> Tensor:
        bias = T5Bias(drawn(_BUCKETS, 1), farthest=128, both_sides=True, offset=0)
        made: Tensor = query[0, 0] @ key[0, 0].mT + bias(rows, POSITIONS)[0]
        return made

    def rope() -> Tensor:
        turn = Rotary(WIDTH, base=10_000.0)
        made: Tensor = (turn(query, 0) @ turn(key, 0).mT)[0, 0] / root
        return made

    def alibi() -> Tensor:
        bias = AlibiBias(alibi_slopes(_HEADS)[:1], 0)
        made: Tensor = query[0, 0] @ key[0, 0].mT / root + bias(rows, POSITIONS)[0]
        return made

    makers: dict[Kind, Callable[[], Tensor]] = {
        "sinusoidal": lambda: absolute(sinusoidal(POSITIONS, WIDTH)),
        "learned": lambda: absolute(drawn(POSITIONS, WIDTH)),
        "shaw": shaw,
        "xl": transformer_xl,
        "t5": t5,
        "rope": rope,
        "alibi": alibi,
    }
    by_pair: NDArray[np.float64] = makers[kind]().numpy()
    return by_pair
