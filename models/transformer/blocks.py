"""The Transformer block: attention between tokens, then the FFN on each token, both added to the residual stream."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from models.attention import Stream
from models.attention.functions import Bias
from models.attention.masks import Mask
from models.transformer.config import NormPlacement, TransformerConfig
from models.transformer.feedforward import make_ffn
from models.transformer.kv_cache import LayerCache
from models.transformer.multi_head import MultiHeadAttention
from models.transformer.norms import make_norm
from models.transformer.segment_memory import LayerMemory

Map = Callable[[Tensor], Tensor]  # [B, T, D] -> [B, T, D]


def post_norm(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    """Normalise the residual stream itself after every sublayer, as in Vaswani et al. (2017)."""
    return norm(x + sublayer(x))


def pre_norm(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    """Normalise the sublayer's input; the residual stream runs untouched through all layers (Xiong et al. 2020)."""
    return x + sublayer(norm(x))


def post_norm_alone(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    """Leave the residual out: all that the sublayer does not pass on is lost."""
    return norm(sublayer(x))


def pre_norm_alone(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    """Leave the residual out, with the norm before the sublayer."""
    return sublayer(norm(x))


CONNECTIONS: dict[tuple[NormPlacement, bool], Callable[[Tensor, Map, Map], Tensor]] = {
    ("post", True): post_norm,
    ("pre", True): pre_norm,
    ("post", False): post_norm_alone,
    ("pre", False): pre_norm_alone,
}
"""The connection of a sublayer, by norm placement and residual (True or False)."""


class EncoderBlock(nn.Module):
    """Self-attention, then the FFN; with a causal mask it is the block of a decoder without a source.

    post-norm: x = norm(x + attention(x)),  x = norm(x + FFN(x))
    pre-norm:  x = x + attention(norm(x)),  x = x + FFN(norm(x))
    """

    def __init__(self, config: TransformerConfig, *, stream: Stream = "encoder") -> None:
        super().__init__()
        self.connect = CONNECTIONS[config.norm_placement, config.residual]
        self.attention = MultiHeadAttention.of(config, stream=stream)
        self.attention_norm = make_norm(config.norm, config.width, config.norm_epsilon)
        self.ffn = make_ffn(config.activation, config.width, config.ffn_width, bias=config.bias)
        self.ffn_norm = make_norm(config.norm, config.width, config.norm_epsilon)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()

    def forward(
        self,
        x: Tensor,
        *,
        mask: Mask | None = None,
        bias: Bias | None = None,
        keep: Tensor | None = None,
        past: LayerCache | None = None,
        memory: LayerMemory | None = None,
    ) -> Tensor:
        """x [B, T, D] -> [B, T, D].

        mask: the keys that each query sees, None for all; bias: numbers that the positions add to the scores;
        keep [B, T]: False on padding, for norms that look at other tokens; past: keys and values of earlier tokens;
        memory: what this layer's attention read of earlier segments.
        """
        attention = partial(self.attention, mask=mask, bias=bias, past=past and past.text, memory=memory)
        x = self.connect(x, self._dropped(attention), partial(self.attention_norm, keep=keep))
        x = self.connect(x, self._dropped(self.ffn), partial(self.ffn_norm, keep=keep))
        return x

    def _dropped(self, sublayer: Map) -> Map:
        return lambda x: self.dropout(sublayer(x))


class DecoderBlock(EncoderBlock):
    """Self-attention, then attention to the source, then the FFN (Vaswani et al. 2017, section 3.1).

    x = norm(x + attention(x)),  x = norm(x + cross_attention(x, source)),  x = norm(x + FFN(x)); or pre-norm.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, stream="decoder")
        self.cross_attention = MultiHeadAttention.of(config, stream="cross")
        self.cross_norm = make_norm(config.norm, config.width, config.norm_epsilon)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Mask | None = None,
        bias: Bias | None = None,
        keep: Tensor | None = None,
        past: LayerCache | None = None,
        memory: LayerMemory | None = None,
        source: Tensor | None = None,
        source_mask: Mask | None = None,
    ) -> Tensor:
        """x [B, Q, D], source [B, T, D], the encoder's last hidden state -> [B, Q, D]; the rest as in EncoderBlock."""
        attention = partial(self.attention, mask=mask, bias=bias, past=past and past.text, memory=memory)
        cross = partial(self.cross_attention, context=source, mask=source_mask, past=past and past.source)
        x = self.connect(x, self._dropped(attention), partial(self.attention_norm, keep=keep))
        x = self.connect(x, self._dropped(cross), partial(self.cross_norm, keep=keep))
        x = self.connect(x, self._dropped(self.ffn), partial(self.ffn_norm, keep=keep))
        return x
