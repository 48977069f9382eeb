"""BigBird's blocks, as they run outside training (Zaheer et al. 2020, section 2; transformers 5.23).

A text is cut into blocks. The first and the last block see all blocks and are seen by all; every other block sees its
neighbours and, in training, r random blocks. Outside training transformers draws none: all r are the first block, which
such a query meets r + 1 times.

Shapes: H heads, T key positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor


def longest_in_full(config: Any) -> int:
    """Return the most tokens that a BigBird still attends to in full, (5 + 2r) * size with r = num_random_blocks.

    0 for any other model, and for a BigBird that attends in full always.
    """
    if getattr(config, "attention_type", None) != "block_sparse":
        return 0
    return (5 + 2 * int(config.num_random_blocks)) * int(config.block_size)


@dataclass(frozen=True)
class BlockSparseMask:
    """A query sees its block, the two beside it, the first and the last; a query of these last two sees every key.

    keys: T. size: tokens in a block; the last block may have fewer.
    """

    keys: int
    size: int

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        last = (self.keys - 1) // self.size
        query, key = torch.arange(start, stop)[:, None] // self.size, torch.arange(self.keys) // self.size
        anywhere = (query == 0) | (query == last) | (key == 0) | (key == last)
        return (anywhere | ((query - key).abs() <= 1))[None, None]


@dataclass(frozen=True)
class RepeatedBlock:
    """score + ln(times) for the first block's keys, which stand `times` times among the keys of most queries.

    exp(s + ln n) = n exp(s): the sum of the weights of n equal keys. Queries in the first and the last block meet every
    key once.
    """

    keys: int
    size: int
    times: int

    def __call__(self, rows: slice, keys: int) -> Tensor:
        """[1, rows, keys]."""
        query = torch.arange(rows.start, rows.stop)[:, None] // self.size
        inner = (query > 0) & (query < (self.keys - 1) // self.size)
        return log(self.times) * (inner & (torch.arange(keys) < self.size))[None].float()

    def of_head(self, head: int) -> RepeatedBlock:
        """Return the same object: it is equal for all heads."""
        return self
