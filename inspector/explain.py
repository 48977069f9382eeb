"""Rebuilds one cell of a map step by step from its query and its key, to show why the weight is what it is.

    score_j = cap(q . k_j * scale) + bias_j, masked        weight_j = exp(score_j - log sum_t exp(score_t))

A sigmoid takes each score by itself: weight_j = exp(score_j - log(1 + exp(score_j))), the score less ln n before.

This is BertViz' neuron view (Vig 2019, section 2.3) for every known attention function. All is computed in float64
from the inputs of the attention call: nothing is taken from the map, which is only compared with the answer.

Shapes: Q query positions, T key positions, E head width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.trace import AttentionRecord, AttentionSite, Trace
from models.attention.functions import AttentionFunction, ComposedAttention, DotProductAttention
from models.attention.given import ONLY_GIVEN, GivenWeights
from models.attention.relative import AlibiBias, ShawScore, T5Bias, XlScore, clipped
from models.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LinearScore,
    NaiveAdditiveScore,
    ScoreFunction,
    positive_features,
)
from models.attention.side_keys import SideKeyAttention
from models.huggingface.block_sparse import RepeatedBlock
from models.huggingface.eager_attention import EagerAttention
from models.huggingface.eager_output import SeenSoftmax

Float64Array = NDArray[np.float64]

LOWEST = float(torch.finfo(torch.float32).min)  # what transformers adds to a masked score
TOLERANCE = 1e-5  # between the rebuilt weight and the recorded one; float32 leaves 1e-6 or less


@dataclass(frozen=True)
class WeightStep:
    """One step from the vectors to the weight: its operand (None for none) and the value after it.

    name: "dot product", "logarithm" (linear attention's), "scale", "soft-cap", "bias", "mask", "keys" (a sigmoid's
    -ln n), "normaliser" or "weight"; the first is "score" where the attention was seen and not computed.
    """

    name: str
    operand: float | None
    value: float


@dataclass(frozen=True)
class Explanation:
    """One cell of a map, rebuilt from its query and key.

    q, k: float64 [E], as they enter the product: as recorded (after biases and RoPE's rotation), or as `note` says.
    products: float64 [E], what each dimension adds to the dot product. All three are empty where they are not known.
    hidden: why the query does not see the key, None where it does. sink: the score beside the keys' scores (gpt-oss),
    or log sum exp of the side keys' scores (LongT5, Pegasus-X). normaliser: log sum_t exp(score_t) over the keys that
    the query sees, and the sink; of a sigmoid log(1 + exp(score)) of this key alone. normalised: whether a softmax
    makes the weights, and not a sigmoid. row: float64 [steps, T], the values of all keys of the query after each step,
    -inf where masked. rank: 1 for the key with the largest weight of the row, among `seen` keys that the query sees.
    bias: whose bias is added, "" for none. recorded: the weight in the map. more: arguments of the model's function
    that this knows nothing of.
    """

    site: AttentionSite
    head: int
    query: int
    key: int
    q: Float64Array
    k: Float64Array
    products: Float64Array
    note: str
    bias: str
    steps: tuple[WeightStep, ...]
    row: Float64Array
    hidden: str | None
    normaliser: float
    sink: float | None
    rank: int
    seen: int
    recorded: float
    more: tuple[str, ...]
    normalised: bool = True

    @property
    def weight(self) -> float:
        """The rebuilt weight."""
        return self.steps[-1].value

    @property
    def score(self) -> float:
        """The softmax's input; -inf where it is masked."""
        return self.steps[-3].value

    @property
    def difference(self) -> float:
        """The rebuilt weight less the recorded one."""
        return self.weight - self.recorded

    @property
    def holds(self) -> bool:
        """True if the rebuilt and the recorded weight are equal, apart from rounding."""
        return abs(self.difference) <= TOLERANCE

    @property
    def divides(self) -> bool:
        """True if the scale is 1 / sqrt(d_k), d_k the width of the vectors."""
        scale = next((step.operand for step in self.steps if step.name == "scale"), None)
        width = len(self.products)
        return scale is not None and width > 1 and math.isclose(scale, width**-0.5, rel_tol=1e-6)

    def carriers(self, share: float = 0.8) -> NDArray[np.intp]:
        """The fewest dimensions whose products together reach `share` of the dot product, the largest product first.

        Products of the other sign, which pull it back, are not among them.
        """
        dot = self.products.sum()
        toward = self.products * np.sign(dot)
        order = np.argsort(-toward, kind="stable")
        reached = np.cumsum(toward[order]) >= share * abs(dot)
        return order[: int(reached.argmax()) + 1] if dot else order[:0]


def why(
    trace: Trace, *, layer: int, head: int, query: int, key: int, stream: str | None = None, call: int = 0
) -> Explanation:
    """Rebuild the weight of one query and key.

    A function with unknown arguments is rebuilt as far as it is known; `holds` is False then, unless the unknown
    arguments do nothing. Raises ValueError for a layer, head, stream, query or key out of range.
    """
    record = trace.record_of_head(layer, head, stream, call=call)
    site = record.site
    for name, position, tokens in (("query", query, site.queries), ("key", key, site.keys)):
        if not 0 <= position < len(tokens):
            raise ValueError(f"{name} {position} is out of range: the {site.stream} has 0 to {len(tokens) - 1}")
    if isinstance(record.function, GivenWeights):
        raise ValueError(f"attention that was given has no scores that make a weight: {ONLY_GIVEN}")
    allowed = _allowed(record, query)
    terms = query_key_terms(record, query)
    sink = _sink(record, query)
    row = _score_rows(record, query, terms, allowed)
    scores = row[-1].values
    if record.function.normalised:
        normalisers = np.full_like(scores, _log_sum_exp(scores if sink is None else np.append(scores, sink)))
    else:
        normalisers = np.logaddexp(0, scores)
    row.append(RowStep("normaliser", normalisers, scores - normalisers))
    weights = np.exp(scores - normalisers)
    row.append(RowStep("weight", None, weights))
    row_of_query = slice(query, query + 1)
    keys = slice(key, key + 1)
    recorded = trace.window(layer=layer, head=head, stream=site.stream, call=call, queries=row_of_query, keys=keys)
    return Explanation(
        site=site,
        head=head,
        query=query,
        key=key,
        q=terms.q,
        k=terms.k[key],
        products=terms.products[key],
        note=terms.note,
        bias=bias_name(record.function),
        steps=tuple(_of_key(step, key) for step in row),
        row=np.stack([np.where(step.values > LOWEST / 2, step.values, -np.inf) for step in row]),
        hidden=None if allowed[key] else _why_hidden(site, allowed, query=query, key=key),
        normaliser=float(normalisers[key]),
        sink=sink,
        rank=1 + int((weights > weights[key]).sum()),
        seen=int(allowed.sum()),
        recorded=float(recorded[0, 0]),
        more=_more(record.function),
        normalised=record.function.normalised,
    )


def _of_key(row: RowStep, key: int) -> WeightStep:
    value, operand = float(row.values[key]), None if row.operand is None else float(row.operand[key])
    return WeightStep(row.name, operand, value if value > LOWEST / 2 else float("-inf"))


def _log_sum_exp(scores: Float64Array) -> float:
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()))


