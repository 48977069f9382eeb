"""The activations of a training step: what autograd keeps of a forward for its backward, seen on the meta device."""

from __future__ import annotations

from itertools import count
from typing import Any

import torch
from torch import Tensor

from inspector.costs.counted.counting import MOST_TOKENS
from models.formatting import one_line
from models.huggingface import skeleton
from models.transformer import TransformerConfig

MOST_SAVED = 20_000  # tensors; a model of a hundred layers keeps some thousands, unless it goes token by token


def count_saved(config: Any, *, tokens: int, target_tokens: int | None, precision: str) -> int:
    """Count what autograd keeps (see `inspector.costs.saved_bytes`)."""
    lengths = {"tokens": tokens, "target_tokens": tokens if target_tokens is None else target_tokens}
    for name, number in lengths.items():
        if not 1 <= number <= MOST_TOKENS:
            raise ValueError(f"{name} is {number:,}; it must be from 1 to {MOST_TOKENS:,}")
    if isinstance(config, TransformerConfig):
        raise ValueError("of the project's own Transformer see the column activation_bytes of breakdown")
    network = skeleton.build(config, tokens=max(lengths.values())).to(getattr(torch, precision)).requires_grad_(True)
    there = {tensor.untyped_storage()._cdata for tensor in (*network.parameters(), *network.buffers())}
    kept: dict[int, Any] = {}  # the storages themselves, so that no other gets their address
    saved = count()

    def keep(tensor: Tensor) -> Tensor:
        if next(saved) == MOST_SAVED:
            raise ValueError(
                f"{max(lengths.values()):,} tokens make it keep over {MOST_SAVED:,} tensors; ask for fewer"
            )
        storage = tensor.untyped_storage()
        if storage._cdata not in there:
            kept[storage._cdata] = storage
        return tensor

    reads = {"input_ids": _ids(tokens)}
    if network.config.is_encoder_decoder:
        reads["decoder_input_ids"] = _ids(lengths["target_tokens"])
    try:
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, _same), skeleton.Answers():
            out = network(**reads)
    except (RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"{type(network).__name__} does not run so: {one_line(error)}") from error
    del out
    return sum(storage.nbytes() for storage in kept.values())


def _ids(count: int) -> Tensor:
    return torch.zeros(1, count, dtype=torch.long, device="meta")


def _same(tensor: Tensor) -> Tensor:
    return tensor
