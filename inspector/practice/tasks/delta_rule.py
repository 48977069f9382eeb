"""Task 13: the delta rule (Schlag et al. 2021; Yang et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, ends, same, way
from inspector.questions.record.both import Both


@dataclass(frozen=True)
class Step:
    """One step: q, k [E], v [F], beta, its number, the state before it [F, E], and all of the sequence."""

    q: Array
    k: Array
    v: Array
    beta: Any
    at: int
    state: Array
    query: Array
    key: Array
    value: Array
    betas: Array


def computed(
    query: Array,
    key: Array,
    value: Array,
    beta: Array,
    *,
    prepare: Callable[[Array], Array] = same,
    prepare_query: Callable[[Array], Array] = same,
    strength: Callable[[Array], Array] = same,
    start: Callable[[int, int], Array] = lambda rows, columns: np.zeros((rows, columns)),
    predicted: Callable[[Step], Array] = lambda s: s.state @ s.k,
    error: Callable[[Step, Array], Array] = lambda s, old: s.v - old,
    written: Callable[[Step, Array], Array] = lambda s, wrong: s.beta * np.outer(wrong, s.k),
    kept: Callable[[Step], Array] = lambda s: s.state,
    read: Callable[[Step, Array], Array] = lambda s, state: state @ s.q,
    last: Callable[[list[Array], Array, Array], Array] = lambda outputs, state, query: np.stack(outputs),
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return S_t q_t with S_t = S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T."""
    key, query, beta = prepare(key), prepare_query(query), strength(beta)
    state = start(value.shape[1], key.shape[1]).astype(value.dtype)
    outputs = []
    for at in range(len(query)):
        step = Step(query[at], key[at], value[at], beta[at], at, state, query, key, value, beta)
        state = kept(step) + written(step, error(step, predicted(step)))
        outputs.append(np.asarray(read(step, state)))
    return end(last(outputs, state, query))


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _softmax(x: Array) -> Array:
    p = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(p / p.sum(-1, keepdims=True))


def _without_own(s: Step) -> Array:
    return s.state @ s.key[s.at - 1] if s.at else s.state @ s.k


def _never_erased(s: Step) -> Array:
    written = s.betas[: s.at, None] * s.value[: s.at]
    return np.asarray((s.key[: s.at] @ s.k) @ written)


