"""Task 4: several heads, split and merged by reshape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import (
    MIXES,
    SCALES,
    SCORES,
    WEIGHINGS,
    Array,
    Given,
    attend,
    ends,
    last_two,
    same,
    way,
)
from inspector.questions.record.both import Both

Split = Callable[[Array, int], Array]
Merge = Callable[[Array, int], Array]


def split(x: Array, heads: int) -> Array:
    """Cut [B, n, D] into [B, heads, n, E]."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, heads, width // heads).transpose(0, 2, 1, 3)


def merged(x: Array, heads: int) -> Array:
    """Put [B, heads, n, E] side by side: [B, n, D]."""
    batch, _, tokens, _ = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, tokens, -1)


def computed(
    query: Array,
    key: Array,
    value: Array,
    heads: int,
    *,
    parts: Split = split,
    parts_of_query: Split | None = None,
    parts_of_key: Split | None = None,
    parts_of_value: Split | None = None,
    merge: Merge = merged,
    end: Callable[[Array], Array] = same,
    **stages: Any,
) -> Array:
    """Return the heads' softmax(q k^T / sqrt(E)) v, side by side."""
    q = (parts_of_query or parts)(query, heads)
    k = (parts_of_key or parts)(key, heads)
    v = (parts_of_value or parts)(value, heads)
    return end(merge(attend(Given(q, k, v, heads), **stages), heads))


def _viewed(x: Array, heads: int) -> Array:
    batch, tokens, width = x.shape
    return x.reshape(batch, heads, tokens, width // heads)


def _untransposed(x: Array, heads: int) -> Array:
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, heads, width // heads)


def _interleaved(x: Array, heads: int) -> Array:
    """Give head h the columns h, h + heads, ..."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, width // heads, heads).transpose(0, 3, 1, 2)


def _swapped(x: Array, heads: int) -> Array:
    """Make E heads of width `heads`."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, width // heads, heads).transpose(0, 2, 1, 3)


def _one(x: Array, heads: int) -> Array:
    return x[:, None]


def _first(x: Array, heads: int) -> Array:
    cut = split(x, heads)
    return np.broadcast_to(cut[:, :1], cut.shape)


def _last(x: Array, heads: int) -> Array:
    cut = split(x, heads)
    return np.broadcast_to(cut[:, -1:], cut.shape)


def _overlapping(x: Array, heads: int) -> Array:
    """Give head h the columns h .. h + E."""
    width = x.shape[-1] // heads
    return np.stack([x[..., h : h + width] for h in range(heads)], axis=1)


def _reversed(x: Array, heads: int) -> Array:
    return split(x, heads)[:, ::-1]


def _tokens_cut(x: Array, heads: int) -> Array:
    """Cut the tokens into blocks, not the width: [B, heads, n / heads, D]."""
    batch, tokens, width = x.shape
    return x.reshape(batch, heads, tokens // heads, width)


def _view_merge(x: Array, heads: int) -> Array:
    return x.reshape(x.shape[0], -1, x.shape[1] * x.shape[3])


def _merge_interleaved(x: Array, heads: int) -> Array:
    """Let the heads' columns take turns."""
    return x.transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1)


def _wide(power: float, of: Callable[[Given], float]) -> Callable[[Array, Given], Array]:
    return lambda s, g: s * of(g) ** power


def _width(given: Given) -> float:
    return float(given.query.shape[-1] * given.heads)


def _averaged(w: Array, g: Given) -> Array:
    return np.broadcast_to(w.mean(1, keepdims=True), w.shape)


def _first_weights(w: Array, g: Given) -> Array:
    return np.broadcast_to(w[:, :1], w.shape)


def _causal(scores: Array, given: Given) -> Array:
    return np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)


