"""One layer of random weights, whose parts the clock runs one by one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from inspector.costs.clock import LayerShape


def clock_of(device: torch.device) -> Callable[[], float]:
    """Choose the clock: a thread's own CPU time where torch uses one thread, else time on the wall."""
    if device.type == "cpu":
        return time.thread_time if torch.get_num_threads() == 1 else time.perf_counter

    def synchronised() -> float:
        torch.accelerator.synchronize(device)
        return time.perf_counter()

    return synchronised


class TimedLayer:
    """Random weights of one layer, and the tensors that its parts read at a length."""

    def __init__(self, shape: LayerShape, *, dtype: torch.dtype, device: torch.device) -> None:
        self.shape, self.device = shape, device
        self.generator = torch.Generator(device).manual_seed(0)
        self.dtype = dtype
        every, shared = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        self.q, self.k, self.v = (self._random(out, shape.width) for out in (every, shared, shared))
        self.out = self._random(shape.width, every)
        self.up, self.down = self._random(shape.ffn_width, shape.width), self._random(shape.width, shape.ffn_width)
        self.gate = self._random(shape.ffn_width, shape.width) if shape.gated else None

    def clock(self) -> Callable[[], float]:
        """Choose the clock of the layer's device."""
        return clock_of(self.device)

    def tensors(self, tokens: int) -> dict[str, Tensor]:
        """Make what the parts read: the states [n, d], q, k, v by head [1, H, n, E], and scores [1, H, n, n]."""
        shape = self.shape
        heads = (1, shape.heads, tokens, shape.head_width)
        scores = self._random(1, shape.heads, tokens, tokens)
        return {
            "x": self._random(tokens, shape.width),
            "q": self._random(*heads),
            "k": self._random(*heads),
            "v": self._random(*heads),
            "scores": scores,
            "weights": torch.softmax(scores, dim=-1),
        }

    def run(self, part: str, given: dict[str, Tensor]) -> None:
        """Compute one part."""
        x, q, k, v = (given[name] for name in "xqkv")
        match part:
            case "projections":
                for weight in (self.q, self.k, self.v):
                    functional.linear(x, weight)
                functional.linear(q.reshape(len(x), -1), self.out)
            case "scores":
                (q @ k.transpose(-2, -1)).mul_(self.shape.head_width**-0.5)
            case "softmax":
                torch.softmax(given["scores"], dim=-1)
            case "mix":
                given["weights"] @ v
            case "fused":
                functional.scaled_dot_product_attention(q, k, v)
            case "ffn":
                inner = functional.linear(x, self.up)
                if self.gate is None:
                    inner = functional.gelu(inner)
                else:
                    inner = functional.silu(functional.linear(x, self.gate)).mul_(inner)
                functional.linear(inner, self.down)

    def _random(self, *sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=self.generator, dtype=self.dtype, device=self.device)
