"""Score functions side by side: what attention costs with each, in closed form and on the clock.

One attention of n queries and n keys in H heads of width d: matrix products of the scores and of the mix with the
values. Dot products are q . k, general scores q^T W k (Luong et al. 2015), additive ones v^T tanh(W_q q + W_k k + b)
(Bahdanau et al. 2015), linear attention phi(Q) (phi(K)^T V), which makes no scores (Katharopoulos et al. 2020).
Additive scores are written in two ways. Naive: W [q; k] for every pair, n^2 products of a [d, 2d] matrix. Factorised:
W [q; k] = W_q q + W_k k, so that each token is multiplied once, and only the sum and its tanh are made for every pair.

```python
table(Sizes(tokens=64, width=64, batch=2))  # a row per function: flops, largest_bytes, parameters
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Literal, get_args

import pandas as pd

from inspector.costs.clock import take_turns

if TYPE_CHECKING:
    from torch import Tensor

Function = Literal["dot", "general", "additive", "additive_naive", "linear"]
FUNCTIONS: tuple[Function, ...] = get_args(Function)
BYTES = 4  # of a number, float32
MOST_FLOPS = 10**10  # of one run that is timed: about a second on one core
MOST_BYTES = 4 * 10**8  # of its largest tensor
REPEATS = 7


@dataclass(frozen=True)
class Sizes:
    """The sizes of an attention: n queries and keys, d features in each of the heads, and the texts of a batch."""

    tokens: int
    width: int
    heads: int = 1
    batch: int = 1

    def __post_init__(self) -> None:
        for name in ("tokens", "width", "heads", "batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")


@dataclass(frozen=True)
class ScoreCost:
    """The cost of one function. scores, mix: FLOPs of matrix products, 2 for a multiply-add; linear attention has no
    scores. largest: the numbers in the largest tensor that is made. parameters: how many the score function learns; the
    bias of v, which the usual nn.Linear(d, 1) has besides, changes no weight and is left out.
    """

    function: Function
    scores: int
    mix: int
    largest: int
    parameters: int

    @property
    def flops(self) -> int:
        """Scores and mix together."""
        return self.scores + self.mix


def cost(function: Function, sizes: Sizes) -> ScoreCost:
    """Count one function in closed form."""
    n, d, each = sizes.tokens, sizes.width, sizes.heads * sizes.batch
    dot, states = 2 * n * n * d, n * d
    match function:
        case "dot":
            scores, mix, largest, learned = dot, dot, max(n * n, states), 0
        case "general":
            scores, mix, largest, learned = 2 * n * d * d + dot, dot, max(n * n, states), d * d
        case "additive":
            scores, mix, largest, learned = 4 * n * d * d + dot, dot, n * n * d, 2 * d * d + 2 * d
        case "additive_naive":
            scores, mix, largest, learned = n * n * 4 * d * d + dot, dot, n * n * 2 * d, 2 * d * d + 2 * d
        case "linear":
            scores, mix, largest, learned = 0, 4 * n * d * d + 2 * n * d, max(states, d * d), 0
    return ScoreCost(function, each * scores, each * mix, each * largest, sizes.heads * learned)


def table(sizes: Sizes) -> pd.DataFrame:
    """Count every function: columns function, scores_flops, flops, times_dot, largest_bytes, parameters."""
    costs = [cost(function, sizes) for function in FUNCTIONS]
    dot = costs[0].flops
    return pd.DataFrame(
        {
            "function": [counted.function for counted in costs],
            "scores_flops": [float(counted.scores) for counted in costs],  # may go over the whole numbers of a table
            "flops": [float(counted.flops) for counted in costs],
            "times_dot": [counted.flops / dot for counted in costs],
            "largest_bytes": [BYTES * counted.largest for counted in costs],
            "parameters": [counted.parameters for counted in costs],
        }
    )


def by_length(sizes: Sizes, lengths: Sequence[int]) -> pd.DataFrame:
    """Count every function at several lengths: columns function, tokens, flops, largest_bytes."""
    rows = [
        (function, int(n), float(counted.flops), BYTES * counted.largest)
        for function in FUNCTIONS
        for n in lengths
        for counted in [cost(function, Sizes(int(n), sizes.width, sizes.heads, sizes.batch))]
    ]
    return pd.DataFrame(rows, columns=["function", "tokens", "flops", "largest_bytes"])


# --- on the clock --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FunctionTimes:
    """Medians of `repeats` runs in seconds, by function; left_out: the functions that would take too long, and why.

    clock: "CPU time" of one thread, or "wall time".
    """

    sizes: Sizes
    seconds: Mapping[Function, float]
    left_out: Mapping[Function, str]
    repeats: int
    clock: str


def left_out(sizes: Sizes) -> dict[Function, str]:
    """Say which functions are not timed at these sizes, and what they would take."""
    reasons: dict[Function, str] = {}
    for function in FUNCTIONS:
        counted = cost(function, sizes)
        if counted.flops > MOST_FLOPS:
            reasons[function] = f"{counted.flops:,} FLOPs, over {MOST_FLOPS:,}"
        elif BYTES * counted.largest > MOST_BYTES:
            reasons[function] = f"{BYTES * counted.largest:,} bytes for one tensor, over {MOST_BYTES:,}"
    return reasons


def measure(
    sizes: Sizes,
    *,
    repeats: int = REPEATS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_turn: Callable[[FunctionTimes], object] = lambda so_far: None,
    stop: Callable[[], bool] = lambda: False,
) -> FunctionTimes:
    """Time attention with every function on random numbers, in turns: scores, softmax and mix, or linear attention.

    Naive scores are made for all pairs at once, as nobody would wait for a loop over pairs. Functions that would take
    too long are left out. on_progress, on_turn, stop: as of `costs.measure`. Raises ValueError where all are left out,
    and when stopped.
    """
    import torch

    from inspector.costs.timed_layer import clock_of

    without = left_out(sizes)
    if len(without) == len(FUNCTIONS):
        raise ValueError(f"{sizes.tokens:,} tokens in {sizes.heads} heads take too long to be timed; choose fewer")
    given, now = _Given(sizes), clock_of(torch.device("cpu"))
    runs: dict[Function, Callable[[], object]] = {
        function: partial(given.run, function) for function in FUNCTIONS if function not in without
    }

    def so_far(times: Mapping[Function, list[float]]) -> FunctionTimes:
        seconds = {function: median(runs) for function, runs in times.items()}
        counted = len(next(iter(times.values())))
        clock = "CPU time" if torch.get_num_threads() == 1 else "wall time"
        return FunctionTimes(sizes, seconds, without, counted, clock)

    with torch.no_grad():
        times = take_turns(
            runs,
            now=now,
            repeats=repeats,
            on_progress=on_progress,
            on_turn=lambda times: on_turn(so_far(times)),
            stop=stop,
        )
    return so_far(times)


class _Given:
    """Random queries, keys, values and learned tensors of the sizes."""

    def __init__(self, sizes: Sizes, *, device: str = "cpu") -> None:
        import torch

        from models.transformer.learned_attention import additive_tensors, general_tensors

        generator = torch.Generator().manual_seed(0)
        shape = (sizes.batch, sizes.heads, sizes.tokens, sizes.width)
        self.query, self.key, self.value = (torch.randn(shape, generator=generator).to(device) for _ in range(3))
        learned = {"heads": sizes.heads, "width": sizes.width}
        self.general = {name: tensor.to(device) for name, tensor in general_tensors(generator, **learned).items()}
        self.additive = {name: tensor.to(device) for name, tensor in additive_tensors(generator, **learned).items()}

    def run(self, function: Function) -> Tensor:
        """Attend with one function: [B, H, n, d]."""
        from models.attention.scores import linear_attention

        if function == "linear":
            return linear_attention(self.query, self.key, self.value)
        return self.scores(function).softmax(dim=-1) @ self.value

    def scores(self, function: Function) -> Tensor:
        """Compute the scores of one function, [B, H, n, n], without a scale, which all would share."""
        from models.attention.scores import AdditiveScore, DotScore, GeneralScore

        rows = slice(0, self.query.shape[2])
        match function:
            case "general":
                return GeneralScore(**self.general)(self.query, self.key, rows)
            case "additive":
                return AdditiveScore(**self.additive)(self.query, self.key, rows)
            case "additive_naive":
                return naive_additive(self.query, self.key, **self.additive)
            case _:
                return DotScore()(self.query, self.key, rows)


def naive_additive(
    query: Tensor, key: Tensor, *, query_weight: Tensor, key_weight: Tensor, bias: Tensor, v: Tensor
) -> Tensor:
    """v^T tanh(W [q; k] + b), the pair [q; k] made for all pairs at once: [B, H, n, d], [B, H, m, d] -> [B, H, n, m].

    query_weight, key_weight: [H, d, d], the halves of W; bias, v: [H, d].
    """
    import torch

    n, m = query.shape[2], key.shape[2]
    pairs = torch.cat(
        [query[:, :, :, None].expand(-1, -1, -1, m, -1), key[:, :, None].expand(-1, -1, n, -1, -1)], dim=-1
    )  # [B, H, n, m, 2d]
    weight = torch.cat([query_weight, key_weight], dim=-1)  # [H, d, 2d]
    hidden = torch.tanh(pairs @ weight.mT[:, None] + bias[:, None, None])  # [B, H, n, m, d]
    return (hidden @ v[:, None, :, None]).squeeze(-1)
