"""The activations of a training step: what autograd keeps of a forward for its backward, seen on the meta device.

In the fused kernel torch keeps queries, keys, values, the output and a logarithm for each query and head in place of
the n x n maps (FlashAttention, Dao et al. 2022). Torch's own kernel of the CPU is asked what it keeps:
`_scaled_dot_product_flash_attention_for_cpu`; the kernels of GPUs keep the same five, and a few numbers of the random
state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from inspector.costs.counted.counting import MOST_TOKENS
from inspector.costs.counted.subject import read_own
from models.attention import watch
from models.formatting import one_line
from models.huggingface import skeleton
from models.transformer.config import TransformerConfig
from models.transformer.stacks import build

MOST_SAVED = 20_000  # tensors; a model of a hundred layers keeps some thousands, unless it goes token by token
MOST_OWN = 8192  # tokens of the project's Transformer, whose masks lie in memory
_FLASH = 1  # torch.nn.attention.SDPBackend.FLASH_ATTENTION, as a number


def count_saved(config: Any, *, tokens: int, target_tokens: int | None, precision: str, kernel: str) -> int:
    """Count what autograd keeps (see `inspector.costs.saved_bytes`)."""
    lengths = {"tokens": tokens, "target_tokens": tokens if target_tokens is None else target_tokens}
    most = MOST_OWN if isinstance(config, TransformerConfig) else MOST_TOKENS
    for name, number in lengths.items():
        if not 1 <= number <= most:
            raise ValueError(f"{name} is {number:,}; it must be from 1 to {most:,}")
    if kernel not in ("eager", "sdpa"):
        raise ValueError(f"kernel is {kernel[:40]!a}; it can be eager or sdpa")
    network, forward = (_of_own if isinstance(config, TransformerConfig) else _of_transformers)(
        config, tuple(lengths.values()), precision, kernel
    )
    network.requires_grad_(True)
    there = {tensor.untyped_storage()._cdata for tensor in (*network.parameters(), *network.buffers())}
    storages: dict[int, Any] = {}  # the storages themselves, so that no other gets their address
    saved = count()

    def keep(tensor: Tensor) -> Tensor:
        if next(saved) == MOST_SAVED:
            raise ValueError(
                f"{max(lengths.values()):,} tokens make it keep over {MOST_SAVED:,} tensors; ask for fewer"
            )
        storage = tensor.untyped_storage()
        if storage._cdata not in there:
            storages[storage._cdata] = storage
        return tensor

    try:
        with (
            torch.enable_grad(),
            torch.autograd.graph.saved_tensors_hooks(keep, _same),
            skeleton.Answers(),
            _Fused(),
        ):
            out = forward()
    except _NotFusedError as error:
        raise ValueError(str(error)) from error  # a plain one, which the page tells as it is
    except (RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"{type(network).__name__} does not run so: {one_line(error)}") from error
    del out
    return sum(storage.nbytes() for storage in storages.values())


def _of_transformers(
    config: Any, lengths: tuple[int, ...], precision: str, kernel: Any
) -> tuple[nn.Module, Callable[[], Any]]:
    if kernel == "sdpa" and not (architecture := skeleton.architecture_of(config))._supports_sdpa:
        raise ValueError(f"{architecture.__name__} of transformers has no code for torch's fused kernel")
    network = skeleton.build(config, tokens=max(lengths), attention=kernel).to(getattr(torch, precision))
    reads = {"input_ids": _ids(lengths[0])}
    if network.config.is_encoder_decoder:
        reads["decoder_input_ids"] = _ids(lengths[1])
    return network, lambda: network(**reads)


def _of_own(
    config: TransformerConfig, lengths: tuple[int, ...], precision: str, kernel: str
) -> tuple[nn.Module, Callable[[], Any]]:
    """Build the project's Transformer: watched it runs in three steps, in blocks of queries, else in torch's kernel."""
    if precision != "float32":
        raise ValueError(f"precision is {precision}; of the project's Transformer float32 is known")
    skeleton.check_sizes(vars(config))
    with torch.device("meta"):
        network = build(replace(config, max_positions=max(config.max_positions, *lengths))).eval()
    ids, target = (_ids(length) for length in lengths)

    def forward() -> Tensor:
        if kernel == "sdpa":
            return read_own(network, ids, target)
        with watch(lambda call: None):
            return read_own(network, ids, target)

    return network, forward


# --- the fused kernel -----------------------------------------------------------------------------------------------


class _NotFusedError(ValueError):
    """Torch's fused kernel does not take an attention."""


class _Fused(TorchFunctionMode):
    """Run torch's scaled_dot_product_attention of tensors without data in the kernel that the CPU would take.

    Code that has a mask of padding asks by its sum whether it hides a token: of a text without padding it hides none.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one function of torch."""
        if func is Tensor.sum and args[0].is_meta and args[0].dtype is torch.bool and len(args) == 1 and not kwargs:
            return torch.tensor(args[0].numel())
        run = _in_kernel if func is scaled_dot_product_attention else func
        return run(*args, **(kwargs or {}))


def _in_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    mask = None if attn_mask is None else _few(attn_mask, -2, -1)
    taken = torch._fused_sdp_choice(
        _few(query, -2), _few(key, -2), _few(value, -2), mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )
    if taken != _FLASH:
        why = "a bias that is learned is added to its scores" if _learned(attn_mask) else "its sizes do not fit it"
        raise _NotFusedError(f"torch's fused kernel does not take this attention: {why}")
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        hidden = ~attn_mask
        attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(hidden, float("-inf"))
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    output: Tensor = kernel(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)[0]
    return output


def _few(tensor: Tensor, *tokens: int) -> Tensor:
    """Make a small tensor on the CPU for torch to choose a kernel by: two tokens at most; tokens: their dimensions."""
    sizes = list(tensor.shape)
    for dimension in tokens:
        sizes[dimension] = min(sizes[dimension], 2)
    return torch.zeros(sizes, dtype=tensor.dtype, requires_grad=tensor.requires_grad)


def _learned(mask: Tensor | None) -> bool:
    return mask is not None and mask.requires_grad


def _ids(count: int) -> Tensor:
    return torch.zeros(1, count, dtype=torch.long, device="meta")


def _same(tensor: Tensor) -> Tensor:
    return tensor
