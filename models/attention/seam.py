"""The seam: `attend` runs an attention function (scores, softmax, mix), and `watch` lets a recording look on.

Every attention call of every model in Headlight, the project's own and transformers' alike, goes through `attend`.
`attend` runs in blocks of query rows, so that memory grows with the text and not with its square. It is the only place
where a recording can watch: outside a recording nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from torch import Tensor

from models.attention.dropping import without_dropped
from models.attention.functions import AttentionFunction, DotProductAttention
from models.attention.fused_kernel import attend_fused
from models.attention.imposing import with_imposed
from models.attention.masks import Mask, band
from models.attention.running_layer import Stream, following, running_layer

BLOCK = 128  # query rows at once, at most: at 128 the scores of a head stay in a core's cache
_CELLS = 2**18  # of a head's map at once, at most: the allocator keeps what is no larger, and so it is no new page


@dataclass(frozen=True)
class AttentionCall:
    """The inputs of one attention call: enough to compute its weights again.

    query [B, H, Q, E], key and value [B, K, T, E]. stream: whose attention it is. layer: the model's layer that made
    the call; None where the layer is not known, see models/attention/running_layer.py.
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
_output: ContextVar[Callable[[Tensor], None] | None] = ContextVar("attention_output", default=None)
_fused: ContextVar[bool] = ContextVar("attention_fused", default=False)

Compute = Callable[[AttentionCall], Tensor]
"""Computes the output [B, H, Q, E] of an attention call."""
Edit = Callable[[AttentionCall, Compute], Tensor]
"""Stands in for an attention call: given the call with its layer and what would compute it, gives the output."""
_edit: ContextVar[Edit | None] = ContextVar("attention_edit", default=None)


@contextmanager
def watch(
    watcher: Callable[[AttentionCall], None],
    *,
    pace: Callable[[float], None] | None = None,
    output: Callable[[Tensor], None] | None = None,
) -> Iterator[None]:
    """Call `watcher` with every attention call made inside the block, by this thread alone, before it is computed.

    pace: called with the finished share of the current call, block by block. output: called with what the call gave,
    [B, H, Q, E], once it is computed. An exception of any of them ends the run.
    """
    tokens = _watcher.set(watcher), _pace.set(pace), _output.set(output)
    try:
        with following():
            yield
    finally:
        _watcher.reset(tokens[0])
        _pace.reset(tokens[1])
        _output.reset(tokens[2])


@contextmanager
def editing(edit: Edit) -> Iterator[None]:
    """Let `edit` stand in for every attention call made inside the block, by this thread alone.

    The call is reported as the model made it; what the model reads on is what `edit` gives. Models that do their
    attention by themselves ("eager output") make no such call.
    """
    token = _edit.set(edit)
    try:
        with following():
            yield
    finally:
        _edit.reset(token)


def report(call: AttentionCall) -> None:
    """Hand an attention call to the watcher, if any, with the layer that makes the call."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(replace(call, layer=running_layer()))


def watched() -> bool:
    """Return True while attention calls of this thread are watched."""
    return _watcher.get() is not None


@contextmanager
def fused() -> Iterator[None]:
    """Run attention in torch's fused kernel inside the block: an independent implementation to check against.

    A function that is more than a scaled dot product with a bias (soft-cap, sinks) runs as it is.
    """
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
    """Compute the attention of all queries in blocks of rows.

    query [B, H, Q, E], key and value [B, K, T, E] -> [B, H, Q, E].

    Dropped heads (dropping.py) give 0; their attention is reported all the same. Where a gradient is wanted and
    nothing is watched, plain attention runs in torch's fused kernel: the same function, whose backward pass needs no
    map. An imposed rule (imposing.py) hides keys beside the mask, and is reported with it. An edit (`editing`) stands
    in for the computation.
    """
    mask = with_imposed(mask, stream, queries=query.shape[2], keys=key.shape[2])
    call, edit = AttentionCall(function, query, key, value, mask, stream), _edit.get()
    report(call)
    mixed, output = _mixed(call) if edit is None else edit(replace(call, layer=running_layer()), _mixed), _output.get()
    if output is not None:
        output(mixed)
    return without_dropped(mixed, stream)


def _mixed(call: AttentionCall) -> Tensor:
    function, query, key, value, mask = call.function, call.query, call.key, call.value, call.mask
    training = query.requires_grad and not watched() and isinstance(function, DotProductAttention)
    if training or (_fused.get() and function.scale is not None):
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
    """Slices of a map's query rows; the rows of a slice are computed at once.

    A text always has the same blocks, because the same block gives the same bits. among: rows of interest; each block
    that holds any of these rows is given whole.
    """
    rows = max(min(BLOCK, _CELLS // keys), 1)
    wanted = slice(0, queries) if among is None else among
    for start in range(wanted.start // rows * rows, wanted.stop, rows):
        yield slice(start, min(start + rows, queries))


@dataclass(frozen=True)
class Attended:
    """Attention of a block of query rows: output [B, H, Q, E], and weights [B, H, Q, band] of the keys `band`.

    band: the keys that any of the rows may see; every other weight is 0. allowed: the mask of the band's keys.
    """

    output: Tensor
    weights: Tensor
    band: slice
    allowed: Tensor | None


def attend_rows(
    function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, *, mask: Mask | None, rows: slice
) -> Attended:
    """Compute the attention of the query rows `rows`, with the queries [B, H, Q, E], to keys and values [B, K, T, E].

    Keys that the mask hides from all of these rows (later tokens, tokens outside a local layer's window) are not
    multiplied at all: only the band costs work and memory.
    """
    keys, allowed = slice(0, key.shape[2]), None
    if mask is not None and function.positional:
        allowed = mask.rows(rows.start, rows.stop).to(query.device)
    elif mask is not None:
        seen = band(mask, rows.start, rows.stop, keys=key.shape[2])
        keys, allowed = seen.keys, seen.allowed.to(query.device)
    output, weights = function(query, key[:, :, keys], value[:, :, keys], allowed, rows=rows)
    return Attended(output, weights, keys, allowed)
