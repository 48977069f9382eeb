"""Where the weights of a loaded network are, and how to reach those that accelerate keeps elsewhere between its calls.

A network that was spread over devices has hooks of accelerate on its modules: they bring inputs to the device of each
module, and weights that did not fit from the CPU's memory or from disk to the device that uses them, for as long as the
module runs. Meanwhile the module itself changes, so that one thread at a time may run such a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import RLock

import torch
from torch import nn

from models.placement import dtype_name

_TURN = RLock()


def input_device(network: nn.Module) -> torch.device:
    """Where ids go: the device on which the first weight, the embedding's, is used."""
    device = next(network.parameters()).device
    return torch.device(_uses(network)) if device.type == "meta" else device


def dtype_of(network: nn.Module) -> torch.dtype:
    """That of the embedding; some families keep a few other weights in float32 (T5)."""
    return next(parameter.dtype for parameter in network.parameters() if parameter.is_floating_point())


def in_words(network: nn.Module) -> str:
    """Such as "float32 on cpu" or "bfloat16, spread over cuda:0, cpu and disk"."""
    dtype, places = dtype_name(dtype_of(network)), _places(network)
    if len(places) == 1:
        return f"{dtype} on {places[0]}"
    return f"{dtype}, spread over {', '.join(places[:-1])} and {places[-1]}"


def is_spread(network: nn.Module) -> bool:
    """Whether accelerate runs it: its weights are not all on one device."""
    return len(_places(network)) > 1 or is_offloaded(network)


def is_offloaded(network: nn.Module) -> bool:
    """Whether some of its weights are brought to their device for each call."""
    places = _places(network)
    return "disk" in places or ("cpu" in places and len(places) > 1)


@contextmanager
def turn(network: nn.Module) -> Iterator[None]:
    """Inside the block no other thread runs an offloaded network; all others need not wait."""
    with _TURN if is_offloaded(network) else nullcontext():
        yield


@contextmanager
def with_weights(module: nn.Module) -> Iterator[None]:
    """Inside the block the module's own weights are there to be read, also where they are kept elsewhere."""
    if not hasattr(module, "_hf_hook"):
        yield
        return
    from accelerate.utils import align_module_device

    with _TURN, align_module_device(module):
        yield


def _places(network: nn.Module) -> tuple[str, ...]:
    """The devices in the order of its modules, and "disk"; accelerate calls CUDA's by their numbers."""
    spread = getattr(network, "hf_device_map", None) or {"": next(network.parameters()).device}
    return tuple(dict.fromkeys(f"cuda:{place}" if isinstance(place, int) else str(place) for place in spread.values()))


def _uses(network: nn.Module) -> str:
    """Where accelerate brings weights that are kept elsewhere: to the first accelerator, else to the CPU."""
    return next((place for place in _places(network) if place not in ("cpu", "disk")), "cpu")
