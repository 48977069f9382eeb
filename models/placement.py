"""The device and the precision of a model's weights: chosen before the model is loaded, read from it afterwards.

`Placement` is the choice; the page takes it from the environment, HEADLIGHT_DTYPE and HEADLIGHT_DEVICE. The functions
after it read where the weights of a loaded network are.

A network that was spread over devices has hooks of accelerate on its modules. The hooks bring inputs to the device of
each module, and weights that did not fit from the CPU's memory or from disk to the device that uses them, for as long
as the module runs. Meanwhile the module itself changes, so that one thread at a time may run such a network.

```python
placement = Placement("bfloat16", "auto")
describe_placement(network)  # "bfloat16, spread over cuda:0, cpu and disk"
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Literal, get_args

from models.limits import variable

if TYPE_CHECKING:  # torch takes seconds to import: it comes with the first model
    import torch
    from torch import nn

DtypeName = Literal["float32", "bfloat16", "float16", "auto"]
DTYPES: tuple[DtypeName, ...] = get_args(DtypeName)
_TURN = RLock()
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Placement:
    """The dtype and the device that are asked for.

    dtype: one of DTYPES; "auto" is the dtype that the weights are stored in, float32 where the files do not say.
    device: "cpu", "cuda" (the first), "cuda:1", "mps", or "auto": accelerate spreads the model over all devices of the
    machine, what does not fit goes to the CPU's memory, and the rest stays on disk.
    max_memory: with "auto", the most that the weights take on each device, such as {0: "10GB", "cpu": "30GB"}; a
    device without an entry gets no weights.

    Raises ValueError for any other word.
    """

    dtype: DtypeName = "float32"
    device: str = "cpu"
    max_memory: Mapping[int | str, int | str] | None = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype is {str(self.dtype)[:100]!a}; it can be {', '.join(DTYPES)}")
        if not isinstance(self.device, str) or not _DEVICE.fullmatch(self.device):
            raise ValueError(f"device is {str(self.device)[:100]!a}; it can be cpu, cuda, cuda:1, mps or auto")
        if self.max_memory is not None and self.device != "auto":
            raise ValueError(f"max_memory spreads a model, and device is {self.device!r}; use it with device='auto'")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Placement:
        """Read the two variables, each with its default; raises ValueError that names one that cannot be read."""
        environment = os.environ if environment is None else environment
        chosen = {name: text for name in ("dtype", "device") if (text := environment.get(variable(name), "").strip())}
        for name, text in chosen.items():
            try:
                cls(**{name: text})  # type: ignore[arg-type]
            except ValueError as error:
                raise ValueError(str(error).replace(name, variable(name), 1)) from error
        return cls(**chosen)  # type: ignore[arg-type]

    @property
    def spread(self) -> bool:
        """True if accelerate chooses the devices."""
        return self.device == "auto"

    def torch_dtype(self, stored: torch.dtype | None) -> torch.dtype:
        """The dtype of the weights, which are stored as `stored` (None: the files do not say).

        Raises ValueError where "auto" would keep a dtype that Headlight does not compute in.
        """
        import torch

        chosen = (stored or torch.float32) if self.dtype == "auto" else getattr(torch, self.dtype)
        if chosen not in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            raise ValueError(f"the weights are stored in {chosen}, which dtype='auto' keeps; choose dtype='float32'")
        dtype: torch.dtype = chosen
        return dtype

    def torch_device(self) -> torch.device:
        """The one device; "auto" is the first accelerator, or the CPU without an accelerator.

        Raises ValueError that lists the devices of the machine, for a device that the machine lacks.
        """
        import torch

        there = devices()
        chosen = there[-1] if self.spread else {"cuda": "cuda:0"}.get(self.device, self.device)
        if chosen not in there:
            raise ValueError(
                f"There is no device {self.device!r} on this machine, as far as torch {torch.__version__} sees; "
                f"there is {', '.join(reversed(there))}. Choose one of these, or 'auto'."
            )
        return torch.device(chosen)


def devices() -> tuple[str, ...]:
    """List the devices that torch can compute on, the CPU first and the first accelerator last."""
    import torch

    graphics = [f"cuda:{index}" for index in reversed(range(torch.cuda.device_count()))]
    return ("cpu", *(["mps"] if torch.backends.mps.is_available() else []), *graphics)


def dtype_name(dtype: torch.dtype) -> str:
    """Name a dtype, such as "bfloat16"."""
    return str(dtype).removeprefix("torch.")


CPU_FLOAT32 = Placement()
"""The default placement."""


# --- a loaded network ----------------------------------------------------------------------------------------------


def input_device(network: nn.Module) -> torch.device:
    """The device of a network's inputs: the device on which its first weight, the embedding's, is used."""
    import torch

    device = next(network.parameters()).device
    return torch.device(_uses(network)) if device.type == "meta" else device


def dtype_of(network: nn.Module) -> torch.dtype:
    """The dtype of the embedding; some families keep a few other weights in float32 (T5)."""
    return next(parameter.dtype for parameter in network.parameters() if parameter.is_floating_point())


def describe_placement(network: nn.Module) -> str:
    """Describe where the weights are: "float32 on cpu" or "bfloat16, spread over cuda:0, cpu and disk"."""
    dtype, places = dtype_name(dtype_of(network)), _places(network)
    if len(places) == 1:
        return f"{dtype} on {places[0]}"
    return f"{dtype}, spread over {', '.join(places[:-1])} and {places[-1]}"


def is_on_cpu(network: nn.Module) -> bool:
    """Return True if all weights are in the CPU's memory, so that all that the network makes is there too."""
    return _places(network) == ("cpu",)


def is_spread(network: nn.Module) -> bool:
    """Return True if accelerate runs the network: its weights are not all on one device."""
    return len(_places(network)) > 1 or is_offloaded(network)


def is_offloaded(network: nn.Module) -> bool:
    """Return True if some weights are brought to their device for each call."""
    places = _places(network)
    return "disk" in places or ("cpu" in places and len(places) > 1)


@contextmanager
def turn(network: nn.Module) -> Iterator[None]:
    """Keep other threads from running an offloaded network inside the block; any other network needs no turn."""
    with _TURN if is_offloaded(network) else nullcontext():
        yield


@contextmanager
def with_weights(module: nn.Module) -> Iterator[None]:
    """Bring an offloaded module's weights to their device inside the block, so that they can be read."""
    if not hasattr(module, "_hf_hook"):
        yield
        return
    from accelerate.utils import align_module_device

    with _TURN, align_module_device(module):
        yield


def _places(network: nn.Module) -> tuple[str, ...]:
    """The devices in the order of the network's modules, and "disk"; accelerate calls CUDA's by their numbers."""
    spread = getattr(network, "hf_device_map", None) or {"": next(network.parameters()).device}
    return tuple(dict.fromkeys(f"cuda:{place}" if isinstance(place, int) else str(place) for place in spread.values()))


def _uses(network: nn.Module) -> str:
    """The device to which accelerate brings offloaded weights: the first accelerator, else the CPU."""
    return next((place for place in _places(network) if place not in ("cpu", "disk")), "cpu")