SPLITS = (
    Mistake(
        "the heads are cut by view alone: [B, n, D] becomes [B, heads, n, E] without a transpose",
        (way(parts=_viewed),),
    ),
    Mistake(
        "the outputs are merged by view alone: [B, heads, n, E] becomes [B, n, D] without a transpose",
        (way(merge=_view_merge),),
    ),
    Mistake(
        "heads are cut and merged by view alone, without a transpose before and after",
        (way(parts=_viewed, merge=_view_merge),),
    ),
    Mistake(
        "the axes of heads and tokens are not exchanged: every token attends over the heads, not over the tokens",
        (
            way(parts=_untransposed, merge=_view_merge),
            way(parts=_untransposed, merge=lambda x, heads: x.reshape(x.shape[0], x.shape[1], -1)),
            way(parts=_untransposed, merge=merged),
            way(
                parts=_untransposed, merge=lambda x, heads: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[1], -1)
            ),
        ),
    ),
    Mistake(
        "a head takes every heads-th column, not a block of columns",
        (
            way(parts=_interleaved),
            way(parts=_interleaved, merge=_merge_interleaved),
        ),
    ),
    Mistake("the outputs are merged column by column, not head by head", (way(merge=_merge_interleaved),)),
    Mistake(
        "the number of heads and their width are exchanged",
        (
            way(parts=_swapped),
            way(parts=_swapped, scale=_wide(-0.5, lambda g: _width(g) / g.query.shape[-1])),
            way(parts=_swapped, merge=_merge_interleaved),
        ),
    ),
    Mistake(
        "there is one head: the width is not cut",
        (
            way(parts=_one),
            way(parts=_one, scale=_wide(-0.5, lambda g: g.query.shape[-1] / g.heads)),
        ),
    ),
    Mistake(
        "the tokens are cut into heads, not the width",
        (way(parts=_tokens_cut, merge=lambda x, heads: x.reshape(x.shape[0], -1, x.shape[-1])),),
    ),
    Mistake("all heads read the keys of the first", (way(parts_of_key=_first),)),
    Mistake("all heads read the values of the first", (way(parts_of_value=_first),)),
    Mistake("all heads ask the query of the first", (way(parts_of_query=_first),)),
    Mistake(
        "all heads are the first one: the columns do not depend on the head",
        (way(parts=_first), way(parts=_last)),
    ),
    Mistake("all heads mix their values with the weights of the first", (way(after=_first_weights),)),
    Mistake("the weights of the heads are averaged", (way(after=_averaged),)),
    Mistake(
        "the scores of the heads are summed or averaged",
        (
            way(mask=lambda s, g: np.broadcast_to(s.mean(1, keepdims=True), s.shape)),
            way(mask=lambda s, g: np.broadcast_to(s.sum(1, keepdims=True), s.shape)),
        ),
    ),
    Mistake(
        "head h takes the columns h to h + E, which overlap: h·E to (h+1)·E is due",
        (way(parts=_overlapping),),
    ),
    Mistake(
        "the keys are cut in another order than the queries",
        (way(parts_of_key=_reversed), way(parts_of_key=_viewed), way(parts_of_key=_interleaved)),
    ),
    Mistake(
        "the values are cut in another way than queries and keys",
        (
            way(parts_of_value=_reversed),
            way(parts_of_value=_viewed),
            way(parts_of_value=_interleaved),
        ),
    ),
    Mistake(
        "the queries are cut in another way than the keys",
        (way(parts_of_query=_viewed), way(parts_of_query=_interleaved)),
    ),
    Mistake("the heads stand in reverse order", (way(merge=lambda x, heads: merged(x[:, ::-1], heads)),)),
    Mistake(
        "the outputs of the heads are summed or averaged, not put side by side",
        (way(merge=lambda x, heads: x.sum(1)), way(merge=lambda x, heads: x.mean(1))),
    ),
    Mistake(
        "the sum or mean of all heads is repeated",
        (
            way(merge=lambda x, heads: np.tile(x.mean(1), heads)),
            way(merge=lambda x, heads: np.tile(x.sum(1), heads)),
        ),
    ),
    Mistake(
        "the outputs of the heads are put one behind the other along the tokens, not side by side",
        (
            way(merge=lambda x, heads: x.reshape(x.shape[0], -1, x.shape[-1])),
            way(merge=lambda x, heads: x.transpose(0, 2, 1, 3).reshape(x.shape[0], -1, x.shape[-1])),
        ),
    ),
    Mistake(
        "the heads are not merged: the result has an axis of heads",
        (
            way(merge=lambda x, heads: x),
            way(merge=lambda x, heads: x.transpose(0, 2, 1, 3)),
            way(merge=lambda x, heads: x.transpose(1, 0, 2, 3)),
        ),
    ),
    Mistake(
        "only the first head is computed",
        (
            way(merge=lambda x, heads: x[:, 0]),
            way(merge=lambda x, heads: merged(np.concatenate([x[:, :1], np.zeros_like(x[:, 1:])], axis=1), heads)),
        ),
    ),
    Mistake(
        "the last head is left out",
        (
            way(merge=lambda x, heads: merged(np.concatenate([x[:, :-1], np.zeros_like(x[:, -1:])], axis=1), heads)),
            way(merge=lambda x, heads: merged(x[:, :-1], heads)),
        ),
    ),
    Mistake(
        "the softmax runs over the heads (axis 1), not over the keys",
        (way(weigh=lambda s, g: _softmax(s, 1)),),
    ),
)
SCALES_OF_HEADS = (
    Mistake(
        "the scores are divided by √D, of the whole width, not by √E, of a head's",
        (way(scale=_wide(-0.5, _width)),),
    ),
    Mistake("the scores are divided by D, not by √E", (way(scale=_wide(-1, _width)),)),
    Mistake("the scores are divided by the root of the number of heads", (way(scale=_wide(-0.5, lambda g: g.heads)),)),
    Mistake("the scores are divided by the number of heads", (way(scale=_wide(-1, lambda g: g.heads)),)),
    Mistake("the scores are multiplied by √D", (way(scale=_wide(0.5, _width)),)),
)


