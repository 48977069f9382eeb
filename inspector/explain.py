"""Why a weight is what it is: one cell of a map, rebuilt step by step from its query and its key.

    score_j = cap(q . k_j * scale) + bias_j, masked        weight_j = exp(score_j - log sum_t exp(score_t))

This is BertViz' neuron view (Vig 2019, section 2.3) for every attention function at hand. All is computed in float64
from what went into the attention call: nothing is taken from the map, which is only held against the answer.

Shapes: Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import score_steps
from inspector.score_steps import Array, Row
from inspector.trace import AttentionRecord, AttentionSite, Trace
from models.attention.functions import AttentionFunction
from models.huggingface.eager_attention import EagerAttention

TOLERANCE = 1e-5  # between the rebuilt weight and the recorded one; float32 leaves 1e-6 or less


@dataclass(frozen=True)
class Step:
    """One step from the vectors to the weight: what comes in (`operand`, None for nothing) and what is then there.

    name: "dot product", "scale", "soft-cap", "bias", "mask", "normaliser" or "weight"; of an attention that was seen
    and not computed the first is "score".
    """

    name: str
    operand: float | None
    value: float


@dataclass(frozen=True)
class Explanation:
    """One cell rebuilt.

    q, k: float64 [E], as they meet in the score: as recorded (after biases and RoPE's rotation), or as `meeting` says.
    products: float64 [E], what each dimension adds to the dot product. All three are empty where they are not known.
    hidden: why the query does not see the key, None where it does. sink: the score beside those of the keys
    (gpt-oss), or log sum exp of those of side keys (LongT5, Pegasus-X).
    normaliser: log sum_t exp(score_t) over the keys that the query sees, and the sink.
    rank: 1 for the key with the largest weight of the row, among `seen` keys that the query sees.
    bias: whose bias is added, "" for none. recorded: the weight in the map.
    more: arguments of the model's function that this knows nothing of.
    """

    site: AttentionSite
    head: int
    query: int
    key: int
    q: Array
    k: Array
    products: Array
    meeting: str
    bias: str
    steps: tuple[Step, ...]
    hidden: str | None
    normaliser: float
    sink: float | None
    rank: int
    seen: int
    recorded: float
    more: tuple[str, ...]

    @property
    def weight(self) -> float:
        """The rebuilt weight."""
        return self.steps[-1].value

    @property
    def score(self) -> float:
        """What goes into the softmax; -inf where it is masked."""
        return self.steps[-3].value

    @property
    def difference(self) -> float:
        """The rebuilt weight less the recorded one."""
        return self.weight - self.recorded

    @property
    def holds(self) -> bool:
        """Whether the two are the same but for rounding."""
        return abs(self.difference) <= TOLERANCE

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
    """The weight of one query and key, rebuilt.

    A function with more to it than is known here is rebuilt as far as it is known; `holds` is False then, unless the
    rest does nothing. Raises ValueError for a layer, head, stream, query or key out of range.
    """
    record = trace.record_of_head(layer, head, stream, call=call)
    site = record.site
    for name, position, tokens in (("query", query, site.queries), ("key", key, site.keys)):
        if not 0 <= position < len(tokens):
            raise ValueError(f"{name} {position} is out of range: the {site.stream} has 0 to {len(tokens) - 1}")
    allowed = _allowed(record, query)
    met = score_steps.meet(record, query)
    sink = score_steps.sink(record, query)
    row = score_steps.scores(record, query, met, allowed)
    scores = row[-1].values
    normaliser = _log_sum_exp(scores if sink is None else np.append(scores, sink))
    row.append(Row("normaliser", np.full_like(scores, normaliser), scores - normaliser))
    weights = np.exp(scores - normaliser)
    row.append(Row("weight", None, weights))
    one = slice(query, query + 1)
    keys = slice(key, key + 1)
    recorded = trace.window(layer=layer, head=head, stream=site.stream, call=call, queries=one, keys=keys)
    return Explanation(
        site=site,
        head=head,
        query=query,
        key=key,
        q=met.q,
        k=met.k[key],
        products=met.products[key],
        meeting=met.how,
        bias=score_steps.bias_name(record.function),
        steps=tuple(_of_key(step, key) for step in row),
        hidden=None if allowed[key] else _why_hidden(site, allowed, query=query, key=key),
        normaliser=normaliser,
        sink=sink,
        rank=1 + int((weights > weights[key]).sum()),
        seen=int(allowed.sum()),
        recorded=float(recorded[0, 0]),
        more=_more(record.function),
    )


def _of_key(row: Row, key: int) -> Step:
    value, operand = float(row.values[key]), None if row.operand is None else float(row.operand[key])
    return Step(row.name, operand, value if value > score_steps.LOWEST / 2 else float("-inf"))


def _log_sum_exp(scores: Array) -> float:
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()))


def _allowed(record: AttentionRecord, query: int) -> NDArray[np.bool_]:
    """Which keys the query sees: [T]."""
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


# --- as tables -----------------------------------------------------------------------------------------------------


def way(cell: Explanation) -> pd.DataFrame:
    """A row per step: step, operand (NaN for none), value."""
    steps = [(step.name, np.nan if step.operand is None else step.operand, step.value) for step in cell.steps]
    return pd.DataFrame(steps, columns=["step", "operand", "value"])


def dimensions(cell: Explanation) -> pd.DataFrame:
    """A row per dimension of the head: dimension, q, k, product."""
    numbers = {"q": cell.q, "k": cell.k, "product": cell.products}
    return pd.DataFrame({"dimension": np.arange(len(cell.products)), **numbers})
