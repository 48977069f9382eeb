"""Attention: the function (scores, softmax, mix), the way it is run (`attend`), and the multi-head module around it.

Every attention call of every model in Headlight, the project's own and transformers' alike, goes through `attend`.
It runs in blocks of query rows, so that memory grows with the text and not with its square, and it is the one seam
where a recording can watch (`watch`): outside a recording nothing happens there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from torch import Tensor, nn

from models.attention.dropping import without_dropped
from models.attention.functions import AttentionFunction, DotProductAttention, PlainAttention, make_function
from models.attention.fused_kernel import attend_fused
from models.attention.masks import Mask, band
from models.attention.running_layer import following, running_layer
from models.transformer.config import Merge, Stream, TransformerConfig
from models.transformer.kv_cache import KeyValue
from models.transformer.positions import Rotary, unturned
from models.transformer.relative import Bias

__all__ = [
    "BLOCK",
    "Attended",
    "AttentionCall",
    "AttentionFunction",
    "DotProductAttention",
    "MultiHeadAttention",
    "attend",
    "attend_rows",
    "fused",
    "report",
    "row_blocks",
    "watch",
    "watched",
]

BLOCK = 128  # query rows at once, at most: at 128 the scores of a head stay in a core's cache
_CELLS = 2**18  # of a head's map at once, at most: the allocator keeps what is no larger, and so it is no new page


@dataclass(frozen=True)
class AttentionCall:
    """All that one attention call was given, and so all that is needed to compute its weights again.

    query [B, H, Q, E], key and value [B, K, T, E]. stream: whose attention it is. layer: the model's layer that made
    the call; None where that is not known, see models/attention/running_layer.py.
    """

    function: AttentionFunction
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None
    stream: Stream = "encoder"
    layer: int | None = None


# Context variables, not globals: two visitors share one loaded model, each thread sees its own.
_watcher: ContextVar[Callable[[AttentionCall], None] | None] = ContextVar("attention_watcher", default=None)
_pace: ContextVar[Callable[[float], None] | None] = ContextVar("attention_pace", default=None)
_fused: ContextVar[bool] = ContextVar("attention_fused", default=False)


@contextmanager
def watch(watcher: Callable[[AttentionCall], None], *, pace: Callable[[float], None] | None = None) -> Iterator[None]:
    """Call `watcher` with every attention call made inside the block, by this thread alone, before it is computed.

    pace: called with the share of that call that is done, block by block. What either raises ends the model's run.
    """
    tokens = _watcher.set(watcher), _pace.set(pace)
    try:
        with following():
            yield
    finally:
        _watcher.reset(tokens[0])
        _pace.reset(tokens[1])


def report(call: AttentionCall) -> None:
    """Tell whoever watches of an attention call, and which layer makes it."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(replace(call, layer=running_layer()))


def watched() -> bool:
    """Whether somebody watches, in this thread."""
    return _watcher.get() is not None


@contextmanager
def fused() -> Iterator[None]:
    """Inside the block attention runs in torch's fused kernel: an independent implementation to check against."""
    token = _fused.set(True)
    try:
        yield
    finally:
        _fused.reset(token)


def attend(
    function: AttentionFunction,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Mask | None = None,
    stream: Stream = "encoder",
) -> Tensor:
    """Attention of all queries, computed in blocks of rows.

    query [B, H, Q, E], key and value [B, K, T, E] -> [B, H, Q, E].

    Heads that are dropped (dropping.py) give 0; what they attended to is reported as ever. Where a gradient is
    wanted and nobody watches, plain attention runs in torch's fused kernel: the same function, of which the backward
    pass needs no map.
    """
    report(AttentionCall(function, query, key, value, mask, stream))
    return without_dropped(_mixed(function, query, key, value, mask), stream)


