"""The Transformer encoder: embed the tokens, pass them through L blocks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.blocks import EncoderBlock
from models.config import TransformerConfig
from models.masks import PaddingMask
from models.norms import LayerNorm
from models.positions import LearnedPositions, SinusoidalPositions


class Embedding(nn.Module):
    """x = token + position (+ segment), and in BERT a norm on the sum (Devlin et al. 2019, figure 2).

    Vaswani et al. (2017, section 3.4) multiply the token embeddings by sqrt(D). That undoes an initial size of
    1/sqrt(D); here they start with variance 1 as they are.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocabulary, config.width)
        table = SinusoidalPositions if config.positions == "sinusoidal" else LearnedPositions
        self.positions = table(config.max_positions, config.width)
        self.segment = nn.Embedding(config.segments, config.width) if config.segments else None
        self.embedding_norm = LayerNorm(config.width, config.norm_epsilon) if config.embedding_norm else None

    def forward(self, ids: Tensor, *, segments: Tensor | None = None) -> Tensor:
        """ids [B, T], segments [B, T] (None: all 0) -> [B, T, D].

        Positions count the columns from 0, padding included.
        """
        if ids.ndim != 2 or ids.numel() == 0:
            raise ValueError(f"ids has shape {tuple(ids.shape)}; pass [B, T], at least one text of at least one token")
        check_range("token", ids, self.token.num_embeddings)
        x: Tensor = self.token(ids)  # [B, T, D]
        x = x + self.positions(ids.shape[1]).to(x)  # [T, D], the same for each text
        if self.segment is not None:
            segments = torch.zeros_like(ids) if segments is None else segments
            check_same_shape("segments", segments, ids)
            check_range("segment", segments, self.segment.num_embeddings)
            x = x + self.segment(segments)  # [B, T, D]
        elif segments is not None:
            raise ValueError("the model has 0 segment embeddings; leave `segments` out")
        if self.embedding_norm is not None:
            x = self.embedding_norm(x)
        return x


class Encoder(nn.Module):
    """Every token attends to every other, L times over (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.layers = nn.ModuleList(EncoderBlock(config) for _ in range(config.layers))
        self.final_norm = LayerNorm(config.width, config.norm_epsilon) if config.final_norm else None

    def forward(self, ids: Tensor, *, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """The last hidden state.

        ids [B, T] token ids; keep [B, T] boolean, True on real tokens (None: all are); segments [B, T] (None: all 0)
        -> [B, T, D]. Rows of padding hold no meaning.

        Raises ValueError for ids or segments out of range, shapes that differ, texts longer than the positions.
        """
        x: Tensor = self.embedding(ids, segments=segments)  # [B, T, D]
        mask = None if keep is None else padding_mask(keep, ids)
        for layer in self.layers:
            x = layer(x, mask=mask)
        if self.final_norm is not None:
            x = self.final_norm(x)
        return x


def padding_mask(keep: Tensor, ids: Tensor) -> PaddingMask | None:
    """keep [B, T] -> the mask that hides padding, None where there is none to hide."""
    check_same_shape("keep", keep, ids)
    mask = PaddingMask(keep)
    return None if keep.all() else mask


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
