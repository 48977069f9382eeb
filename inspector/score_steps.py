"""From one query and all keys to what goes into the softmax, step by step, in float64: any attention function at hand.

Shapes: T key positions, E head width.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.trace import AttentionRecord
from models.attention.functions import AttentionFunction, ComposedAttention, DotProductAttention
from models.attention.relative import AlibiBias, ShawScore, T5Bias, clipped
from models.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    NaiveAdditiveScore,
    ScoreFunction,
)
from models.attention.side_keys import SideKeyAttention
from models.huggingface.block_sparse import RepeatedBlock
from models.huggingface.eager_attention import EagerAttention
from models.huggingface.eager_output import SEEN

Array = NDArray[np.float64]

LOWEST = float(torch.finfo(torch.float32).min)  # what transformers adds to a masked score


class Met(NamedTuple):
    """q [E] and every k [T, E] as they meet in the score, what each dimension gives [T, E], and what `how` was done to
    them before: a sentence, "" for nothing."""

    q: Array
    k: Array
    products: Array
    how: str = ""


class Row(NamedTuple):
    """A step for all keys of a query: what comes in, `operand` [T] or None, and what is then there, `values` [T].

    name: "dot product", "scale", "soft-cap", "bias" or "mask"; of scores that were seen and not computed "score".
    """

    name: str
    operand: Array | None
    values: Array


def meet(record: AttentionRecord, query: int) -> Met:
    """Where a query of a record of one head meets its keys."""
    q, k = _numbers(record.query[0, query]), _numbers(record.key[0])
    function = record.function
    score: ScoreFunction = function.score if isinstance(function, ComposedAttention) else DotScore()
    match score:
        case CosineScore():
            q, k = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12) for x in (q, k))
            return Met(q, k, q * k, "Here q and k are divided by their lengths first: the dot product is their cosine.")
        case GeneralScore():
            q = q @ _numbers(score.weight[0])
            return Met(q, k, q * k, "Here q stands for qW, with a matrix W of the head's own (Luong et al. 2015).")
        case AdditiveScore():
            q = q @ _numbers(score.query_weight[0]).T + _numbers(score.bias[0])
            k = k @ _numbers(score.key_weight[0]).T
            how = (
                "This score is no dot product: q stands for W_q q + b, k for W_k k, and each dimension gives "
                "v tanh(q + k) (Bahdanau et al. 2015)."
            )
            return Met(q, k, _numbers(score.v[0]) * np.tanh(q + k), how)
        case ShawScore():
            apart = clipped(slice(query, query + 1), len(k), offset=score.offset, table=score.table)[0]
            k = k + _numbers(score.table[apart])
            return Met(q, k, q * k, "Here k has the vector of its distance added (Shaw et al. 2018).")
    return Met(q, k, q * k)


def _numbers(tensor: Tensor) -> Array:
    array: Array = tensor.detach().double().cpu().numpy()
    return array


def scores(record: AttentionRecord, query: int, met: Met, allowed: NDArray[np.bool_]) -> list[Row]:
    """The steps from the dot products to what goes into the softmax; `allowed` [T]: the keys that the query sees."""
    function = record.function
    if isinstance(function, SEEN):
        return [Row("score", None, _numbers(function.rows(slice(query, query + 1))[0, 0, 0]))]
    steps = [Row("dot product", None, met.products.sum(axis=-1))]

    def then(name: str, operand: Array | float | None, values: Array) -> None:
        steps.append(Row(name, None if operand is None else np.broadcast_to(operand, values.shape), values))

    fill_first = isinstance(function, ComposedAttention) and function.fill_first
    if fill_first and record.mask is not None:
        then("mask", None, _filled(function, steps[-1].values, allowed))
    scale = _scale(function, width=met.q.shape[-1])
    then("scale", scale, steps[-1].values * scale)
    if isinstance(function, EagerAttention) and function.arguments.get("softcap") is not None:
        cap = float(function.arguments["softcap"])
        then("soft-cap", cap, cap * np.tanh(steps[-1].values / cap))
    added = function.added(slice(query, query + 1), len(met.k))
    if added is not None:
        bias = _numbers(added.flatten())
        then("bias", bias, steps[-1].values + bias)
    if record.mask is not None and not fill_first:
        then("mask", None, _filled(function, steps[-1].values, allowed))
    return steps


def _scale(function: AttentionFunction, *, width: int) -> float:
    match function:
        case ComposedAttention() | SideKeyAttention():
            return function.factor
        case EagerAttention():
            return float(function.arguments.get("scaling", width**-0.5))  # as eager functions do without one
        case DotProductAttention():
            return function.scale
    raise ValueError(f"{type(function).__name__} is no attention function that can be taken apart")


def formula(record: AttentionRecord) -> str:
    """The scores of a call as LaTeX, "QK^T / sqrt(32) + B": its own scale, soft-cap and bias."""
    function, width = record.function, record.query.shape[-1]
    if isinstance(function, SEEN):
        return r"\mathrm{score}(Q, K)"
    score = function.score if isinstance(function, ComposedAttention) else DotScore()
    written = {
        CosineScore: r"\cos(Q, K)",
        GeneralScore: r"QWK^\top",
        AdditiveScore: r"v^\top\tanh(QW_q + KW_k + b)",
        NaiveAdditiveScore: r"v^\top\tanh(QW_q + KW_k + b)",
        ShawScore: r"Q(K + a)^\top",
    }.get(type(score), r"QK^\top")
    factor = _scale(function, width=width)
    if math.isclose(factor, width**-0.5, rel_tol=1e-6):
        written += r" / \sqrt{d_k}"
    elif factor != 1:
        written += rf" \times {factor:.3g}"
    cap = function.arguments.get("softcap") if isinstance(function, EagerAttention) else None
    if cap is not None:
        written = rf"{cap:g}\tanh({written} / {cap:g})"
    return written + (" + B" if bias_name(function) else "")


def sink(record: AttentionRecord, query: int) -> float | None:
    """What takes a part of a row and is no key of the text, as one score; None where there is nothing.

    That of a head's sink (gpt-oss), or log sum_g exp(score_g) over the side keys (LongT5, Pegasus-X). The record is of
    one head.
    """
    function = record.function
    if isinstance(function, SideKeyAttention):
        one = slice(query, query + 1)
        return float(function.side_scores(record.query[None, :, one], one).double().logsumexp(dim=-1))
    sinks = function.module.get("sinks") if isinstance(function, EagerAttention) else None
    return None if sinks is None else float(_numbers(sinks)[0])


def _filled(function: AttentionFunction, scores: Array, allowed: NDArray[np.bool_]) -> Array:
    """Scores with the masked ones as the function fills them."""
    if isinstance(function, ComposedAttention):
        return _numbers(function.fill(torch.tensor(scores), torch.tensor(allowed)))
    return np.where(allowed, scores, LOWEST if isinstance(function, EagerAttention) else -np.inf)


def bias_name(function: AttentionFunction) -> str:
    """Whose bias a function adds, with its paper; "" where it adds none."""
    bias = function.bias if isinstance(function, ComposedAttention | SideKeyAttention) else None
    if isinstance(bias, AlibiBias):
        return "ALiBi: less a slope times the distance (Press et al. 2022)"
    if isinstance(bias, RepeatedBlock):
        return f"BigBird: ln {bias.times} for the first block's keys, which most queries meet {bias.times} times"
    given = isinstance(function, EagerAttention) and "position_bias" in function.arguments
    return "T5: a learned number for the distance (Raffel et al. 2020)" if given or isinstance(bias, T5Bias) else ""
