"""Side keys: keys that a sparse model adds to the tokens' keys, so that tokens far apart can reach each other.

Each query divides its weight between the tokens that it sees and the side keys, so that its weights on tokens sum to
less than 1. LongT5 has the sum of each 16 tokens (Guo et al. 2022, section 3.1.2), Pegasus-X learned global tokens
(Phang et al. 2023, section 3.1).

Shapes: B batch, H heads, Q query positions, T key positions, G side keys, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import torch
from torch import Tensor

from models.attention.functions import Bias, SideKeys, snapshot
from models.attention.relative import T5Bias, buckets


@dataclass(frozen=True)
class SideBias:
    """score + table[bucket(g - block of the query)]: LongT5's number for how many blocks apart a side key is.

    table: [buckets, H]. blocks: integers [B, Q], the side key that each query's own block became. seen: boolean [B, G],
    False on side keys made of padding.
    """

    table: Tensor
    farthest: int
    blocks: Tensor
    seen: Tensor

    def __call__(self, rows: slice) -> Tensor:
        """[B, H, rows, G]; -inf where a side key is hidden."""
        apart = torch.arange(self.seen.shape[1], device=self.blocks.device) - self.blocks[:, rows, None]
        bucket = buckets(apart, count=len(self.table), farthest=self.farthest, both_sides=True)
        bias = self.table[bucket.to(self.table.device)].movedim(-1, 1).to(self.seen.device)
        return bias.masked_fill(~self.seen[:, None, None], -inf)

    def of_sequence(self, row: int, real: slice) -> SideBias:
        """Keep one sequence of a padded batch, and of that sequence its real tokens."""
        alone = slice(row, row + 1)
        return replace(self, blocks=self.blocks[alone, real].clone(), seen=self.seen[alone].clone())

    def of_head(self, head: int) -> SideBias:
        """Keep the head's column of the table."""
        return replace(self, table=self.table[:, head : head + 1])


@dataclass(frozen=True)
class SideKeyAttention:
    """softmax([Q K^T * factor + bias, Q S^T * factor + side_bias]) [V, U]: one softmax over tokens and side keys.

    side_key (S) and side_value (U): [B, H, G, E].
    """

    factor: float
    side_key: Tensor
    side_value: Tensor
    bias: T5Bias | None = None
    side_bias: SideBias | None = None

    @property
    def scale(self) -> float:
        """The factor on query . key, of tokens and of side keys."""
        return self.factor

    @property
    def sinks(self) -> bool:
        """True: the side keys take a part of each row."""
        return True

    @property
    def normalised(self) -> bool:
        """True: a softmax makes the weights."""
        return True

    @property
    def positional(self) -> bool:
        """True where a bias counts the places of the keys."""
        return self.bias is not None

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """The bias [1, H, rows, T] of the tokens' scores."""
        bias: Bias | None = self.bias
        return None if bias is None else bias(rows, keys)[None]

    def side(self, rows: slice) -> SideKeys:
        """The side keys, and LongT5's bias of them."""
        return SideKeys(self.side_key, self.side_value, None if self.side_bias is None else self.side_bias(rows))

    def side_scores(self, query: Tensor, rows: slice) -> Tensor:
        """Scores of the side keys [B, H, Q, G] for query [B, H, Q, E], the rows `rows` of all."""
        scores = query @ self.side_key.mT * self.factor
        return scores if self.side_bias is None else scores + self.side_bias(rows).to(scores)

    def of_sequence(self, row: int, real: slice) -> SideKeyAttention:
        """Copy one sequence of a padded batch."""
        alone = slice(row, row + 1)
        part = replace(
            self,
            side_key=self.side_key[alone],
            side_value=self.side_value[alone],
            side_bias=None if self.side_bias is None else self.side_bias.of_sequence(row, real),
        )
        copied: SideKeyAttention = snapshot(part)
        return copied

    def of_head(self, head: int) -> SideKeyAttention:
        """Keep the head's side keys and its part of the biases."""
        alone = slice(head, head + 1)
        return replace(
            self,
            side_key=self.side_key[:, alone],
            side_value=self.side_value[:, alone],
            bias=None if self.bias is None else self.bias.of_head(head),
            side_bias=None if self.side_bias is None else self.side_bias.of_head(head),
        )

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E], key and value [B, H, T, E] -> output [B, H, Q, E], weights of the tokens [B, H, Q, T]."""
        scores = query @ key.mT * self.factor
        added = self.added(rows, key.shape[2])
        scores = scores if added is None else scores + added.to(scores)
        scores = scores if mask is None else scores.masked_fill(~mask, -inf)
        weights = torch.softmax(torch.cat([scores, self.side_scores(query, rows)], dim=-1), dim=-1)
        tokens, side = weights[..., : key.shape[2]], weights[..., key.shape[2] :]
        return tokens @ value + side @ self.side_value, tokens
