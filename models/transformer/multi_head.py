"""Multi-head attention: project to H heads, attend in each head, merge the heads, project back.

Shapes: B batch, H heads, K kv heads, Q query positions, T key positions, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from models.attention import Stream, attend
from models.attention.functions import Bias
from models.attention.masks import Mask
from models.transformer.config import Merge, TransformerConfig
from models.transformer.kv_cache import KeyValue
from models.transformer.learned_attention import PlainAttention, make_function
from models.transformer.positions import Rotary, unturned
from models.transformer.segment_memory import LayerMemory


class MultiHeadAttention(nn.Module):
    """Project to H heads, attend in each, concatenate, project back (Vaswani et al. 2017, section 3.2.2).

    MultiHead(x, c) = Concat(head_1 .. head_H) W_O,  head_i = Attention(x W_Q^i, c W_K^i, c W_V^i)

    With K < H kv heads, H / K heads share a key and a value: GQA (Ainslie et al. 2023), MQA for K = 1 (Shazeer 2019).
    merge "sum" adds the heads up before W_O: then nothing tells which head spoke.
    function: a module that hands out the attention function; turn: RoPE's rotation of queries and keys.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        kv_heads: int | None = None,
        head_width: int | None = None,
        bias: bool = True,
        merge: Merge = "concat",
        function: nn.Module | None = None,
        turn: Callable[[Tensor, int], Tensor] = unturned,
        stream: Stream = "encoder",
    ) -> None:
        super().__init__()
        if head_width is None and (heads < 1 or width % heads):
            raise ValueError(
                f"width {width} does not divide into {heads} heads; choose a width that is a multiple of the heads"
            )
        self.head_width = width // heads if head_width is None else head_width
        every, shared = heads * self.head_width, (kv_heads or heads) * self.head_width
        self.query: nn.Module = nn.Linear(width, every, bias=bias)
        self.key: nn.Module = nn.Linear(width, shared, bias=bias)
        self.value: nn.Module = nn.Linear(width, shared, bias=bias)
        self.out: nn.Module = nn.Linear(every if merge == "concat" else self.head_width, width, bias=bias)
        self.function = PlainAttention(self.head_width**-0.5) if function is None else function
        self.merge = MERGES[merge]
        self.turn = turn
        self.stream: Stream = stream

    @classmethod
    def of(cls, config: TransformerConfig, *, stream: Stream) -> MultiHeadAttention:
        """Build the attention that a config names."""
        rotary = config.positions == "rope" and stream != "cross"  # the two texts of cross-attention share no positions
        attention = cls(
            config.width,
            config.heads,
            kv_heads=config.kv_heads,
            head_width=config.head_width,
            bias=config.bias,
            merge=config.merge,
            function=make_function(config, stream=stream),
            turn=Rotary(config.head_width, base=config.rope_base) if rotary else unturned,
            stream=stream,
        )
        if config.shared_query_key:
            attention.key = attention.query
        if config.shared_key_value:
            attention.value = attention.key
        if not config.projections:
            attention.query = attention.key = attention.value = attention.out = nn.Identity()
        return attention

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Mask | None = None,
        bias: Bias | None = None,
        past: KeyValue | None = None,
        memory: LayerMemory | None = None,
    ) -> Tensor:
        """x [B, Q, D], context [B, T, D] (x itself in self-attention) -> [B, Q, D].

        past: keys and values of earlier calls, to which the new tokens' are added; a context's are kept as they are.
        memory: what was read of earlier segments, [B, M, D]: more keys and values, before the keys and values of x.
        """
        start = 0 if past is None or context is not None else past.length
        known = x if memory is None else memory.join(x)  # [B, M + Q, D]
        offset = start + known.shape[1] - x.shape[1]  # the position of the first query
        query = self.turn(self.split_heads(self.query(x)), offset)  # [B, H, Q, E]
        if context is None:
            key, value = self.keys_and_values(known, start)
            key, value = (key, value) if past is None else past.append(key, value)
        else:
            key, value = past.once(lambda: self.keys_and_values(context)) if past else self.keys_and_values(context)
        function = self.function(bias=bias, offset=offset, keys=key.shape[2])
        heads = attend(function, query, key, value, mask=mask, stream=self.stream)  # [B, H, Q, E]
        out: Tensor = self.out(self.merge(heads))  # [B, Q, D]
        return out

    def keys_and_values(self, context: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """context [B, T, D], its first token at position `start` -> keys and values [B, K, T, E]."""
        return self.turn(self.split_heads(self.key(context)), start), self.split_heads(self.value(context))

    def split_heads(self, x: Tensor) -> Tensor:
        """[B, Q, H E] -> [B, H, Q, E]: head h owns the features h*E .. (h+1)*E."""
        return x.reshape(*x.shape[:2], -1, self.head_width).transpose(1, 2)


def concatenate(heads: Tensor) -> Tensor:
    """[B, H, Q, E] -> [B, Q, H E]."""
    return heads.transpose(1, 2).flatten(start_dim=2)


def add_up(heads: Tensor) -> Tensor:
    """[B, H, Q, E] -> [B, Q, E]."""
    return heads.sum(dim=1)


MERGES: dict[Merge, Callable[[Tensor], Tensor]] = {"concat": concatenate, "sum": add_up}
