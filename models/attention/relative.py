"""Positions as distances, inside attention: a bias on the scores (T5, ALiBi), or vectors that queries meet
beside the keys (Shaw, Transformer-XL).

Each encoding is a rule, a small table and the way to read it, so that no T x T tensor stays in memory. `offset` is the
position of the first query: in decoding with a cache the queries begin where the cached keys end.

Shapes: H heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import torch
from torch import Tensor


def distances(rows: slice, keys: int, *, offset: int) -> Tensor:
    """Distances j - i, how far each key j stands ahead of each query i: integers [rows, keys]."""
    queries = torch.arange(offset + rows.start, offset + rows.stop)
    return torch.arange(keys) - queries[:, None]


# --- T5 ----------------------------------------------------------------------------------------------------------


def buckets(distance: Tensor, *, count: int, farthest: int, both_sides: bool) -> Tensor:
    """T5's buckets of distances (Raffel et al. 2020, section 2.1), integers of any shape -> 0 .. count - 1.

    The near half of the buckets holds one distance each, the far half grows like the logarithm up to `farthest`.
    In both directions each side has half of the buckets; looking back alone, what lies ahead is in bucket 0.
    """
    side = torch.zeros_like(distance)
    if both_sides:
        count //= 2
        side = count * (distance > 0)
        back = distance.abs()
    else:
        back = (-distance).clamp(min=0)
    near = count // 2
    growth = torch.log(back.clamp(min=1).float() / near) / log(farthest / near)  # float32, as its borders were trained
    far = (near + (growth * (count - near)).long()).clamp(max=count - 1)
    return side + torch.where(back < near, back, far)


@dataclass(frozen=True)
class T5Bias:
    """score + table[bucket(j - i)], a number for each head (Raffel et al. 2020).

    table: [buckets, H].
    """

    table: Tensor
    farthest: int
    both_sides: bool
    offset: int

    def __call__(self, rows: slice, keys: int) -> Tensor:
        """[H, rows, keys]."""
        apart = distances(rows, keys, offset=self.offset)
        bucket = buckets(apart, count=len(self.table), farthest=self.farthest, both_sides=self.both_sides)
        return self.table[bucket.to(self.table.device)].movedim(-1, 0)

    def of_head(self, head: int) -> T5Bias:
        """Keep the head's column of the table."""
        return replace(self, table=self.table[:, head : head + 1])


# --- ALiBi -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlibiBias:
    """score - slope * |i - j|: far keys count less, nothing is learned (Press et al. 2022, section 3).

    slopes: one for each head.
    """

    slopes: tuple[float, ...]
    offset: int

    def __call__(self, rows: slice, keys: int) -> Tensor:
        """float64 [H, rows, keys]."""
        apart = distances(rows, keys, offset=self.offset).abs()
        return -torch.tensor(self.slopes, dtype=torch.float64)[:, None, None] * apart

    def of_head(self, head: int) -> AlibiBias:
        """Keep the head's slope."""
        return replace(self, slopes=self.slopes[head : head + 1])


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """Slopes 2^(-8/H), 2^(-16/H), .. 2^-8 for H a power of 2.

    For any other H: the slopes of the power below, then every other slope of the power above (the authors' code).
    """
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2.0 ** (-8 * i / (2 * power)) for i in range(1, 2 * power + 1, 2)]
    return tuple(slopes + between[: heads - power])


# --- Shaw --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShawScore:
    """score(q_i, k_j) = q_i . (k_j + a_(j - i)), distances clipped to +-k (Shaw et al. 2018, eq. 4).

    table: [2k + 1, E], shared by the heads.
    """

    table: Tensor
    offset: int

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]; each query meets each a once, not once for each key."""
        index = clipped(rows, key.shape[2], offset=self.offset, table=self.table)
        to_distance = query @ self.table.mT  # [B, H, Q, 2k + 1]
        return query @ key.mT + to_distance.gather(-1, index.expand(*to_distance.shape[:3], -1))

    def of_head(self, head: int) -> ShawScore:
        """Return the same rule: all heads share the table."""
        return self


@dataclass(frozen=True)
class ShawMix:
    """z_i = sum_j weight_ij (v_j + b_(j - i)) (Shaw et al. 2018, eq. 3).

    table: [2k + 1, E].
    """

    table: Tensor
    offset: int

    def __call__(self, weights: Tensor, value: Tensor, rows: slice) -> Tensor:
        """weights [B, H, Q, T], value [B, H, T, E] -> [B, H, Q, E]."""
        index = clipped(rows, value.shape[2], offset=self.offset, table=self.table)
        by_distance = weights.new_zeros(*weights.shape[:3], len(self.table))
        by_distance = by_distance.scatter_add(-1, index.expand_as(weights), weights)  # [B, H, Q, 2k + 1]
        return weights @ value + by_distance @ self.table


def clipped(rows: slice, keys: int, *, offset: int, table: Tensor) -> Tensor:
    """The row of the table [2k + 1, E] for each pair: min(max(j - i, -k), k) + k, integers [rows, keys]."""
    farthest = len(table) // 2
    return distances(rows, keys, offset=offset).clamp(-farthest, farthest).to(table.device) + farthest


# --- Transformer-XL ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class XlScore:
    """score(q_i, k_j) = (q_i + u) . k_j + (q_i + v) . r_(i - j), r_d = W_R R_d (Dai et al. 2019, section 3.3).

    R_d are sines and cosines of the distance d, how far the key stands behind the query. u says which keys a head
    looks at whatever the query is, v which distances. content (u) and place (v): [H, E]; far: r of the N distances
    `first`, first + 1, .., [H, N, E]. A key before the first of these gets the first: a causal mask hides it.
    """

    content: Tensor
    place: Tensor
    far: Tensor
    first: int
    offset: int

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]; each query meets each r once, not once for each key."""
        apart = -distances(rows, key.shape[2], offset=self.offset) - self.first
        to_distance = (query + self.place[:, None]) @ self.far.mT  # [B, H, Q, N]
        index = apart.clamp(min=0).to(query.device).expand(*to_distance.shape[:3], -1)
        return (query + self.content[:, None]) @ key.mT + to_distance.gather(-1, index)

    def of_head(self, head: int) -> XlScore:
        """Keep the head's u, v and r."""
        alone = slice(head, head + 1)
        return replace(self, content=self.content[alone], place=self.place[alone], far=self.far[alone])
