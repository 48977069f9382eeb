"""A masked language model: an encoder that guesses hidden tokens from both sides (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.transformer.config import TransformerConfig
from models.transformer.norms import LayerNorm
from models.transformer.stacks import Encoder


class MaskedLanguageModel(nn.Module):
    """BERT's head on an encoder: logits = W norm(gelu(W_h x + b_h)) + b, W the token embedding (Press & Wolf 2017).

    W_h goes down to the embedding's width where that is narrower (Lan et al. 2020, ALBERT).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        embedded = config.embedding_width or config.width
        self.transform = nn.Linear(config.width, embedded)
        self.norm = LayerNorm(embedded, config.norm_epsilon)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))
        nn.init.normal_(self.transform.weight, std=0.02)
        nn.init.zeros_(self.transform.bias)

    def forward(self, ids: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """The last hidden state: ids and keep [B, T] -> [B, T, D]."""
        hidden: Tensor = self.encoder(ids, keep=keep)
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of every token of the vocabulary to stand there: hidden [..., D] -> [..., V]."""
        x = self.norm(nn.functional.gelu(self.transform(hidden)))
        scores: Tensor = nn.functional.linear(x, self.encoder.embedding.token.weight, self.bias)
        return scores
