"""Which keys a query may look at, made row by row so that no n x n tensor is ever needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Mask(Protocol):
    """A rule that says, for any block of query rows, which keys they attend to."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean, broadcastable to [B, H, stop - start, T]; True where the query attends to the key."""
        ...


@dataclass(frozen=True)
class PaddingMask:
    """Every query sees every real token and no padding.

    keep: boolean [B, T], True on real tokens.
    """

    keep: Tensor

    def __post_init__(self) -> None:
        if self.keep.ndim != 2 or self.keep.dtype != torch.bool:
            raise ValueError(
                f"keep must be a boolean [B, T] tensor, got {self.keep.dtype} of shape {tuple(self.keep.shape)}; "
                "pass lengths as `torch.arange(T) < lengths[:, None]`"
            )
        empty = (~self.keep.any(dim=1)).nonzero().flatten().tolist()
        if empty:
            raise ValueError(f"sequences {empty} of the batch have no real token; leave them out")

    def rows(self, start: int, stop: int) -> Tensor:
        """[B, 1, 1, T]: the same keys for every query."""
        return self.keep[:, None, None, :]