def _allowed(record: AttentionRecord, query: int) -> NDArray[np.bool_]:
    """True for each key that the query sees: [T]."""
    keys = len(record.site.keys)
    if record.mask is None:
        return np.ones(keys, bool)
    row: NDArray[np.bool_] = record.mask.rows(query, query + 1).cpu().numpy()[0, 0, 0]
    return np.broadcast_to(row, keys)


def _why_hidden(site: AttentionSite, allowed: NDArray[np.bool_], *, query: int, key: int) -> str:
    if site.stream == "decoder" and key > query and not allowed[query + 1 :].any():
        return "still to come"
    if site.window is not None and abs(key - query) >= site.window:
        return f"outside the window: {abs(key - query)} tokens away, and this layer sees less than {site.window}"
    return "hidden by the model's mask"


def _more(function: AttentionFunction) -> tuple[str, ...]:
    known = {"scaling", "softcap", "position_bias", "sliding_window", "s_aux"}
    return tuple(sorted(set(function.arguments) - known)) if isinstance(function, EagerAttention) else ()


# --- from one query and all keys to the softmax's input --------------------------------------------------------------


class QueryKeyTerms(NamedTuple):
    """The query [E] and all keys [T, E] as they enter the product, and the product of each dimension [T, E].

    note: a sentence that says what was applied to them before, "" if nothing.
    """

    q: Float64Array
    k: Float64Array
    products: Float64Array
    note: str = ""


