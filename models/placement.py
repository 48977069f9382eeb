"""Where a model's weights go and in which precision, chosen before it is loaded.

The page reads its choice from the environment: HEADLIGHT_DTYPE and HEADLIGHT_DEVICE.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from models.limits import variable

if TYPE_CHECKING:  # torch takes seconds to import: it comes with the first model
    import torch

DtypeName = Literal["float32", "bfloat16", "float16", "auto"]
DTYPES: tuple[DtypeName, ...] = get_args(DtypeName)
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Placement:
    """dtype: one of DTYPES; "auto" is the one that the weights are stored in, float32 where nothing says which.

    device: "cpu", "cuda" (the first), "cuda:1", "mps", or "auto": accelerate spreads the model over all devices that
    there are, what does not fit goes to the CPU's memory, and the rest stays on disk.
    max_memory: with "auto", the most that the weights take on each device, such as {0: "10GB", "cpu": "30GB"}; the
    devices that it leaves out get none.

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
        """The defaults, changed by the two variables where they are set; ValueError where one cannot be read."""
        environment = os.environ if environment is None else environment
        dtype, device = (environment.get(variable(name), "").strip() for name in ("dtype", "device"))
        try:
            return cls(cast("DtypeName", dtype or cls.dtype), device or cls.device)
        except ValueError as error:
            raise ValueError(f"{variable('dtype')} or {variable('device')}: {error}") from error

    @property
    def spread(self) -> bool:
        """Whether accelerate chooses the devices."""
        return self.device == "auto"

    def torch_dtype(self, stored: torch.dtype | None) -> torch.dtype:
        """The dtype of the weights, whose file has `stored` (None: it does not say).

        Raises ValueError where they are stored in one that nothing here computes in.
        """
        import torch

        chosen = (stored or torch.float32) if self.dtype == "auto" else getattr(torch, self.dtype)
        if chosen not in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            raise ValueError(f"the weights are stored in {chosen}, which dtype='auto' keeps; choose dtype='float32'")
        dtype: torch.dtype = chosen
        return dtype

    def torch_device(self) -> torch.device:
        """The one device; of "auto" the first that is no CPU, where there is one.

        Raises ValueError, with what there is, for a device that this machine lacks.
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
    """What torch can compute on, the CPU first and the first accelerator last."""
    import torch

    graphics = [f"cuda:{index}" for index in reversed(range(torch.cuda.device_count()))]
    return ("cpu", *(["mps"] if torch.backends.mps.is_available() else []), *graphics)


def dtype_name(dtype: torch.dtype) -> str:
    """Such as "bfloat16"."""
    return str(dtype).removeprefix("torch.")


CPU_FLOAT32 = Placement()
"""Where nothing is chosen."""
