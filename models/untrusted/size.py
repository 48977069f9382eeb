"""The size of a model from its configuration alone, counted on the meta device, which allocates nothing.

A configuration of 400 bytes can describe a model that no machine can hold, or that takes hours to build even there. So
a hook watches the construction; it is registered once, and does nothing outside a measurement.
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

from models.build_lock import LOADING
from models.config_facts import head_total, layer_counts, recorded_numbers
from models.formatting import one_line
from models.mixer_names import is_mixer

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
    for one token: query, key and value of every attention, every norm's input, and of every other mixer what its
    projections make, and what its core leaves. heads: the sum of H over every attention.
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
        """The bytes that a recording of n tokens keeps in float32: 4 n (sum of H E + K (E + E_v), + norms, + mixers).

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
        layers=sum(layer_counts(config)),
        recorded=_recorded(config, network),
        heads=head_total(config),
    )


def _recorded(config: Any, network: nn.Module) -> int:
    norms = sum(
        weight.numel()
        for module in network.modules()
        if "Norm" in type(module).__name__ and isinstance(weight := getattr(module, "weight", None), Tensor)
    )
    return recorded_numbers(config) + norms + sum(_mixed(module) for module in network.modules() if is_mixer(module))


def _mixed(mixer: nn.Module) -> int:
    """Count the numbers of one token that a mixer's projections make, and those that the last of these takes.

    A layer that is named like the mixer in it counts for nothing: it projects nothing itself.
    """
    projections = [part for part in mixer.children() if isinstance(part, nn.Linear)]
    return sum(part.out_features for part in projections) + max((part.in_features for part in projections), default=0)


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
