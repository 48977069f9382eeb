"""Reads: which queries, keys and values each step of a cached run reads, as the steps were seen to run.

Step t computes the query, key and value of token t, and its output softmax(q_t K^T) V reads one query, its own, and
every key and value so far. So k_t and v_t are read at each of the n - t steps from t on, q_t at one: a cache of queries
would keep what nobody asks for again.

Shapes: n tokens and as many steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.stepwise.forcing import why_not
from inspector.trace import Trace
from models import LoadedModel
from models.attention import AttentionCall, watch
from models.decoding import DecodedStep

Steps = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LayerReads:
    """One layer of a cached run, a row per step and a column per token.

    query, key: boolean [n, n], True where the step reads that token's query, or its key and value. made: boolean
    [n, n], True where the step computed the token's key and value. moved: the largest difference between a key or value
    as it is read later and as it was computed.
    """

    layer: int
    tokens: tuple[str, ...]
    query: Steps
    key: Steps
    made: Steps
    moved: float

    @property
    def counts(self) -> tuple[int, int]:
        """The reads of queries in all, and the reads of keys with their values."""
        return int(self.query.sum()), int(self.key.sum())


def reads(loaded: LoadedModel, trace: Trace, *, tokens: int) -> tuple[LayerReads, ...]:
    """Read the first tokens of a recorded text step by step with the cache, and watch each layer's self-attention.

    Raises ValueError for a model that writes nothing, a number of tokens that the text does not have, and a model whose
    cached attention cannot be watched.
    """
    if problem := why_not(loaded):
        raise ValueError(f"{loaded.card.id} {problem}; choose a decoder or an encoder-decoder")
    text = trace.read_by("decoder")
    if not 1 <= tokens <= len(text):
        raise ValueError(f"tokens is {tokens}; the text has {len(text)}, so choose 1 to {len(text)}")
    steps: list[list[AttentionCall]] = [[]]

    def called(call: AttentionCall) -> None:
        if call.stream == "decoder":
            steps[-1].append(call)

    def stepped(step: DecodedStep) -> None:
        steps.append([])

    source = None if trace.target is None else torch.tensor([trace.encoding.ids])
    with watch(called):
        loaded.runner.follow(torch.tensor([text.ids[:tokens]]), source=source, watch=stepped)
    calls = [step for step in steps if step]
    if len(calls) != tokens or len({len(step) for step in calls}) != 1:
        raise ValueError(f"the attention of {loaded.card.id} cannot be watched while it writes; choose another model")
    sites = [site for site in trace.sites if site.stream == "decoder"]
    return tuple(
        _layer([step[index] for step in calls], layer=sites[index].layer, tokens=text.tokens[:tokens])
        for index in range(len(calls[0]))
    )


def _layer(calls: list[AttentionCall], *, layer: int, tokens: tuple[str, ...]) -> LayerReads:
    """Put one layer's calls, one a step, into rows."""
    count = len(calls)
    query, key, made = (np.zeros((count, count), dtype=bool) for _ in range(3))
    computed: dict[int, tuple[Tensor, Tensor]] = {}
    moved = 0.0
    for step, call in enumerate(calls):
        queries, keys = call.query.shape[2], call.key.shape[2]
        first = step + 1 - keys  # a layer with a window has dropped the tokens before
        query[step, step + 1 - queries : step + 1] = True
        seen = np.ones(keys, dtype=bool) if call.mask is None else call.mask.rows(0, queries).numpy()[0, 0].any(axis=0)
        key[step, first : step + 1] = seen
        for place in range(keys):
            token = first + place
            now = call.key[0, :, place], call.value[0, :, place]
            if token not in computed:
                computed[token] = now[0].clone(), now[1].clone()
                made[step, token] = True
            else:
                differences = (
                    float((later - first).abs().max()) for later, first in zip(now, computed[token], strict=True)
                )
                moved = max(moved, *differences)
    return LayerReads(layer, tokens, query, key, made, moved)
