"""Absolute positions: a table with one row of D features a position, added to the embeddings, or a rotation of queries
and keys. Positions as distances are in `models.attention.relative`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal(positions: int, width: int) -> Tensor:
    """The sinusoidal table, float64 [positions, D] (Vaswani et al. 2017, section 3.5).

    PE(p, 2i) = sin(p / 10000^(2i/D)),  PE(p, 2i+1) = cos(p / 10000^(2i/D))

    Each pair of features is a clock hand, so PE(p + k) is PE(p) turned by an angle that depends on k alone. With an odd
    width the last feature is a sine without its cosine.
    """
    if positions < 1 or width < 1:
        raise ValueError(f"a table of {positions} positions and width {width}; both must be at least 1")
    return waves(torch.arange(positions), width)


def waves(places: Tensor, width: int) -> Tensor:
    """The rows of `sinusoidal` at any whole numbers [N], below 0 too: float64 [N, D]."""
    frequency = 10000.0 ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)  # [ceil(D / 2)]
    angle = torch.outer(places.double(), frequency)  # [N, ceil(D / 2)]
    table = torch.empty(len(places), width, dtype=torch.float64)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle[:, : width // 2].cos()
    return table


class SinusoidalPositions(nn.Module):
    """The fixed table of `sinusoidal`; nothing in it is learned or saved.

    table: float64 [positions, D].
    """

    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        self.table = sinusoidal(positions, width)  # no buffer: Module.float() would round it for good

    def forward(self, length: int) -> Tensor:
        """-> [length, D], the rows of positions 0 .. length - 1."""
        return first_rows(self.table, length)


class LearnedPositions(nn.Module):
    """A table that is learned with the model (Gehring et al. 2017; BERT, Devlin et al. 2019).

    table: parameter [positions, D].
    """

    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        if positions < 1 or width < 1:
            raise ValueError(f"a table of {positions} positions and width {width}; both must be at least 1")
        self.table = nn.Parameter(torch.randn(positions, width))

    def forward(self, length: int) -> Tensor:
        """-> [length, D], the rows of positions 0 .. length - 1."""
        return first_rows(self.table, length)


def first_rows(table: Tensor, length: int) -> Tensor:
    """table [positions, D] -> [length, D]; ValueError where the text is longer than the table."""
    if length > len(table):
        raise ValueError(
            f"the text has {length} tokens, the model has {len(table)} positions; "
            f"cut the text to {len(table)} tokens or choose a model with more positions"
        )
    return table[:length]


class Rotary:
    """RoPE: each pair of features of a query or key turns by its position (Su et al. 2021, section 3.2.2).

    (x_2i, x_2i+1) -> (x_2i cos(p w) - x_2i+1 sin(p w), x_2i sin(p w) + x_2i+1 cos(p w)),  w = base^(-2i/E)

    Two turned vectors' dot product depends on the difference of their angles, and so on their distance alone.
    """

    def __init__(self, head_width: int, *, base: float) -> None:
        if head_width % 2:
            raise ValueError(f"a head of {head_width} features has no pairs to turn; choose an even head width")
        self.head_width, self.base = head_width, base

    def __call__(self, x: Tensor, start: int) -> Tensor:
        """x [B, H, Q, E], the first query at position `start` -> [B, H, Q, E]."""
        pair = torch.arange(0, self.head_width, 2, dtype=torch.float64)  # [E / 2]
        position = torch.arange(start, start + x.shape[2], dtype=torch.float64)  # [Q]
        angle = torch.outer(position, self.base ** -(pair / self.head_width))  # [Q, E / 2]
        cos, sin = angle.cos().to(x), angle.sin().to(x)
        even, odd = x[..., 0::2], x[..., 1::2]  # [B, H, Q, E / 2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(start_dim=-2)


def unturned(x: Tensor, start: int) -> Tensor:
    """Queries and keys as they are: no rotation."""
    return x