def _mixed(function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> Tensor:
    training = query.requires_grad and not watched() and isinstance(function, DotProductAttention)
    if _fused.get() or training:
        return attend_fused(function, query, key, value, mask)
    queries = query.shape[2]
    blocks = list(row_blocks(queries, key.shape[2]))
    if len(blocks) == 1:
        return attend_rows(function, query, key, value, mask=mask, rows=blocks[0]).output
    # Made before the blocks: a small tensor that stays, between large ones that go, leaves holes in memory.
    # Laid out by query, for the heads of one query are joined next; some models view them as one without a copy.
    output = value.new_empty(len(query), queries, query.shape[1], value.shape[3]).transpose(1, 2)  # [B, H, Q, E]
    pace = _pace.get()
    for rows in blocks:
        output[:, :, rows] = attend_rows(function, query[:, :, rows], key, value, mask=mask, rows=rows).output
        if pace is not None:
            pace(rows.stop / queries)
    return output


def row_blocks(queries: int, keys: int, *, among: slice | None = None) -> Iterator[slice]:
    """The query rows of a map that are computed at once, one slice after the other.

    A text has always the same blocks, for the same block gives the same bits. among: rows of interest; the blocks that
    hold any of them come whole.
    """
    rows = max(min(BLOCK, _CELLS // keys), 1)
    wanted = slice(0, queries) if among is None else among
    for start in range(wanted.start // rows * rows, wanted.stop, rows):
        yield slice(start, min(start + rows, queries))


@dataclass(frozen=True)
class Attended:
    """Attention of a block of query rows: output [B, H, Q, E], and weights [B, H, Q, band] of the keys `band`.

    band: the keys that any of the rows may see; every other weight is 0. allowed: of these, as a mask has it.
    """

    output: Tensor
    weights: Tensor
    band: slice
    allowed: Tensor | None


def attend_rows(
    function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, *, mask: Mask | None, rows: slice
) -> Attended:
    """Attention of the query rows `rows`, whose queries [B, H, Q, E] these are, to all keys and values [B, K, T, E].

    Keys that the mask hides from all of them (what is to come, what lies outside a local layer's window) are not
    multiplied at all: work and memory are those of the band.
    """
    keys, allowed = slice(0, key.shape[2]), None
    if mask is not None and function.positional:
        allowed = mask.rows(rows.start, rows.stop).to(query.device)
    elif mask is not None:
        seen = band(mask, rows.start, rows.stop, keys=key.shape[2])
        keys, allowed = seen.keys, seen.allowed.to(query.device)
    output, weights = function(query, key[:, :, keys], value[:, :, keys], allowed, rows=rows)
    return Attended(output, weights, keys, allowed)


class MultiHeadAttention(nn.Module):
    """Project to H heads, attend in each, concatenate, project back (Vaswani et al. 2017, section 3.2.2).

    MultiHead(x, c) = Concat(head_1 .. head_H) W_O,  head_i = Attention(x W_Q^i, c W_K^i, c W_V^i)

    With K < H kv heads, H / K heads share a key and a value: GQA (Ainslie et al. 2023), MQA for K = 1 (Shazeer 2019).
    merge "sum" adds the heads up before W_O: then nothing tells which head spoke.
    function: a module that hands out the attention function; turn: RoPE's rotation of queries and keys.

    Shapes: B batch, H heads, K kv heads, Q query positions, T key positions, D width, E head width.
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
        """The attention that a config names."""
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
    ) -> Tensor:
        """x [B, Q, D], context [B, T, D] (x itself in self-attention) -> [B, Q, D].

        past: keys and values of earlier calls, to which this one's are added; those of a context are kept as they are.
        """
        start = 0 if past is None or context is not None else past.length
        query = self.turn(self.split_heads(self.query(x)), start)  # [B, H, Q, E]
        if context is None:
            key, value = self.keys_and_values(x, start)
            key, value = (key, value) if past is None else past.append(key, value)
        else:
            key, value = past.once(lambda: self.keys_and_values(context)) if past else self.keys_and_values(context)
        function = self.function(bias=bias, offset=start)
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
