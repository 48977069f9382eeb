"""How large a model is, from its configuration alone: laid out on the meta device, which allocates nothing.

A configuration of 400 bytes can describe a model that no machine holds, or one that takes hours to lay out. So the
layout is watched while it grows, by hooks that go in once and do nothing outside a measurement.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

SECONDS = 30.0  # for laying out one model; the largest published ones take under 5
_LARGEST_FIXED_TABLE = 2**25  # numbers; a sinusoidal table is filled by a Python loop when the model loads
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@dataclass(frozen=True)
class Size:
    """What a model holds, shared weights counted once.

    parameters: numbers that are learned. buffers: numbers that are not (position ids, rotary frequencies).
    layers: attention layers, an encoder's and a decoder's together. recorded: numbers that a recording keeps of one
    token, at most: query, key and value of every attention, and every norm's input.
    """

    parameters: int
    buffers: int
    layers: int
    recorded: int

    def memory_bytes(self, dtype: torch.dtype = torch.float32) -> int:
        """Bytes of the weights and buffers in a dtype."""
        return (self.parameters + self.buffers) * dtype.itemsize

    def capture_bytes(self, tokens: int) -> int:
        """Bytes that a recording of n tokens keeps in float32: 4 n (sum of H E + K (E + E_v), + norms)."""
        return 4 * tokens * self.recorded


def measure(config: Any, *, architecture: type[nn.Module], seconds: float = SECONDS) -> Size:
    """The size of a transformers architecture with this configuration.

    Raises ValueError where the configuration cannot be laid out, or not in the time given.
    """
    try:
        with _until(time.monotonic() + seconds), torch.device("meta"):
            network = architecture(config)
    except (TypeError, KeyError, AttributeError, IndexError, ImportError, ZeroDivisionError) as error:
        raise ValueError(f"{architecture.__name__} cannot be built from this config.json: {error}") from error
    except (RuntimeError, OverflowError, AssertionError) as error:  # shapes that no tensor can have
        raise ValueError(f"{architecture.__name__} with this config.json fits no machine: {error}") from error
    return Size(
        parameters=_numbers(network.parameters()),
        buffers=_numbers(network.buffers()),
        layers=sum(attention_layers(config)),
        recorded=_recorded(config, network),
    )


def attention_layers(config: Any) -> tuple[int, int]:
    """Layers of the encoder (or of the only stack) and of the decoder beside it, 0 where there is none."""
    text = config.get_text_config()
    if not getattr(config, "is_encoder_decoder", False):
        return int(text.num_hidden_layers), 0
    encoder = _first(config, "encoder_layers", "num_encoder_layers", "num_hidden_layers", "num_layers")
    return encoder, _first(config, "decoder_layers", "num_decoder_layers", "num_hidden_layers", "num_layers")


def _recorded(config: Any, network: nn.Module) -> int:
    encoder, decoder = attention_layers(config)
    text = config.get_text_config()
    heads = _first(text, "num_attention_heads", "encoder_attention_heads", "num_heads")
    query = _first(text, "qk_head_dim", "head_dim", "d_kv", default=text.hidden_size // heads)
    value = _first(text, "v_head_dim", default=query)
    key_heads = heads if hasattr(text, "qk_head_dim") else _first(text, "num_key_value_heads", default=heads)
    attention = heads * query + key_heads * (query + value)
    norms = sum(
        weight.numel()
        for module in network.modules()
        if "Norm" in type(module).__name__ and isinstance(weight := getattr(module, "weight", None), Tensor)
    )
    return (encoder + 2 * decoder) * attention + norms


def _first(config: Any, *names: str, default: int | None = None) -> int:
    """The first of the names that the configuration has: families name the same thing differently."""
    for name in names:
        if isinstance(value := getattr(config, name, None), int):
            return value
    if default is None:
        raise ValueError(f"{config.model_type}'s configuration has none of {', '.join(names)}")
    return default


def _numbers(tensors: Iterator[Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors)


@contextmanager
def _until(deadline: float) -> Iterator[None]:
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def _watch(parent: nn.Module, name: str, module: nn.Module | None) -> None:
    deadline = _deadline.get()
    if deadline is None:
        return
    if time.monotonic() > deadline:
        raise ValueError("config.json describes a model that takes too long to lay out; choose a smaller one")
    if not isinstance(module, nn.Embedding) or module.weight.requires_grad:
        return
    if (numbers := module.weight.numel()) > _LARGEST_FIXED_TABLE:
        raise ValueError(
            f"config.json describes a fixed table ({name}) of {numbers:,} numbers, over {_LARGEST_FIXED_TABLE:,}; "
            "choose a smaller model"
        )


register_module_module_registration_hook(_watch)
