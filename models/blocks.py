"""The Transformer block: attention between tokens, then the FFN on each token, both added to the residual stream."""

from __future__ import annotations

from torch import Tensor, nn

from models.attention import MultiHeadAttention
from models.config import TransformerConfig
from models.feedforward import FeedForward
from models.masks import Mask
from models.norms import LayerNorm


class EncoderBlock(nn.Module):
    """One encoder layer, its norms after each sum (Vaswani et al. 2017) or before each sublayer (Xiong et al. 2020).

    post-norm: x = norm(x + attention(x)),  x = norm(x + FFN(x))
    pre-norm:  x = x + attention(norm(x)),  x = x + FFN(norm(x))

    Pre-norm leaves the residual stream itself untouched from the first layer to the last.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm_placement = config.norm_placement
        self.attention = MultiHeadAttention(config.width, config.heads, bias=config.bias)
        self.attention_norm = LayerNorm(config.width, config.norm_epsilon)
        self.ffn = FeedForward(config.width, config.ffn_width, activation=config.activation, bias=config.bias)
        self.ffn_norm = LayerNorm(config.width, config.norm_epsilon)

    def forward(self, x: Tensor, *, mask: Mask | None = None) -> Tensor:
        """x [B, T, D] -> [B, T, D]; mask says which keys each query sees, None for all."""
        if self.norm_placement == "pre":
            x = x + self.attention(self.attention_norm(x), mask=mask)
            x = x + self.ffn(self.ffn_norm(x))
        else:
            x = self.attention_norm(x + self.attention(x, mask=mask))
            x = self.ffn_norm(x + self.ffn(x))
        return x