MISTAKES = (
    Mistake(
        "nothing is erased: S + β v kᵀ is linear attention, the delta rule takes S k away first",
        (way(predicted=lambda s: 0 * s.v),),
    ),
    Mistake("β is left out", (way(written=lambda s, wrong: np.outer(wrong, s.k)),)),
    Mistake(
        "nothing is erased and β is left out",
        (way(predicted=lambda s: 0 * s.v, written=lambda s, wrong: np.outer(wrong, s.k)),),
    ),
    Mistake(
        "β weighs the new value alone, not what is erased",
        (way(written=lambda s, wrong: np.outer(s.beta * s.v - s.state @ s.k, s.k)),),
    ),
    Mistake(
        "β weighs what is erased alone, not the new value",
        (way(written=lambda s, wrong: np.outer(s.v - s.beta * (s.state @ s.k), s.k)),),
    ),
    Mistake(
        "β is taken twice",
        (
            way(written=lambda s, wrong: s.beta**2 * np.outer(wrong, s.k)),
            way(written=lambda s, wrong: s.beta * np.outer(s.beta * s.v - s.state @ s.k, s.k)),
            way(written=lambda s, wrong: s.beta * np.outer(s.v - s.beta * (s.state @ s.k), s.k)),
        ),
    ),
    Mistake(
        "β of the first token is taken for all",
        (
            way(strength=lambda b: np.broadcast_to(b[:1], b.shape)),
            way(strength=lambda b: np.broadcast_to(b[-1:], b.shape)),
            way(strength=lambda b: np.broadcast_to(b.mean(keepdims=True), b.shape)),
        ),
    ),
    Mistake(
        "β of the token before is taken",
        (
            way(strength=lambda b: np.roll(b, 1)),
            way(strength=lambda b: np.concatenate([[0], b[:-1]])),
            way(strength=lambda b: np.roll(b, -1)),
        ),
    ),
    Mistake("1 − β is taken in β's place", (way(strength=lambda b: 1 - b),)),
    Mistake(
        "a sigmoid or softmax is taken of β",
        (
            way(strength=lambda b: 1 / (1 + np.exp(-b))),
            way(strength=_softmax),
            way(strength=np.tanh),
        ),
    ),
    Mistake("β divides", (way(strength=lambda b: 1 / b),)),
    Mistake("the output is read before the state is updated", (way(read=lambda s, state: s.state @ s.q),)),
    Mistake("the output is the state's answer to the key, not to the query", (way(read=lambda s, state: state @ s.k),)),
    Mistake(
        "query and key are exchanged",
        (
            way(
                predicted=lambda s: s.state @ s.q,
                written=lambda s, wrong: s.beta * np.outer(wrong, s.q),
                read=lambda s, state: state @ s.k,
            ),
        ),
    ),
    Mistake(
        "what the query reads is erased, not what the key reads: S q in place of S k",
        (way(predicted=lambda s: s.state @ s.q),),
    ),
    Mistake(
        "the error is written under the query, not under the key",
        (way(written=lambda s, wrong: s.beta * np.outer(wrong, s.q)),),
    ),
    Mistake("the sign of the error is wrong: S k − v", (way(error=lambda s, old: old - s.v),)),
    Mistake("what stands there is added, not taken away: v + S k", (way(error=lambda s, old: s.v + old),)),
    Mistake(
        "the new value is left out: the state only loses",
        (way(error=lambda s, old: -old), way(error=lambda s, old: old)),
    ),
    Mistake("the write is subtracted from the state", (way(written=lambda s, wrong: -s.beta * np.outer(wrong, s.k)),)),
    Mistake(
        "the outer product is transposed: k (v − S k)ᵀ",
        (
            way(written=lambda s, wrong: s.beta * np.outer(s.k, wrong)),
            way(read=lambda s, state: state.T @ s.q),
            way(predicted=lambda s: s.state.T @ s.k),
            way(predicted=lambda s: s.state.T @ s.k, read=lambda s, state: state.T @ s.q),
            way(written=lambda s, wrong: s.beta * np.outer(s.k, wrong), read=lambda s, state: state.T @ s.q),
            way(written=lambda s, wrong: s.beta * np.outer(s.k, wrong), predicted=lambda s: s.state.T @ s.k),
        ),
    ),
    Mistake(
        "the outer product is a product entry by entry",
        (
            way(written=lambda s, wrong: s.beta * wrong * s.k),
            way(written=lambda s, wrong: np.broadcast_to((s.beta * wrong * s.k)[:, None], s.state.shape)),
            way(written=lambda s, wrong: s.beta * (wrong @ s.k) * np.ones_like(s.state)),
        ),
    ),
    Mistake(
        "the state is multiplied with the key entry by entry, not as matrix and vector",
        (
            way(written=lambda s, wrong: s.beta * (s.v[:, None] - s.state * s.k) * s.k),
            way(predicted=lambda s: (s.state * s.k).mean(-1)),
        ),
    ),
    Mistake(
        "the state is replaced at each step, not added to",
        (
            way(kept=lambda s: 0 * s.state),
            way(kept=lambda s: 0 * s.state, predicted=lambda s: 0 * s.v),
        ),
    ),
    Mistake(
        "the state fades as a whole: (1 − β) S + β v kᵀ",
        (
            way(kept=lambda s: (1 - s.beta) * s.state, predicted=lambda s: 0 * s.v),
            way(kept=lambda s: s.beta * s.state, predicted=lambda s: 0 * s.v),
            way(kept=lambda s: (1 - s.beta) * s.state),
            way(kept=lambda s: s.beta * s.state),
            way(
                kept=lambda s: (1 - s.beta) * s.state,
                predicted=lambda s: 0 * s.v,
                written=lambda s, wrong: np.outer(wrong, s.k),
            ),
            way(
                kept=lambda s: s.beta * s.state,
                predicted=lambda s: 0 * s.v,
                written=lambda s, wrong: np.outer(wrong, s.k),
            ),
        ),
    ),
    Mistake(
        "the state does not begin with 0",
        (
            way(start=lambda f, e: np.ones((f, e))),
            way(start=lambda f, e: np.eye(f, e)),
        ),
    ),
    Mistake("all outputs are read from the last state", (way(last=lambda outputs, state, query: query @ state.T),)),
    Mistake(
        "only the last output is returned",
        (
            way(last=lambda outputs, state, query: outputs[-1]),
            way(last=lambda outputs, state, query: outputs[-1][None]),
        ),
    ),
    Mistake(
        "the state is returned, not the outputs",
        (way(last=lambda outputs, state, query: state), way(last=lambda outputs, state, query: state.T)),
    ),
    Mistake(
        "the outputs are added up over the tokens",
        (
            way(last=lambda outputs, state, query: np.cumsum(np.stack(outputs), axis=0)),
            way(last=lambda outputs, state, query: np.sum(outputs, axis=0)),
            way(
                last=lambda outputs, state, query: (
                    np.cumsum(np.stack(outputs), axis=0) / np.arange(1, len(outputs) + 1)[:, None]
                )
            ),
        ),
    ),
    Mistake(
        "the outputs are divided by the number of tokens so far", (way(read=lambda s, state: state @ s.q / (s.at + 1)),)
    ),
    Mistake(
        "the output is divided by √E",
        (
            way(read=lambda s, state: state @ s.q / np.sqrt(len(s.q))),
            way(read=lambda s, state: state @ s.q * np.sqrt(len(s.q))),
            way(read=lambda s, state: state @ s.q / len(s.q)),
        ),
    ),
    Mistake(
        "the output is divided by the sum of the keys' scores, as in linear attention",
        (way(read=lambda s, state: state @ s.q / (s.key[: s.at + 1].sum(0) @ s.q)),),
    ),
    Mistake(
        "the keys are divided by their lengths, which is not asked for",
        (
            way(prepare=_unit),
            way(prepare=_unit, prepare_query=_unit),
        ),
    ),
    Mistake("the queries are divided by their lengths, which is not asked for", (way(prepare_query=_unit),)),
    Mistake(
        "what is erased is divided by the key's squared length",
        (
            way(predicted=lambda s: s.state @ s.k / (s.k @ s.k)),
            way(written=lambda s, wrong: s.beta * np.outer(wrong, s.k) / (s.k @ s.k)),
        ),
    ),
    Mistake(
        "a softmax or another function is taken of queries and keys",
        (
            way(prepare=_softmax, prepare_query=_softmax),
            way(prepare=_softmax),
            way(prepare_query=_softmax),
            way(
                prepare=lambda x: np.where(x > 0, x + 1, np.exp(x)),
                prepare_query=lambda x: np.where(x > 0, x + 1, np.exp(x)),
            ),
            way(prepare=lambda x: np.maximum(x, 0), prepare_query=lambda x: np.maximum(x, 0)),
        ),
    ),
    Mistake(
        "what is erased is read from a state from which nothing was erased (the first term of the parallel form)",
        (way(predicted=_never_erased),),
    ),
    Mistake("the key of the token before is erased", (way(predicted=_without_own),)),
    Mistake(
        "what is erased stands under the value of the token before",
        (way(predicted=lambda s: s.value[s.at - 1] if s.at else 0 * s.v),),
    ),
    Mistake("the erased part is taken away a second time", (way(error=lambda s, old: s.v - 2 * old),)),
    Mistake(
        "the error is computed of the state after the value is written",
        (
            way(predicted=lambda s: (s.state + s.beta * np.outer(s.v, s.k)) @ s.k),
            way(predicted=lambda s: (s.state + np.outer(s.v, s.k)) @ s.k),
            way(
                written=lambda s, wrong: (
                    s.beta * np.outer(s.v, s.k) - s.beta * np.outer((s.state + s.beta * np.outer(s.v, s.k)) @ s.k, s.k)
                )
            ),
        ),
    ),
    Mistake("the order of the tokens is reversed", (way(last=lambda outputs, state, query: np.stack(outputs)[::-1]),)),
    Mistake("the value is the output", (way(read=lambda s, state: s.v), way(read=lambda s, state: s.beta * s.v))),
    Mistake("the result is transposed", (way(end=np.transpose),)),
    *ends("end", batch=False),
)


