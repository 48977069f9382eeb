"""Tensors as the arrays of a trace's file, bit for bit; numpy has no bfloat16, whose bits go under its name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

_BITS = ".bfloat16"


def put(arrays: dict[str, np.ndarray], name: str, tensor: Tensor) -> None:
    """Add the tensor to the arrays: as `name`, or its 16-bit patterns as `name`.bfloat16."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        arrays[name + _BITS] = tensor.contiguous().view(torch.uint16).numpy()
    else:
        arrays[name] = tensor.numpy()


def get(arrays: Mapping[str, np.ndarray], name: str) -> Tensor:
    """What `put` added; KeyError where there is none, TypeError or RuntimeError where the array is no such tensor."""
    if name + _BITS in arrays:
        return torch.from_numpy(arrays[name + _BITS]).view(torch.bfloat16)
    return torch.from_numpy(arrays[name])
