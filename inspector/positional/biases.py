"""T5's and ALiBi's positions with a model's own numbers: what a head adds to a score by the distance of its tokens.

Shapes: H heads, R distances.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.attention.relative import buckets as own_buckets
from models.transformer.learned_attention import AlibiPositions, T5Positions

if TYPE_CHECKING:
    from models import LoadedModel


@dataclass(frozen=True, eq=False)
class DistanceBias:
    """The number that each head adds to a score, by the distance of key and query.

    kind: "t5" (learned, a number for each bucket of distances; Raffel et al. 2020) or "alibi" (a slope times the
    distance; Press et al. 2022). stream: whose attention. distances: key less query, [R], below 0 for keys before the
    query. values: [H, R]. buckets: T5's bucket of each distance, [R]; table: its number for each bucket, [buckets, H];
    None for ALiBi.
    """

    kind: Literal["t5", "alibi"]
    stream: Literal["encoder", "decoder"]
    distances: NDArray[np.int64]
    values: NDArray[np.float32]
    buckets: NDArray[np.int64] | None = None
    table: NDArray[np.float32] | None = None

    @property
    def slopes(self) -> NDArray[np.float64]:
        """Amounts that ALiBi takes off a score for each token of distance, [H]: to the farthest key back, by token."""
        slopes: NDArray[np.float64] = self.values[:, 0].astype(np.float64) / self.distances[0]
        return slopes

    @property
    def farthest(self) -> int | None:
        """The distance back at which T5's last bucket begins: all farther keys look alike; None for ALiBi.

        None too where the distances here do not reach the last bucket.
        """
        if self.buckets is None or self.table is None:
            return None
        back = self.buckets[self.distances <= 0]
        both = self.buckets[-1] > back.max()  # each side has half of the buckets
        last = len(self.table) // 2 - 1 if both or self.stream == "encoder" else len(self.table) - 1
        reached = -self.distances[(self.distances <= 0) & (self.buckets == last)]
        return int(reached.min()) if len(reached) else None


def biases(loaded: LoadedModel, *, reach: int) -> tuple[DistanceBias, ...]:
    """Ask the model's own code for its biases, for distances up to `reach` tokens either way (a decoder's: back alone).

    Equal ones of a stream count once. Empty for a model that adds none, or makes them in a way that is not known.
    Raises ValueError for a reach below 1.
    """
    if reach < 1:
        raise ValueError(f"reach is {reach}; it must be at least 1")
    decoder = loaded.card.shape == "decoder"
    distinct: list[DistanceBias] = []
    with torch.no_grad():
        for path, module in loaded.network.named_modules():
            stream: Literal["encoder", "decoder"] = "decoder" if decoder or "decoder" in path else "encoder"
            for made in _asked(module, reach, stream):
                if not any(
                    made.stream == known.stream and np.array_equal(made.values, known.values) for known in distinct
                ):
                    distinct.append(made)
    return tuple(distinct)


def _asked(module: Any, reach: int, stream: Literal["encoder", "decoder"]) -> Iterator[DistanceBias]:
    apart = torch.arange(-reach, 1 if stream == "decoder" else reach + 1)
    if hasattr(module, "relative_attention_bias"):
        yield from _t5(module, apart, stream)
    elif isinstance(module, T5Positions):
        rule = module(0)
        number = own_buckets(apart, count=len(rule.table), farthest=rule.farthest, both_sides=rule.both_sides)
        yield _of_buckets(rule.table, number, apart, stream)
    elif getattr(module, "use_alibi", False) and hasattr(module, "word_embeddings"):
        yield _falcons(module, reach)
    elif isinstance(module, AlibiPositions):
        yield _of_slopes(torch.tensor(module.slopes), apart, stream)
    elif (slopes := _slopes(module)) is not None:
        yield _of_slopes(slopes, apart, stream)


def _t5(module: Any, apart: Tensor, stream: Literal["encoder", "decoder"]) -> Iterator[DistanceBias]:
    """Ask T5's kind, whose attention knows its buckets, and MPNet's, whose encoder does."""
    table = module.relative_attention_bias.weight
    if hasattr(module, "_relative_position_bucket"):
        number = module._relative_position_bucket(
            apart.to(table.device),
            bidirectional=not module.is_decoder,
            num_buckets=module.relative_attention_num_buckets,
            max_distance=module.relative_attention_max_distance,
        )
    elif hasattr(module, "relative_position_bucket"):
        number = module.relative_position_bucket(apart.to(table.device), num_buckets=len(table))
    else:
        return
    yield _of_buckets(table, number, apart, stream)


def _slopes(module: Any) -> Tensor | None:
    """Ask the builders of BLOOM and MPT for what they take off a neighbour; None for any other module."""
    heads = getattr(module, "num_heads", 0)
    if hasattr(module, "build_mpt_alibi_tensor"):
        built: Tensor = module.build_mpt_alibi_tensor(heads, 2)
    elif hasattr(module, "build_alibi_tensor"):
        built = module.build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)
    else:
        return None
    built = built.reshape(heads, 2)
    return built[:, 1] - built[:, 0]


def _falcons(module: Any, reach: int) -> DistanceBias:
    """Ask Falcon's builder for what the query at position `reach` gets.

    Falcon divides it by the root of the head's width, as it does scores, and rounds it to bfloat16. Transformers adds
    it to the mask, and its eager attention, which is what is recorded, adds it once more to the scores.
    """
    build = sys.modules[type(module).__module__].build_alibi_tensor
    built: Tensor = build(torch.ones(1, reach + 1, dtype=torch.long), module.num_heads, torch.float32)[:, 0]
    times = 2 if module.config._attn_implementation == "eager" else 1
    width = module.config.hidden_size // module.num_heads
    values = (built - built[:, -1:]) * times / sqrt(width)
    return DistanceBias("alibi", "decoder", np.arange(-reach, 1), _read(values))


def _read(tensor: Tensor) -> NDArray[np.float32]:
    return np.array(tensor.detach().to("cpu", torch.float32).numpy())


def _of_buckets(table: Tensor, number: Tensor, apart: Tensor, stream: Literal["encoder", "decoder"]) -> DistanceBias:
    learned = _read(table)
    bucket = np.array(number.cpu().numpy())
    return DistanceBias("t5", stream, apart.numpy(), learned[bucket].T, bucket, learned)


def _of_slopes(slopes: Tensor, apart: Tensor, stream: Literal["encoder", "decoder"]) -> DistanceBias:
    values = -slopes.to("cpu", torch.float32)[:, None] * apart.abs()
    return DistanceBias("alibi", stream, apart.numpy(), _read(values))
