"""Embeddings: token ids to vectors, with checks of the ids."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor, nn

from models.transformer.config import TransformerConfig
from models.transformer.norms import make_norm
from models.transformer.positions import LearnedPositions, SinusoidalPositions


class Embedding(nn.Module):
    """x = token * sqrt(D) + position (+ segment), then a norm (BERT, BLOOM), a projection to D (ALBERT), dropout.

    The factor sqrt(D) (Vaswani et al. 2017, section 3.4) undoes an initial size of 1/sqrt(D); without it the token
    embeddings start with variance 1 as they are.
    """

    def __init__(self, config: TransformerConfig, *, vocabulary: int) -> None:
        super().__init__()
        width = config.width if config.embedding_width is None else config.embedding_width
        self.token = nn.Embedding(vocabulary, width)
        self.scale = sqrt(width) if config.embedding_scale else 1.0
        tables = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        table = tables.get(config.positions)
        self.positions = None if table is None else table(config.max_positions, width)
        self.segment = nn.Embedding(config.segments, width) if config.segments else None
        self.embedding_norm = make_norm(config.norm, width, config.norm_epsilon) if config.embedding_norm else None
        narrow = config.embedding_width is not None
        self.projection = nn.Linear(width, config.width, bias=config.bias) if narrow else nn.Identity()
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()

    def forward(
        self,
        ids: Tensor,
        *,
        segments: Tensor | None = None,
        texts: Tensor | None = None,
        keep: Tensor | None = None,
        start: int = 0,
    ) -> Tensor:
        """ids [B, T], segments [B, T] (None: all 0) -> [B, T, D].

        Positions count the columns from `start`, padding included; in a packed row each of the `texts` [B, T] counts
        from 0. keep [B, T]: False on padding, for a norm that looks at other tokens.
        """
        if ids.ndim != 2 or ids.numel() == 0:
            raise ValueError(f"ids has shape {tuple(ids.shape)}; pass [B, T], at least one text of at least one token")
        check_range("token", ids, self.token.num_embeddings)
        x: Tensor = self.token(ids) * self.scale  # [B, T, D]
        if self.positions is not None:
            rows = self.positions(start + ids.shape[1])[start:].to(x)  # [T, D], the same for each text
            x = x + (rows if texts is None else rows[places(texts)])
        if self.segment is not None:
            segments = torch.zeros_like(ids) if segments is None else segments
            check_same_shape("segments", segments, ids)
            check_range("segment", segments, self.segment.num_embeddings)
            x = x + self.segment(segments)  # [B, T, D]
        elif segments is not None:
            raise ValueError("the model has 0 segment embeddings; leave `segments` out")
        if self.embedding_norm is not None:
            x = self.embedding_norm(x, keep=keep)
        projected: Tensor = self.dropout(self.projection(x))
        return projected


def places(texts: Tensor) -> Tensor:
    """Count the tokens of the same text before each token: texts [B, T] -> integers [B, T]."""
    same = texts[:, :, None] == texts[:, None, :]  # [B, T, T]
    return same.tril(diagonal=-1).sum(dim=-1)


def check_same_shape(name: str, tensor: Tensor, ids: Tensor) -> None:
    """Raise ValueError unless tensor and ids [B, T] have the same shape."""
    if tensor.shape != ids.shape:
        raise ValueError(
            f"{name} has shape {tuple(tensor.shape)}, ids {tuple(ids.shape)}; pass one entry for each token"
        )


def check_range(name: str, ids: Tensor, count: int) -> None:
    """Raise ValueError unless ids [B, T] are integers from 0 to count - 1."""
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} ids are {ids.dtype}; pass integers (torch.long)")
    if ids.min() < 0 or ids.max() >= count:
        raise ValueError(
            f"{name} ids go from {ids.min()} to {ids.max()}, the model knows 0 to {count - 1}; "
            "encode the text with the model's own tokenizer"
        )
