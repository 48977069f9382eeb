"""Task 9: the additive score (Bahdanau et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, ends, same, way
from inspector.questions.record.both import Both


def computed(
    query: Array,
    key: Array,
    w_query: Array,
    w_key: Array,
    v: Array,
    *,
    project_query: Callable[[Array, Array, Array], Array] = lambda q, w, other: q @ w.T,
    project_key: Callable[[Array, Array, Array], Array] = lambda k, w, other: k @ w.T,
    pair: Callable[[Array, Array], Array] = lambda q, k: q[:, None] + k[None],
    bend: Callable[[Array], Array] = np.tanh,
    weigh: Callable[[Array, Array], Array] = lambda x, v: x @ v,
    scale: Callable[[Array, Array], Array] = lambda scores, query: scores,
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return v . tanh(W_q q + W_k k), [Q, T]."""
    hidden = pair(project_query(query, w_query, w_key), project_key(key, w_key, w_query))
    return end(scale(weigh(bend(hidden), v), query))


def _softmax(s: Array, axis: int) -> Array:
    p = np.exp(s - s.max(axis, keepdims=True))
    return np.asarray(p / p.sum(axis, keepdims=True))


def _erf_like_gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


MISTAKES = (
    Mistake("tanh is left out: the score is linear", (way(bend=same),)),
    Mistake("a sigmoid stands in place of tanh", (way(bend=lambda x: 1 / (1 + np.exp(-x))),)),
    Mistake("a ReLU stands in place of tanh", (way(bend=lambda x: np.maximum(x, 0)),)),
    Mistake(
        "another function stands in place of tanh",
        (
            way(bend=_erf_like_gelu),
            way(bend=np.sin),
            way(bend=np.exp),
            way(bend=np.arctan),
            way(bend=lambda x: np.tanh(2 * x)),
            way(bend=lambda x: np.tanh(x / 2)),
            way(bend=lambda x: np.log1p(np.exp(x))),
            way(bend=lambda x: np.clip(x, -1, 1)),
            way(bend=lambda x: x / (1 + np.abs(x))),
            way(bend=lambda x: x / (1 + np.exp(-x))),
            way(bend=lambda x: np.where(x > 0, x, 0.01 * x)),
        ),
    ),
    Mistake(
        "tanh comes after v, around the whole score",
        (way(bend=same, weigh=lambda x, v: np.tanh(x @ v)),),
    ),
    Mistake("tanh is taken a second time, of the score", (way(weigh=lambda x, v: np.tanh(x @ v)),)),
    Mistake(
        "v multiplies before tanh: the sum of tanh(v · x)", (way(bend=same, weigh=lambda x, v: np.tanh(x * v).sum(-1)),)
    ),
    Mistake(
        "tanh is taken of each projection, before they are added",
        (way(pair=lambda q, k: np.tanh(q)[:, None] + np.tanh(k)[None], bend=same),),
    ),
    Mistake(
        "tanh is taken of each projection and of their sum",
        (way(pair=lambda q, k: np.tanh(q)[:, None] + np.tanh(k)[None]),),
    ),
    Mistake(
        "tanh is taken of the query's projection or the key's alone",
        (
            way(pair=lambda q, k: np.tanh(q)[:, None] + k[None], bend=same),
            way(pair=lambda q, k: q[:, None] + np.tanh(k)[None], bend=same),
        ),
    ),
    Mistake(
        "the weights are not transposed: q W in place of q Wᵀ",
        (
            way(project_query=lambda q, w, o: q @ w, project_key=lambda k, w, o: k @ w),
            way(project_query=lambda q, w, o: q @ w),
            way(project_key=lambda k, w, o: k @ w),
        ),
    ),
    Mistake(
        "the weights are reshaped where they should be transposed",
        (
            way(
                project_query=lambda q, w, o: q @ w.reshape(w.shape[::-1]),
                project_key=lambda k, w, o: k @ w.reshape(w.shape[::-1]),
            ),
            way(project_query=lambda q, w, o: q @ w.reshape(w.shape[::-1])),
            way(project_key=lambda k, w, o: k @ w.reshape(w.shape[::-1])),
        ),
    ),
    Mistake(
        "W_q and W_k are exchanged", (way(project_query=lambda q, w, o: q @ o.T, project_key=lambda k, w, o: k @ o.T),)
    ),
    Mistake("W_q projects the keys too", (way(project_key=lambda k, w, o: k @ o.T),)),
    Mistake("W_k projects the queries too", (way(project_query=lambda q, w, o: q @ o.T),)),
    Mistake("the queries are not used", (way(pair=lambda q, k: np.broadcast_to(k[None], (len(q), *k.shape))),)),
    Mistake(
        "the keys are not used", (way(pair=lambda q, k: np.broadcast_to(q[:, None], (len(q), len(k), q.shape[-1]))),)
    ),
    Mistake(
        "projections are subtracted, not added",
        (
            way(pair=lambda q, k: q[:, None] - k[None]),
            way(pair=lambda q, k: k[None] - q[:, None]),
        ),
    ),
    Mistake("projections are multiplied, not added", (way(pair=lambda q, k: q[:, None] * k[None]),)),
    Mistake(
        "the mean of the projections is taken, not their sum", (way(pair=lambda q, k: (q[:, None] + k[None]) / 2),)
    ),
    Mistake("the larger of the projections is taken", (way(pair=lambda q, k: np.maximum(q[:, None], k[None])),)),
    Mistake(
        "the score is the product of the projections: the dot product, not the additive score",
        (
            way(pair=lambda q, k: q[:, None] * k[None], bend=same, weigh=lambda x, v: x.sum(-1)),
            way(pair=lambda q, k: q[:, None] * k[None], bend=same, weigh=lambda x, v: x.sum(-1) / np.sqrt(x.shape[-1])),
            way(pair=lambda q, k: q[:, None] * k[None], bend=same),
            way(pair=lambda q, k: q[:, None] * k[None], bend=same, weigh=lambda x, v: np.tanh(x.sum(-1))),
        ),
    ),
    Mistake("v is left out: the sum of tanh is taken", (way(weigh=lambda x, v: x.sum(-1)),)),
    Mistake("v is left out: the mean of tanh is taken", (way(weigh=lambda x, v: x.mean(-1)),)),
    Mistake("v multiplies and the mean is taken, not the sum", (way(weigh=lambda x, v: (x * v).mean(-1)),)),
    Mistake(
        "v multiplies and nothing is summed: [Q, T, A]", (way(weigh=lambda x, v: x * v), way(weigh=lambda x, v: x))
    ),
    Mistake("v is divided by its length", (way(weigh=lambda x, v: x @ v / np.linalg.norm(v)),)),
    Mistake("v is squared or made positive", (way(weigh=lambda x, v: x @ v**2), way(weigh=lambda x, v: x @ np.abs(v)))),
    Mistake("v is reversed", (way(weigh=lambda x, v: x @ v[::-1]),)),
    Mistake("v multiplies and is added", (way(weigh=lambda x, v: (x + v).sum(-1)),)),
    Mistake("the largest entry is taken, not the sum", (way(weigh=lambda x, v: (x * v).max(-1)),)),
    Mistake(
        "the sum runs over the keys, not over the A hidden units",
        (
            way(weigh=lambda x, v: (x * v).sum(1)),
            way(weigh=lambda x, v: (x * v).sum(0)),
        ),
    ),
    Mistake(
        "the score is divided by √A or √D",
        (
            way(weigh=lambda x, v: x @ v / np.sqrt(x.shape[-1])),
            way(project_query=lambda q, w, o: q @ w.T, weigh=lambda x, v: x @ v / x.shape[-1]),
            way(pair=lambda q, k: (q[:, None] + k[None]) / np.sqrt(q.shape[-1])),
        ),
    ),
    Mistake(
        "the score is divided by √D or D, as a dot product is",
        (
            way(scale=lambda s, q: s / np.sqrt(q.shape[-1])),
            way(scale=lambda s, q: s / q.shape[-1]),
            way(
                project_query=lambda q, w, o: q @ w.T / np.sqrt(q.shape[-1]),
                project_key=lambda k, w, o: k @ w.T / np.sqrt(k.shape[-1]),
            ),
        ),
    ),
    Mistake(
        "a softmax is taken: the scores alone are due",
        (
            way(end=lambda s: _softmax(s, -1)),
            way(end=lambda s: _softmax(s, 0)),
        ),
    ),
    Mistake(
        "queries and keys are laid along the wrong axes: the result is [T, Q]",
        (way(end=np.transpose),),
    ),
    Mistake(
        "query i meets key i alone",
        (
            way(pair=lambda q, k: q + k),
            way(pair=lambda q, k: np.concatenate([q, k])),
            way(pair=lambda q, k: q[: len(k)] + k[: len(q)]),
        ),
    ),
    Mistake(
        "the keys are summed or averaged before",
        (
            way(pair=lambda q, k: q + k.mean(0)),
            way(pair=lambda q, k: q + k.sum(0)),
        ),
    ),
    Mistake(
        "every query is the first one",
        (way(pair=lambda q, k: np.broadcast_to(q[:1, None] + k[None], (len(q), *k.shape))),),
    ),
    Mistake(
        "every key is the first one",
        (way(pair=lambda q, k: np.broadcast_to(q[:, None] + k[None, :1], (len(q), *k.shape))),),
    ),
    Mistake("a bias of 1 is added", (way(pair=lambda q, k: q[:, None] + k[None] + 1),)),
    Mistake(
        "the last key is never computed",
        (way(end=lambda s: np.concatenate([s[:, :-1], np.zeros_like(s[:, -1:])], 1)), way(end=lambda s: s[:, :-1])),
    ),
    *ends("end", batch=False),
)


