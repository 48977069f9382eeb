"""The costs of writing token by token, with a KV cache and without, from the configuration alone.

Without a cache every step runs the decoder over all tokens so far; with one over the newest alone, which attends to the
keys and values that were kept. The formulas are those of `inspector.costs.formulas`; nothing is run.
"""

from __future__ import annotations

import pandas as pd

from inspector.costs import stacks
from models.transformer.config import TransformerConfig


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
        kept = element_bytes * sum(placed.cost.cached for placed in cached)
        rows.append((step, tokens, _products(cached), _products(uncached), kept))
    table = pd.DataFrame(rows, columns=["step", "tokens", "flops_cached", "flops_uncached", "cache_bytes"])
    for name in ("cached", "uncached"):
        table[f"total_{name}"] = table[f"flops_{name}"].cumsum()
    return table


def _products(costs: list[stacks.Placed]) -> int:
    return sum(placed.cost.flops for placed in costs if placed.cost.kind == "matmul")
