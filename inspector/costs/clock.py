"""The clock: how long a layer's parts take on this machine, beside what is counted.

One layer of the model's shape, in its dtype and on its device, is run part by part: the four projections; scores,
softmax and mix as three steps (eager) or in torch's fused kernel (SDPA); and the FFN with its activation. The numbers
in its tensors are random, for a dense product takes as long whatever they are. Norms, residual sums, masks and position
rotations are left out. The parts of all lengths take turns, so that a busy moment of the machine falls on all alike,
and the medians are kept.

```python
measure(models.load("minilm"), tokens=[128, 512, 1024]).table  # DataFrame
```
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pandas as pd

from inspector.costs.formulas import SOFTMAX_FLOPS

if TYPE_CHECKING:
    import torch

    from models.loaded import LoadedModel

Key = TypeVar("Key", bound=Hashable)
Times = Mapping[tuple[int, str], Sequence[float]]
Kernel = Literal["eager", "sdpa"]
PARTS: dict[Kernel, tuple[str, ...]] = {
    "eager": ("projections", "scores", "softmax", "mix"),
    "sdpa": ("projections", "fused"),
}
"""The parts that attention is made of, by the kernel that computes it."""

PAIRED = ("scores", "softmax", "mix", "fused")
"""The parts that work on pairs of tokens."""

ALL_PARTS = ("projections", "scores", "softmax", "mix", "fused", "ffn")
MOST_BYTES = 10**9  # of the tensors of all lengths
MOST_FLOPS = 10**13  # of all runs together: minutes on one core
REPEATS = 7


@dataclass(frozen=True)
class LayerShape:
    """The sizes of one layer: d, H, K, the width of a head, and of the FFN; gated where it has a third matrix."""

    width: int
    heads: int
    kv_heads: int
    head_width: int
    ffn_width: int
    gated: bool

    @property
    def ffn_parameters(self) -> int:
        """The numbers in the FFN's matrices."""
        return (3 if self.gated else 2) * self.width * self.ffn_width

    @property
    def projection_parameters(self) -> int:
        """The numbers in the four matrices of attention."""
        return 2 * self.width * (self.heads + self.kv_heads) * self.head_width

    @property
    def crossover(self) -> float | None:
        """The length at which attention's counted FLOPs equal the FFN's; None where it has more at any length."""
        tokens = (self.ffn_parameters - self.projection_parameters) / (2 * self.heads * self.head_width)
        return tokens if tokens > 0 else None


@dataclass(frozen=True)
class LayerTimes:
    """The times of one layer's parts.

    table: a row per tokens and part (projections, scores, softmax, mix, fused, ffn) with seconds (the median of
    `repeats` runs), flops (matrix products, and 5 for an element of the softmax) and bytes (what the part must at least
    read and write). clock: "CPU time" of one thread, or "wall time". counted: the crossover that FLOPs predict.
    """

    shape: LayerShape
    table: pd.DataFrame
    dtype: str
    device: str
    clock: str
    repeats: int
    counted: float | None

    def ratios(self, kernel: Kernel) -> dict[int, float]:
        """Divide attention's time by the FFN's, for each length."""
        seconds = self.table.pivot_table(index="tokens", columns="part", values="seconds")
        attention = seconds[list(PARTS[kernel])].sum(axis=1)
        return {int(tokens): float(ratio) for tokens, ratio in (attention / seconds["ffn"]).items()}

    def crossover(self, kernel: Kernel) -> float | None:
        """Find the length from which attention takes longer than the FFN up to the longest that was measured.

        Between two measured lengths the ratio is taken for a straight line on log axes. None where the FFN takes longer
        at the longest; the shortest length where attention takes longer at all of them.
        """
        ratios = self.ratios(kernel)
        lengths = sorted(ratios)
        if ratios[lengths[-1]] < 1:
            return None
        for shorter, longer in reversed(list(pairwise(lengths))):
            if ratios[shorter] < 1:
                low, high = math.log(ratios[shorter]), math.log(ratios[longer])
                share = low / (low - high)
                return float(math.exp(math.log(shorter) + share * math.log(longer / shorter)))
        return float(lengths[0])