class RowStep(NamedTuple):
    """A step for all keys of a query: the operand [T] or None, and the values [T] after it.

    name: as of a `WeightStep`; of scores that were seen and not computed "score".
    """

    name: str
    operand: Float64Array | None
    values: Float64Array


def query_key_terms(record: AttentionRecord, query: int) -> QueryKeyTerms:
    """The terms of a query and its keys; the record is of one head."""
    q, k = _numbers(record.query[0, query]), _numbers(record.key[0])
    function = record.function
    score: ScoreFunction = function.score if isinstance(function, ComposedAttention) else DotScore()
    match score:
        case CosineScore():
            q, k = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12) for x in (q, k))
            return QueryKeyTerms(
                q, k, q * k, "Here q and k are divided by their lengths first: the dot product is their cosine."
            )
        case LinearScore():
            q, k = (_numbers(positive_features(torch.tensor(x))) for x in (q, k))
            note = "Here q stands for elu(q) + 1 and k for elu(k) + 1, which are above 0 (Katharopoulos et al. 2020)."
            return QueryKeyTerms(q, k, q * k, note)
        case GeneralScore():
            q = q @ _numbers(score.weight[0])
            return QueryKeyTerms(
                q, k, q * k, "Here q stands for qW, with a matrix W of the head's own (Luong et al. 2015)."
            )
        case AdditiveScore():
            q = q @ _numbers(score.query_weight[0]).T + _numbers(score.bias[0])
            k = k @ _numbers(score.key_weight[0]).T
            note = (
                "This score is no dot product: q stands for W_q q + b, k for W_k k, and each dimension gives "
                "v tanh(q + k) (Bahdanau et al. 2015)."
            )
            return QueryKeyTerms(q, k, _numbers(score.v[0]) * np.tanh(q + k), note)
        case ShawScore():
            apart = clipped(slice(query, query + 1), len(k), offset=score.offset, table=score.table)[0]
            k = k + _numbers(score.table[apart])
            return QueryKeyTerms(q, k, q * k, "Here k has the vector of its distance added (Shaw et al. 2018).")
        case XlScore():
            u, v, far = (_numbers(tensor[0]) for tensor in (score.content, score.place, score.far))
            behind = np.clip(score.offset + query - np.arange(len(k)) - score.first, 0, None)
            note = (
                "Here each product is (q + u) k + (q + v) r: u and v are vectors of the head, r is the vector of the "
                "distance, its sines and cosines through W_R (Dai et al. 2019)."
            )
            return QueryKeyTerms(q, k, (q + u) * k + (q + v) * far[behind], note)
    return QueryKeyTerms(q, k, q * k)


def _numbers(tensor: Tensor) -> Float64Array:
    array: Float64Array = tensor.detach().double().cpu().numpy()
    return array


def _score_rows(record: AttentionRecord, query: int, terms: QueryKeyTerms, allowed: NDArray[np.bool_]) -> list[RowStep]:
    """The steps from the dot products to the softmax's input; `allowed` [T]: the keys that the query sees."""
    function = record.function
    if isinstance(function, SeenSoftmax):
        return [RowStep("score", None, _numbers(function.rows(slice(query, query + 1))[0, 0, 0]))]
    steps = [RowStep("dot product", None, terms.products.sum(axis=-1))]

    def then(name: str, operand: Float64Array | float | None, values: Float64Array) -> None:
        steps.append(RowStep(name, None if operand is None else np.broadcast_to(operand, values.shape), values))

    fill_first = isinstance(function, ComposedAttention) and function.fill_first
    if fill_first and record.mask is not None:
        then("mask", None, _filled(function, steps[-1].values, allowed))
    scale = _scale(function, width=terms.q.shape[-1])
    if isinstance(function, ComposedAttention) and function.score == LinearScore():
        then("logarithm", None, np.log(steps[-1].values))
    else:
        then("scale", scale, steps[-1].values * scale)
    if isinstance(function, EagerAttention) and function.arguments.get("softcap") is not None:
        cap = float(function.arguments["softcap"])
        then("soft-cap", cap, cap * np.tanh(steps[-1].values / cap))
    added = function.added(slice(query, query + 1), len(terms.k))
    if added is not None:
        bias = _numbers(added.flatten())
        then("bias", bias, steps[-1].values + bias)
    if record.mask is not None and not fill_first:
        then("mask", None, _filled(function, steps[-1].values, allowed))
    if not function.normalised:
        then("keys", -np.log(max(allowed.sum(), 1)), steps[-1].values - np.log(max(allowed.sum(), 1)))
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


