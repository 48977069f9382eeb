"""Transfer of a recording to the CPU, wherever its model runs; a part of the probe.

A trace outlives its model, and is looked at long after: it must not hold a device's memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass, replace
from types import CellType, FunctionType
from typing import Any

import torch
from torch import Tensor

from models.attention import AttentionCall
from models.mixers import MixerCall


class Transfer:
    """Transfer of one run's attention calls to a device, the CPU; a part that they share is brought once, stays shared.

    A part that lies on the device already stays the very same object, unless its memory is among `copied`: addresses
    of storages that somebody else goes on to change.
    """

    def __init__(self, device: str = "cpu", *, copied: Set[int] = frozenset()) -> None:
        self.device, self.copied = torch.device(device), copied
        self._brought: dict[int, tuple[Any, Any]] = {}  # by id, with the original, so that no other gets that id

    def call(self, call: AttentionCall) -> AttentionCall:
        """Move a call: its tensors, its mask's rule and its function's tensors."""
        query, key, value = map(self._moved, (call.query, call.key, call.value))
        function, mask = self._bring(call.function), self._bring(call.mask)
        return replace(call, query=query, key=key, value=value, function=function, mask=mask)

    def mixer(self, call: MixerCall) -> MixerCall:
        """Move a mixer's run."""
        moved: MixerCall = self._bring(call)
        return moved

    def _bring(self, part: Any) -> Any:
        if id(part) not in self._brought:
            self._brought[id(part)] = (part, self._moved(part))
        return self._brought[id(part)][1]

    def _moved(self, part: Any) -> Any:
        if isinstance(part, Tensor):
            moved = part.to(self.device)
            return moved.clone() if moved is part and part.untyped_storage().data_ptr() in self.copied else moved
        if isinstance(part, torch.device):
            return part if part == self.device else self.device
        if is_dataclass(part) and not isinstance(part, type):
            parts = {field.name: self._bring(getattr(part, field.name)) for field in fields(part)}
            same = all(parts[name] is getattr(part, name) for name in parts)
            return part if same else replace(part, **parts)
        if isinstance(part, Mapping):
            items = {name: self._bring(value) for name, value in part.items()}
            return part if all(items[name] is part[name] for name in items) else items
        if isinstance(part, tuple):
            values = tuple(self._bring(value) for value in part)
            return part if all(value is other for value, other in zip(values, part, strict=True)) else values
        return self._closure(part) if isinstance(part, FunctionType) and part.__closure__ else part

    def _closure(self, rule: FunctionType) -> FunctionType:
        """A mask's rule in transformers is a function around others, or around tensors (packed texts)."""
        held = [cell.cell_contents for cell in rule.__closure__ or ()]
        brought = [self._bring(value) for value in held]
        if all(value is other for value, other in zip(brought, held, strict=True)):
            return rule
        cells = tuple(CellType(value) for value in brought)
        return FunctionType(rule.__code__, rule.__globals__, rule.__name__, rule.__defaults__, cells)
