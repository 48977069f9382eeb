"""YOSO's weights in expectation: how likely a query and a key fall into the same hash bucket (Zeng et al. 2021).

A random hyperplane puts two vectors of length 1 on the same side with probability 1 - arccos(q . k) / pi; a hash is of
several, so that M_ij = (1 - arccos(q_i . k_j) / pi)^codes. No row sums to 1, and every token sees every token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import ClassVar

import torch
from torch import Tensor

from models.mixers.by_channel import chunks


@dataclass(frozen=True)
class HashCollisions:
    """The tensors that a head's map is computed from: query, key [T, H, E] of length 1; codes, hyperplanes of a hash.

    Computed in the layer's own precision: near 1 the arccosine magnifies a product's rounding by thousands.
    """

    query: Tensor
    key: Tensor
    codes: int

    by_token: ClassVar[tuple[str, ...]] = ("query", "key")

    def of_heads(self, heads: Sequence[int]) -> HashCollisions:
        """Return the core of some heads alone."""
        chosen = list(heads)
        return replace(self, query=self.query[:, chosen], key=self.key[:, chosen])

    @torch.no_grad()
    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of rows with all keys, see `Core`."""
        query, key = (tensor.float().transpose(0, 1) for tensor in (self.query, self.key))
        for rows in chunks(queries, tokens=len(self.query)):
            alike = 1 - torch.acos(query[:, rows] @ key.mT) / pi
            yield rows, (alike**self.codes).double()