def made() -> tuple[Case, ...]:
    """Make short sequences, with keys that come back and β from 0 to 1."""
    random = np.random.default_rng(13)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    def strengths(n: int) -> Array:
        return random.uniform(0.1, 0.9, size=n).astype(np.float32)

    query = np.array([[1, 0], [1, 1], [0, 1]], np.float32)
    key = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    value = np.array([[2, 0, 1], [0, 4, 1], [2, 2, -1]], np.float32)
    return (
        Case("small whole numbers", (query, key, value, np.array([1, 0.5, 0.25], np.float32))),
        Case("6 tokens, widths 4 and 3", (some(6, 4), some(6, 4), some(6, 3), strengths(6))),
        Case("5 tokens, widths 3 and 7", (some(5, 3), some(5, 3), some(5, 7), strengths(5))),
        Case("equal lengths", (some(4, 4), some(4, 4), some(4, 4), strengths(4)), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give a head of mini-gpt, its keys divided by their lengths, with β made for it."""
    query, key, value = recordings.heads("mini-gpt")
    beta = np.random.default_rng(23).uniform(0.2, 0.9, size=len(key[0])).astype(np.float32)
    length = np.linalg.norm(key[0], axis=-1).mean() * 0.8
    return (Case("a head of mini-gpt", (query[0], (key[0] / length).astype(np.float32), value[0, :, :24], beta)),)


TASK = Task(
    13,
    "delta-rule",
    "beyond",
    "delta_rule",
    ("query", "key", "value", "beta"),
    title=Both("The delta rule", "delta 规则"),
    asked=Both(
        "query and key [n, E], value [n, F] and beta [n] are given. A state S [F, E] begins with 0. Token by token, "
        "S ← S + β (v − S k) kᵀ, and the output is S q with the new S. Return the outputs [n, F] (Schlag et al. "
        "2021; Yang et al. 2024).",
        "给定 query、key [n, E]，value [n, F]，beta [n]。状态 S [F, E] 从 0 开始。逐 token 更新 S ← S + β (v −"
        " S k) kᵀ，输出为用新 S 计算的 S q。返回输出 [n, F]（Schlag 等人，2021；Yang 等人，2024）。",
    ),
    hints=(
        Both(
            "S_t = S_{t−1} + β_t (v_t − S_{t−1} k_t) k_tᵀ, o_t = S_t q_t.",
            "S_t = S_{t−1} + β_t (v_t − S_{t−1} k_t) k_tᵀ，o_t = S_t q_t。",
        ),
        Both(
            "With β = 1 and a key of length 1, S k = v after the step: what stood there before is gone. Linear "
            "attention would give the "
            "sum of both values.",
            "当 β = 1 且 key 的长度为 1 时，一步之后 S k = v：原先的内容被替换。线性注意力则会给出两个 value 之和。",
        ),
        Both(
            "Compute v − S k with the state before the update, take β once, and read with the state after it. The "
            "outer product is "
            "[F] by [E].",
            "用更新前的状态计算 v − S k，β 只乘一次，用更新后的状态读取。外积为 [F] × [E]。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("outputs",),
)
