"""The sums by which a layer's sublayers write to the residual stream, one layer run alone; a part of the probe.

x + attention(norm(x)) is one sum of two whole states, and which of the two is what attention adds is told by its
numbers: it is what was recorded. Another text's can then be put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.probe.layer_runs import LayerRuns
from inspector.probe.residual_sums import ADDS

SumPlace = tuple[int, int]
"""The number of a sum of two whole states in its layer, and which of the two operands is meant."""
_TOLERANCE = 1e-4  # of the largest entry: what a mixture of experts adds is what two states differ by


@dataclass
class _Sums(TorchFunctionMode):
    """Counts the sums of two whole states, of `size` numbers each, and lets `see` change their operands."""

    size: int
    see: Callable[[SumPlace, Tensor], Tensor]

    def __post_init__(self) -> None:
        super().__init__()
        self._count = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, a sum with the operands that `see` gives."""
        if getattr(func, "__name__", "") in ADDS:
            operands = [value for value in args[:2] if isinstance(value, Tensor) and value.is_floating_point()]
            if len(operands) == 2 and all(operand.numel() == self.size for operand in operands):
                seen = [self.see((self._count, number), operand) for number, operand in enumerate(operands)]
                self._count += 1
                return func(*seen, *args[2:], **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def operands(runs: LayerRuns, stream: str, layer: int) -> Mapping[SumPlace, Tensor]:
    """Run one layer of the kept text alone: the operands of its sums of two whole states, each [1, Q, D]."""
    state = runs.whole().state(stream, layer)
    seen: dict[SumPlace, Tensor] = {}

    def see(place: SumPlace, operand: Tensor) -> Tensor:
        seen[place] = operand.detach().reshape(state.shape).clone()
        return operand

    with _Sums(state.numel(), see):
        runs.whole().run_layer(stream, layer, state)
    return seen


def find_sum(seen: Mapping[SumPlace, Tensor], added: NDArray[Any]) -> SumPlace | None:
    """Find the operand that is `added` [Q, D], what a sublayer added; None where there is none."""
    want = torch.tensor(added).float()
    for place, operand in seen.items():
        digits = torch.finfo(operand.dtype).eps
        if float((operand[0].float().cpu() - want).abs().max()) <= max(_TOLERANCE, 4 * digits) * float(
            want.abs().max()
        ):
            return place
    return None


@contextmanager
def changing_sums(state: Tensor, changes: Mapping[SumPlace, Callable[[Tensor], Tensor]]) -> Iterator[None]:
    """Change operands of a layer's sums inside the block, in which one layer runs that `state` [B, S, D] enters."""

    def see(place: SumPlace, operand: Tensor) -> Tensor:
        return changes[place](operand.reshape(state.shape)).reshape(operand.shape) if place in changes else operand

    with _Sums(state.numel(), see):
        yield