def measure(
    loaded: LoadedModel,
    tokens: Sequence[int],
    *,
    repeats: int = REPEATS,
    most_bytes: int = MOST_BYTES,
    most_flops: int = MOST_FLOPS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> LayerTimes:
    """Measure the parts of one layer of a model's shape for texts of these lengths.

    on_progress: called with the runs that are done and the runs that there will be. stop: asked between two runs.
    Raises ValueError for lengths below 1, whose tensors are larger than `most_bytes` or whose runs take more than
    `most_flops`, for a model whose layer has
    other parts (a mixture of experts, latent attention), and when stopped.
    """
    shape = layer_shape(loaded.config)
    tensor = next(loaded.network.parameters())
    return measure_shape(
        shape,
        tokens,
        dtype=tensor.dtype,
        device=tensor.device,
        repeats=repeats,
        most_bytes=most_bytes,
        most_flops=most_flops,
        on_progress=on_progress,
        stop=stop,
    )


def measure_shape(
    shape: LayerShape,
    tokens: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
    parts: Sequence[str] = ALL_PARTS,
    repeats: int = REPEATS,
    most_bytes: int = MOST_BYTES,
    most_flops: int = MOST_FLOPS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_turn: Callable[[LayerTimes], object] = lambda so_far: None,
    stop: Callable[[], bool] = lambda: False,
) -> LayerTimes:
    """Measure one layer of a given shape, in float32 where no dtype is given.

    parts: to time. on_turn: called with what is measured so far, its `repeats` turns, each time that all parts have run
    once more. `measure` explains the other arguments.
    """
    import torch  # takes seconds

    from inspector.costs.timed_layer import TimedLayer

    dtype = torch.float32 if dtype is None else dtype
    lengths = sorted(set(tokens))
    if not lengths or lengths[0] < 1 or repeats < 1:
        raise ValueError(f"tokens {list(tokens)[:5]}, repeats {repeats}: each must be at least 1")
    weights = dtype.itemsize * (shape.ffn_parameters + shape.projection_parameters)
    if weights > most_bytes:
        raise ValueError(
            f"the weights of one layer take {weights:,} bytes, over {most_bytes:,}, so it is not timed here"
        )
    needed = weights + dtype.itemsize * sum(_numbers(shape, length) for length in lengths)
    if needed > most_bytes:
        raise ValueError(
            f"one layer at up to {lengths[-1]:,} tokens takes {needed:,} bytes with its scores, over {most_bytes:,}; "
            "choose shorter texts"
        )
    work = (repeats + 1) * sum(_work(shape, part, length, 1)[0] for length in lengths for part in parts)
    if work > most_flops:
        raise ValueError(
            f"timing one layer at up to {lengths[-1]:,} tokens takes {work:,} FLOPs, over {most_flops:,}; choose "
            "shorter texts"
        )
    layer = TimedLayer(shape, dtype=dtype, device=torch.device(device))
    now = layer.clock()

    def so_far(times: Times) -> LayerTimes:
        rows = [
            (length, part, median(seconds), *_work(shape, part, length, dtype.itemsize))
            for (length, part), seconds in times.items()
        ]
        return LayerTimes(
            shape=shape,
            table=pd.DataFrame(rows, columns=["tokens", "part", "seconds", "flops", "bytes"]),
            dtype=str(dtype).removeprefix("torch."),
            device=str(layer.device),
            clock="CPU time" if now is time.thread_time else "wall time",
            repeats=len(next(iter(times.values()))),
            counted=shape.crossover,
        )

    with torch.no_grad():
        tensors = {}
        for length in lengths:
            on_progress(0, (repeats + 1) * len(lengths) * len(parts))  # making random numbers takes a moment too
            tensors[length] = layer.tensors(length)
        runs = {(length, part): partial(layer.run, part, tensors[length]) for length in lengths for part in parts}
        times = take_turns(
            runs,
            now=now,
            repeats=repeats,
            on_progress=on_progress,
            on_turn=lambda times: on_turn(so_far(times)),
            stop=stop,
        )
    return so_far(times)


def take_turns(
    runs: Mapping[Key, Callable[[], object]],
    *,
    now: Callable[[], float],
    repeats: int,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_turn: Callable[[Mapping[Key, list[float]]], object] = lambda so_far: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[Key, list[float]]:
    """Time several runs `repeats` times each, one after the other in turns: a busy moment falls on all alike.

    now: the clock. A first turn warms up and is not kept. on_turn: called with the seconds so far after each turn.
    Raises ValueError when stopped.
    """
    times: dict[Key, list[float]] = {key: [] for key in runs}
    total, done = (repeats + 1) * len(runs), 0
    for turn in range(repeats + 1):
        for key, run in runs.items():
            if stop():
                raise ValueError("stopped")
            began = now()
            run()
            if turn:
                times[key].append(now() - began)
            done += 1
            on_progress(done, total)
        if turn:
            on_turn(times)
    return times


def measure_heads(
    width: int,
    heads: Sequence[int],
    *,
    tokens: int,
    repeats: int = REPEATS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_heads: Callable[[dict[int, LayerTimes]], object] = lambda so_far: None,
) -> dict[int, LayerTimes]:
    """Measure scores, softmax and mix of one layer with several numbers of heads, which share its width.

    Each head has keys and values of its own. on_heads: called with what is measured so far after each number of heads.
    Raises ValueError as `measure`, and for a number that does not divide the
    width.
    """
    if wrong := [number for number in heads if number < 1 or width % number]:
        raise ValueError(f"{wrong[0]} heads do not divide a width of {width}")
    by_heads = {}
    for place, number in enumerate(heads):

        def progress(done: int, total: int, before: int = place) -> object:
            return on_progress(before * total + done, len(heads) * total)

        shape = LayerShape(width, number, number, width // number, 1, gated=False)
        by_heads[number] = measure_shape(shape, [tokens], parts=PAIRED, repeats=repeats, on_progress=progress)
        on_heads(dict(by_heads))
    return by_heads


def layer_shape(config: Any) -> LayerShape:
    """Read one layer's shape from a configuration (an encoder-decoder: of the encoder).

    Raises ValueError for layers that have other parts than projections, scores, mix and one FFN.
    """
    from inspector.costs.counted import count
    from models.config_facts import attention_sizes, first_number, text_config
    from models.transformer.config import TransformerConfig

    if isinstance(config, TransformerConfig):
        return LayerShape(
            config.width, config.heads, config.key_heads, config.head_width, config.ffn_width, config.gated
        )
    if getattr(text_config(config), "kv_lora_rank", None):
        raise ValueError(
            "the clock times keys and values that are projected at once, and this model makes latents first"
        )
    table = count(config).table(tokens=1)
    layer = table[(table["layer"] == 0) & (table["kind"] == "matmul") & (table["stream"] == table["stream"].iloc[0])]
    flops = layer.groupby("component")["flops"].sum()
    if missing := {"q", "k", "v", "scores", "mix", "out", "up", "down"} - set(flops.index):
        raise ValueError(
            f"the clock times layers of attention and an FFN, and this one has no {', '.join(sorted(missing))}"
        )
    if "router" in flops.index or "experts" in flops.index:
        raise ValueError("the clock times one FFN a layer, and this model chooses among experts")
    width = first_number(text_config(config), "hidden_size", "d_model")
    heads, kv_heads, head_width, _ = attention_sizes(config)
    return LayerShape(width, heads, kv_heads, head_width, int(flops["up"]) // (2 * width), "gate" in flops.index)


def work(shape: LayerShape, tokens: int, *, element_bytes: int = 4) -> pd.DataFrame:
    """Count what each part of a layer computes and moves; columns part, flops, bytes, as in `LayerTimes.table`."""
    rows = [(part, *_work(shape, part, tokens, element_bytes)) for part in ALL_PARTS]
    return pd.DataFrame(rows, columns=["part", "flops", "bytes"])


def _numbers(shape: LayerShape, tokens: int) -> int:
    """Count the numbers that a length adds in memory at once, at most: states, and four times the scores."""
    wide = tokens * (2 * shape.width + 6 * shape.heads * shape.head_width + 3 * shape.ffn_width)
    return wide + 4 * shape.heads * tokens**2


def _work(shape: LayerShape, part: str, tokens: int, size: int) -> tuple[int, int]:
    """FLOPs of a part, and the bytes that it reads and writes when nothing is read twice."""
    every, shared = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    pairs, states = shape.heads * tokens**2, tokens * every
    flops = {
        "projections": 2 * tokens * shape.projection_parameters,
        "scores": 2 * tokens**2 * every,
        "softmax": SOFTMAX_FLOPS * pairs,
        "mix": 2 * tokens**2 * every,
        "fused": 4 * tokens**2 * every + SOFTMAX_FLOPS * pairs,
        "ffn": 2 * tokens * shape.ffn_parameters,
    }
    numbers = {
        "projections": shape.projection_parameters + tokens * (2 * shape.width + 2 * every + 2 * shared),
        "scores": 2 * states + pairs,
        "softmax": 2 * pairs,
        "mix": pairs + 2 * states,
        "fused": 4 * states,
        "ffn": shape.ffn_parameters + tokens * (2 * shape.width + 2 * (2 if shape.gated else 1) * shape.ffn_width),
    }
    return flops[part], size * numbers[part]