def scale_of(record: AttentionRecord) -> float | None:
    """Return the factor on q . k; None where queries and keys were not seen, or are compared by another score."""
    function = record.function
    dot = not isinstance(function, ComposedAttention) or isinstance(function.score, DotScore)
    try:
        return _scale(function, width=record.query.shape[-1]) if dot and record.query.shape[-1] else None
    except ValueError:
        return None


def formula(record: AttentionRecord) -> str:
    """The scores of a call as LaTeX, "QK^T / sqrt(32) + B": with scale, soft-cap, bias and a sigmoid's -ln n."""
    function, width = record.function, record.query.shape[-1]
    if isinstance(function, SeenSoftmax):
        return r"\mathrm{score}(Q, K)"
    score = function.score if isinstance(function, ComposedAttention) else DotScore()
    written = {
        CosineScore: r"\cos(Q, K)",
        LinearScore: r"\ln\,\phi(Q)\phi(K)^\top",
        GeneralScore: r"QWK^\top",
        AdditiveScore: r"v^\top\tanh(QW_q + KW_k + b)",
        NaiveAdditiveScore: r"v^\top\tanh(QW_q + KW_k + b)",
        ShawScore: r"Q(K + a)^\top",
        XlScore: r"\left((Q + u)K^\top + (Q + v)R^\top\right)",
    }.get(type(score), r"QK^\top")
    factor = _scale(function, width=width)
    if math.isclose(factor, width**-0.5, rel_tol=1e-6):
        written += r" / \sqrt{d_k}"
    elif factor != 1:
        written += rf" \times {factor:.3g}"
    cap = function.arguments.get("softcap") if isinstance(function, EagerAttention) else None
    if cap is not None:
        written = rf"{cap:g}\tanh({written} / {cap:g})"
    return written + (" + B" if bias_name(function) else "") + ("" if function.normalised else r" - \ln n")


def _sink(record: AttentionRecord, query: int) -> float | None:
    """The score of whatever takes a part of a row and is no key of the text; None where there is nothing.

    It is the score of a head's sink (gpt-oss), or log sum_g exp(score_g) over the side keys (LongT5, Pegasus-X). The
    record is of one head.
    """
    function = record.function
    if isinstance(function, SideKeyAttention):
        rows = slice(query, query + 1)
        return float(function.side_scores(record.query[None, :, rows], rows).double().logsumexp(dim=-1))
    sinks = function.module.get("sinks") if isinstance(function, EagerAttention) else None
    return None if sinks is None else float(_numbers(sinks)[0])


def _filled(function: AttentionFunction, scores: Float64Array, allowed: NDArray[np.bool_]) -> Float64Array:
    """Fill the masked scores as the function does."""
    if isinstance(function, ComposedAttention):
        return _numbers(function.fill(torch.tensor(scores), torch.tensor(allowed)))
    return np.where(allowed, scores, LOWEST if isinstance(function, EagerAttention) else -np.inf)


def bias_name(function: AttentionFunction) -> str:
    """The bias that a function adds, with its paper; "" where it adds none."""
    bias = function.bias if isinstance(function, ComposedAttention | SideKeyAttention) else None
    if isinstance(bias, AlibiBias):
        return "ALiBi: less a slope times the distance (Press et al. 2022)"
    if isinstance(bias, RepeatedBlock):
        return f"BigBird: ln {bias.times} for the first block's keys, which most queries meet {bias.times} times"
    given = isinstance(function, EagerAttention) and "position_bias" in function.arguments
    return "T5: a learned number for the distance (Raffel et al. 2020)" if given or isinstance(bias, T5Bias) else ""


# --- as tables -----------------------------------------------------------------------------------------------------


def way(cell: Explanation) -> pd.DataFrame:
    """Return a row per step: step, operand (NaN for none), value."""
    steps = [(step.name, np.nan if step.operand is None else step.operand, step.value) for step in cell.steps]
    return pd.DataFrame(steps, columns=["step", "operand", "value"])


def dimensions(cell: Explanation) -> pd.DataFrame:
    """Return a row per dimension of the head: dimension, q, k, product."""
    numbers = {"q": cell.q, "k": cell.k, "product": cell.products}
    return pd.DataFrame({"dimension": np.arange(len(cell.products)), **numbers})
