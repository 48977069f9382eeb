"""The costs of writing token by token, with a KV cache and without, from the configuration alone.

Without a cache every step runs the decoder over all tokens so far; with one over the newest alone, which attends to the
keys and values that were kept. `by_step` has the formulas of `inspector.costs.formulas` for the project's Transformer;
`counted_by_step` takes any model's polynomials from `inspector.costs.count`. No weights are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs import stacks
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts
    from inspector.costs.kv_cache import CacheSizes


def by_step(
    config: TransformerConfig, *, steps: int, begun: int = 1, source: int | None = None, element_bytes: int = 4
) -> pd.DataFrame:
    """FLOPs and cache of each step of writing one text, a row per step.

    begun: how many tokens are there before the first new one (1: the start token alone), which the first step reads at
    once; source: the tokens of what an encoder-decoder translates. The encoder's own work, done once either way, is not
    counted; the first step with a cache projects the source's keys and values.

    Columns: step (from 1), tokens (read so far), flops_cached, flops_uncached (matrix products, 1 multiply-add = 2;
    they equal torch.utils.flop_counter exactly), their running sums total_cached and total_uncached, cache_bytes (of
    all keys and values kept after the step).

    Raises ValueError for a number below 1, an encoder, or a source too many or too few.
    """
    if min(steps, begun, 1 if source is None else source) < 1:
        raise ValueError(f"steps {steps}, begun {begun}, source {source}: each must be at least 1")
    if config.shape == "encoder" or (config.shape == "encoder-decoder") != (source is not None):
        wants = {"encoder": "does not write", "decoder": "reads no source", "encoder-decoder": "reads a source"}
        raise ValueError(f"this {config.shape} {wants[config.shape]}, and source is {source}")
    rows = []
    for step in range(1, steps + 1):
        tokens = begun + step - 1
        past = 0 if step == 1 else tokens - 1
        cached = list(stacks.decoder(config, tokens - past, source, 1, past=past, predicted=1))
        uncached = list(stacks.decoder(config, tokens, source, 1, predicted=1))
        cached_bytes = element_bytes * sum(placed.cost.cached for placed in cached)
        rows.append((step, tokens, _products(cached), _products(uncached), cached_bytes))
    table = pd.DataFrame(rows, columns=["step", "tokens", "flops_cached", "flops_uncached", "cache_bytes"])
    for name in ("cached", "uncached"):
        table[f"total_{name}"] = table[f"flops_{name}"].cumsum()
    return table


def counted_by_step(
    counted: CountedCosts,
    cache: CacheSizes,
    *,
    steps: int,
    begun: int = 1,
    source: int | None = None,
    element_bytes: int = 4,
    last_only: bool = True,
) -> pd.DataFrame:
    """Count each step of writing one text in any model with a cache; arguments and columns as in `by_step`.

    last_only: the forward scores the vocabulary for the newest token alone, as `generate` of transformers asks models
    that can; False where the code scores every token that it reads.

    Raises ValueError for a number below 1, a model without a cached step, and a source too many or too few.
    """
    if min(steps, begun, 1 if source is None else source) < 1:
        raise ValueError(f"steps {steps}, begun {begun}, source {source}: each must be at least 1")
    if (counted.shape == "encoder-decoder") != (source is not None):
        raise ValueError(f"this is an {counted.shape}, and source is {source}")
    if counted.step_formula is None:
        raise ValueError("this model keeps no cache that a step could read")
    rows = []
    for step in range(1, steps + 1):
        tokens = begun + step - 1
        uncached = _decoder(counted, tokens, source, last_only=last_only)
        cached = uncached
        if step > 1:
            lengths = (tokens - 1, None) if source is None else (source, tokens - 1)
            table = counted.step(tokens=lengths[0], target_tokens=lengths[1])
            assert table is not None
            cached = int(table["flops"].sum())
        cached_bytes = cache.bytes(tokens, source=source or 0, element_bytes=element_bytes)
        rows.append((step, tokens, cached, uncached, cached_bytes))
    table = pd.DataFrame(rows, columns=["step", "tokens", "flops_cached", "flops_uncached", "cache_bytes"])
    for name in ("cached", "uncached"):
        table[f"total_{name}"] = table[f"flops_{name}"].cumsum()
    return table


def _decoder(counted: CountedCosts, tokens: int, source: int | None, *, last_only: bool) -> int:
    """The products of a decoder that reads all of its tokens, without the encoder's."""

    def of(tokens: int) -> pd.DataFrame:
        lengths = (tokens, None) if source is None else (source, tokens)
        table = counted.table(tokens=lengths[0], target_tokens=lengths[1])
        return table if source is None else table[table["stream"] != "encoder"]

    table = of(tokens)
    heads = table["part"] == "head"
    scored = of(1) if last_only else table
    return int(table["flops"][~heads].sum()) + int(scored["flops"][scored["part"] == "head"].sum())


def _products(costs: list[stacks.PlacedCost]) -> int:
    return sum(placed.cost.flops for placed in costs if placed.cost.kind == "matmul")
