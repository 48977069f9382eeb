"""Recorded tensors of the project's own small models, which every installation has: what a solution is held to last."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from inspector.trace import Trace

TEXT = "The cat sat on the mat because it was tired."
LAYER = 1

Array = NDArray[Any]


@cache
def trace(model: str) -> Trace:
    """Record the text in a model; once a process."""
    import models
    from inspector.probe import record

    return record(models.load(model), TEXT)


def heads(model: str) -> tuple[Array, Array, Array]:
    """Give query, key and value of a layer's first and last head, each [2, tokens, E], as a batch."""
    record = trace(model).attentions[LAYER]
    query, key, value = (np.array(x.numpy(), np.float32) for x in (record.query, record.key, record.value))
    shared_by = len(query) // len(key)
    key, value = np.repeat(key, shared_by, 0), np.repeat(value, shared_by, 0)
    return query[[0, -1]], key[[0, -1]], value[[0, -1]]


def projected(model: str) -> tuple[Array, Array, Array, int]:
    """Give query, key and value of all heads of two layers side by side, each [2, tokens, D], and how many heads."""
    records = trace(model).attentions[LAYER : LAYER + 2]
    count = records[0].site.heads
    parts = []
    for name in ("query", "key", "value"):
        every = [np.array(getattr(record, name).numpy(), np.float32) for record in records]
        parts.append(np.stack([np.concatenate(list(of_layer), axis=-1) for of_layer in every]))
    return parts[0], parts[1], parts[2], count


def norm_inputs(model: str) -> tuple[Array, Array, Array]:
    """Give the inputs [2, tokens, D] of a norm of two layers, and gamma and beta [D] of the first."""
    norms = [norm for norm in trace(model).norms if norm.layer in (LAYER, LAYER + 1) and norm.part == "ffn"]
    x = np.stack([np.array(norm.input, np.float32) for norm in norms])
    return x, np.array(norms[0].gamma, np.float32), np.array(norms[0].beta, np.float32)


def next_token(model: str, places: tuple[int, ...]) -> Array:
    """Give the log probabilities [places, V] of the token that comes behind each place, in float32."""
    import models

    predict = models.load(model).predict
    assert predict is not None, "mini-gpt has a head"
    logits = predict(trace(model).hidden[None, list(places)])[0]
    return np.array(logits.log_softmax(-1).numpy(force=True), np.float32)
