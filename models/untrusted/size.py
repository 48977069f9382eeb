"""The size of a model from its configuration alone, counted on the meta device, which allocates nothing.

A configuration of 400 bytes can describe a model that no machine can hold, or that takes hours to build even there. So
a hook watches the construction; it is registered once, and does nothing outside a measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

from models.build_lock import LOADING
from models.config_facts import stack_config, stack_configs, text_config
from models.formatting import one_line

SECONDS = 30.0  # to build one model on the meta device; the largest published models take under 5
_LARGEST_FIXED_TABLE = 2**25  # numbers; a sinusoidal table is filled by a Python loop when the model loads
_NOT_BUILT = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    ImportError,
    ZeroDivisionError,
    AssertionError,
)
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class _TooLargeError(ValueError):
    """Raised by the hook while transformers builds, and so told apart from transformers' own errors."""


@dataclass(frozen=True)
class ModelSize:
    """The size of a model, shared weights counted once.

    parameters: learned numbers. buffers: numbers that are not learned (position ids, rotary frequencies).
    layers: attention layers, an encoder's and a decoder's together. recorded: the most numbers that a recording keeps
    for one token: query, key and value of every attention, and every norm's input. heads: the sum of H over every
    attention.
    """

    parameters: int
    buffers: int
    layers: int
    recorded: int
    heads: int

    def memory_bytes(self, dtype: torch.dtype = torch.float32) -> int:
        """The bytes of the weights and buffers in a dtype."""
        return (self.parameters + self.buffers) * dtype.itemsize

    def capture_bytes(self, tokens: int, *, maps: bool = False) -> int:
        """The bytes that a recording of n tokens keeps in float32: 4 n (sum of H E + K (E + E_v), + norms).

        maps: True where every map is kept too (the backend "eager output"), which adds 4 n^2 (sum of H).
        """
        return 4 * tokens * (self.recorded + (tokens * self.heads if maps else 0))


def measure(config: Any, *, architecture: type[nn.Module], seconds: float = SECONDS) -> ModelSize:
    """Measure a transformers architecture with this configuration.

    Raises ValueError where the architecture cannot be built on the meta device, or not within `seconds`.
    """
    name = architecture.__name__
    try:
        with LOADING, _until(time.monotonic() + seconds), torch.device("meta"):
            network = architecture(config)
    except _TooLargeError:
        raise
    except _NOT_BUILT as error:
        raise ValueError(f"{name} cannot be built from this config.json: {one_line(error)}") from error
    except (RuntimeError, OverflowError) as error:  # shapes that no tensor can have
        raise ValueError(f"{name} with this config.json fits no machine: {one_line(error)}") from error
    return ModelSize(
        parameters=_numbers(network.parameters()),
        buffers=_numbers(network.buffers()),
        layers=sum(attention_layers(config)),
        recorded=_recorded(config, network),
        heads=_each_attention(config, _heads),
    )


def attention_layers(config: Any) -> tuple[int, int]:
    """Return the layers of the encoder (or of the only stack) and of the decoder beside it (0 without a second stack).

    Raises ValueError for a configuration that does not name them.
    """
    names = ("num_hidden_layers", "num_layers")
    if not config.is_encoder_decoder:
        return _first(text_config(config), *names), 0
    return (
        _first(stack_config(config, "encoder"), "encoder_layers", "num_encoder_layers", *names),
        _first(stack_config(config, "decoder"), "decoder_layers", "num_decoder_layers", *names),
    )


def _recorded(config: Any, network: nn.Module) -> int:
    norms = sum(
        weight.numel()
        for module in network.modules()
        if "Norm" in type(module).__name__ and isinstance(weight := getattr(module, "weight", None), Tensor)
    )
    return _each_attention(config, _attention) + norms


def _each_attention(config: Any, count: Callable[[Any], int]) -> int:
    """Sum `count` over every attention of the model."""
    encoder, decoder = attention_layers(config)
    text = stack_configs(config)[-1]
    if text.is_heterogeneous:  # every layer has its own configuration
        return sum(count(layer) for layer in text.per_layer_config)
    return (encoder + 2 * decoder) * count(text)  # a decoder beside an encoder attends twice


def _heads(config: Any) -> int:
    return _first(config, "num_attention_heads", "encoder_attention_heads", "num_heads")


def _attention(config: Any) -> int:
    """Count the numbers in the query (H E), key (K E) and value (K E_v) of one token."""
    heads = _heads(config)
    query = _first(config, "qk_head_dim", "head_dim", "d_kv", default=_first(config, "hidden_size", "d_model") // heads)
    value = _first(config, "v_head_dim", default=query)
    key_heads = heads if hasattr(config, "qk_head_dim") else _first(config, "num_key_value_heads", default=heads)
    return heads * query + key_heads * (query + value)


def _first(config: Any, *names: str, default: int | None = None) -> int:
    """Return the first field among `names` that is a number above 0: families use different names for one number."""
    for name in names:
        if isinstance(value := getattr(config, name, None), int) and value > 0:
            return value
    if default is None:
        raise ValueError(f"{config.model_type!a} is no Transformer that can be recorded: it has no {names[0]}")
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
        raise _TooLargeError("config.json describes a model that takes too long to lay out; choose a smaller one")
    if "position" not in name or not isinstance(module, nn.Embedding) or module.weight.requires_grad:
        return
    if (numbers := module.weight.numel()) > _LARGEST_FIXED_TABLE:
        raise _TooLargeError(
            f"config.json describes a fixed table ({name}) of {numbers:,} numbers, over {_LARGEST_FIXED_TABLE:,}; "
            "choose a smaller model"
        )


register_module_module_registration_hook(_watch)