def made() -> tuple[Case, ...]:
    """Make queries, keys and weights of lengths that differ."""
    random = np.random.default_rng(9)

    def some(*shapes: tuple[int, ...]) -> tuple[Array, ...]:
        return tuple(random.normal(size=shape).astype(np.float32) for shape in shapes)

    whole = tuple(
        random.integers(-1, 2, size=shape).astype(np.float32) for shape in ((2, 2), (3, 2), (4, 2), (4, 2), (4,))
    )
    whole[4][:] = [1, 2, -1, 1]
    return (
        Case("small whole numbers", whole),
        Case("4 queries, 6 keys, width 5, 3 hidden units", some((4, 5), (6, 5), (3, 5), (3, 5), (3,))),
        Case("6 queries, 3 keys, width 4, 7 hidden units", some((6, 4), (3, 4), (7, 4), (7, 4), (7,))),
        Case("equal lengths", some((4, 4), (4, 4), (4, 4), (4, 4), (4,)), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give queries and keys of a head of mini-bert, with weights made for them."""
    query, key, _ = recordings.heads("mini-bert")
    random = np.random.default_rng(19)
    weights = tuple(
        (random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32) for shape in ((12, 32), (12, 32), (12,))
    )
    return (Case("queries and keys of a head of mini-bert", (query[0, :9], key[0], *weights)),)


TASK = Task(
    9,
    "additive",
    "beyond",
    "additive_scores",
    ("query", "key", "w_query", "w_key", "v"),
    title=Both("The additive score", "加性分数"),
    asked=Both(
        "query [Q, D] and key [T, D] are given, w_query and w_key [A, D] as nn.Linear keeps them ([out, in]), and "
        "v [A]. Return "
        "the scores [Q, T] of Bahdanau et al. (2015): v · tanh(W_q q + W_k k) for each query and key.",
        "给定 query [Q, D]、key [T, D]，按 nn.Linear 的方式存放（[out, in]）的 w_query、w_key [A, D]，以及 v [A]。"
        "返回 Bahdanau 等人（2015）的分数 [Q, T]：每个 query 与 key 的 v · tanh(W_q q + W_k k)。",
    ),
    hints=(
        Both(
            "score(i, j) = Σ_a v_a tanh((W_q q_i)_a + (W_k k_j)_a).",
            "score(i, j) = Σ_a v_a tanh((W_q q_i)_a + (W_k k_j)_a)。",
        ),
        Both(
            "One hidden unit, W_q = W_k = 1 and v = 2: query 1 and key 0 have the score 2 tanh(1) = 1.52.",
            "只有一个隐藏单元、W_q = W_k = 1、v = 2：query 1 与 key 0 的分数为 2 tanh(1) = 1.52。",
        ),
        Both(
            "Weights of shape [out, in] multiply as q Wᵀ. Every query meets every key: lay the projections as [Q, "
            "1, A] and "
            "[1, T, A], add them, and let tanh come before v.",
            "形状为 [out, in] 的权重按 q Wᵀ 相乘。每个 query 与每个 key 相遇：把投影排成 [Q, 1, A] 与 [1, T, A] 再"
            "相加，tanh 在 v 之前。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("scores",),
)