def _softmax(s: Array, axis: int) -> Array:
    p = np.exp(s - s.max(axis, keepdims=True))
    return np.asarray(p / p.sum(axis, keepdims=True))


MISTAKES = (
    *SPLITS,
    *SCALES_OF_HEADS,
    *(one for one in SCORES if "np.dot" not in one.said),
    *SCALES,
    *WEIGHINGS,
    *(one for one in MIXES if "outputs of the queries" not in one.said),
    Mistake("a causal mask hides keys, which is not asked for", (way(mask=_causal),)),
    Mistake("the result is transposed", (way(end=last_two),)),
    *ends("end"),
)


def made() -> tuple[Case, ...]:
    """Make projected queries, keys and values with 2 and 3 heads, of lengths and widths that all differ."""
    random = np.random.default_rng(4)

    def some(*shape: int) -> tuple[Array, ...]:
        return tuple(random.normal(size=shape).astype(np.float32) for _ in range(3))

    whole = tuple(random.integers(-2, 3, size=(2, 3, 4)).astype(np.float32) for _ in range(3))
    return (
        Case("small whole numbers, 2 heads", (*whole, 2)),
        Case("5 tokens of width 12, 3 heads", (*some(2, 5, 12), 3)),
        Case("6 tokens of width 8, 2 heads", (*some(2, 6, 8), 2)),
        Case("equal lengths", (*some(4, 4, 16), 4), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give all heads of two layers of mini-bert."""
    return (Case("six heads of two layers of mini-bert", recordings.projected("mini-bert")),)


TASK = Task(
    4,
    "heads",
    "inside a layer",
    "multi_head",
    ("query", "key", "value", "heads"),
    title=Both("Heads by reshape", "用 reshape 分头"),
    asked=Both(
        "query, key and value are projected already: [B, n, D] each. Head h has the columns h·E to (h+1)·E, E = D "
        "/ heads. "
        "Return the outputs of all heads side by side: [B, n, D].",
        "query、key、value 已投影，均为 [B, n, D]。第 h 个头使用第 h·E 到 (h+1)·E 列，E = D / heads。返回所有头的输"
        "出并排拼接：[B, n, D]。",
    ),
    hints=(
        Both(
            "head_h = softmax(q_h k_hᵀ / √E) v_h, and the result is [head_0; head_1; ...] along the last axis.",
            "head_h = softmax(q_h k_hᵀ / √E) v_h，结果沿最后一轴拼接 [head_0; head_1; ...]。",
        ),
        Both(
            "D = 4, two heads: columns 0 and 1 are the first head, 2 and 3 the second. Written with two slices and "
            "two calls "
            "of task 2, put side by side, it is right already.",
            "D = 4、两个头：第 0、1 列是第一个头，第 2、3 列是第二个。用两个切片、两次调用任务 2 再拼接，就已经正确。",
        ),
        Both(
            "A view of [B, n, D] as [B, heads, n, E] cuts the memory at the wrong places. View it as [B, n, heads, "
            "E], then "
            "exchange the two middle axes; afterwards exchange them back before the last reshape.",
            "直接把 [B, n, D] view 成 [B, heads, n, E] 会切错位置。应先 view 成 [B, n, heads, E]，再交换中间两轴；"
            "最后 reshape 之前再换回来。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("output",),
)
