"""Additive attention: how a decoder chose what to read before the Transformer (Bahdanau et al. 2015).

Shapes: B batch, T source tokens, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """weights_ij = softmax over j of v^T tanh(W s_(i-1) + U h_j), context_i = sum_j weights_ij h_j.

    Bahdanau et al. 2015, appendix A.1.2. The query s_(i-1) is the decoder's previous state, a new one at each step;
    keys and values are the same encoder states h_j. U h_j does not depend on the step: it is computed once (`keys`).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)  # W
        self.key = nn.Linear(width, width, bias=False)  # U
        self.v = nn.Linear(width, 1, bias=False)

    def keys(self, states: Tensor) -> Tensor:
        """Compute U h_j of all encoder states, once for all steps: [B, T, D] -> [B, T, D]."""
        made: Tensor = self.key(states)
        return made

    def forward(self, query: Tensor, keys: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """query [B, D], keys and states [B, T, D] -> context [B, D] and weights [B, T], whose rows sum to 1."""
        scores = self.v(torch.tanh(self.query(query)[:, None] + keys)).squeeze(-1)  # [B, T]
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ states).squeeze(1), weights
