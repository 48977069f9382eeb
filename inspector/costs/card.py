"""A model on a card: whether its weights and its cache fit, and how long reading and writing take at best.

Nothing is run. A card can take no less time than its memory needs to move what is read once, and no less than its
arithmetic needs for the matrix products (the roofline of Williams et al. 2009); in practice it takes longer.

```python
shape = SHELF["llama-2-70b"].config()
on_card(count(shape), kv_cache(shape), CARDS["a100"], tokens=32768, batch=8).cards  # 3
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts
    from inspector.costs.kv_cache import CacheSizes

_PAIRS = ("scores", "mix")


@dataclass(frozen=True)
class DeviceCard:
    """A device as its data sheet has it.

    memory: bytes; bandwidth: of the memory, bytes a second. peak, peak32: FLOPs a second of dense matrix products of
    16-bit numbers, and of float32.
    """

    title: str
    memory: int
    bandwidth: int
    peak: int
    peak32: int


_G, _T = 10**9, 10**12
CARDS: Mapping[str, DeviceCard] = {
    "a100": DeviceCard("A100 80 GB", 80 * _G, 2039 * _G, 312 * _T, 195 * _T // 10),
    "h100": DeviceCard("H100 SXM", 80 * _G, 3350 * _G, 989 * _T, 67 * _T),
    "h200": DeviceCard("H200 SXM", 141 * _G, 4800 * _G, 989 * _T, 67 * _T),
    "4090": DeviceCard("RTX 4090", 24 * _G, 1008 * _G, 165 * _T, 82 * _T),
}
"""Cards by a short name, from NVIDIA's data sheets, without sparsity."""


@dataclass(frozen=True)
class CardNeeds:
    """The bytes that must fit, and the seconds that a pass and a step take at best.

    weights, cache: bytes. cards: how many hold both. read: seconds to read all texts once. step: seconds to write one
    token more of every text, None for a model that does not write. bound, step_bound: what sets them, "computing" or
    "memory".
    """

    weights: int
    cache: int
    cards: int
    read: float
    bound: str
    step: float | None
    step_bound: str
    batch: int

    @property
    def bytes(self) -> int:
        """Weights and cache together."""
        return self.weights + self.cache

    @property
    def speed(self) -> float | None:
        """Tokens written a second at best, over all texts."""
        return None if self.step is None else self.batch / self.step


def on_card(
    counted: CountedCosts,
    cache: CacheSizes | None,
    card: DeviceCard,
    *,
    tokens: int,
    target_tokens: int | None = None,
    batch: int = 1,
    element_bytes: int = 2,
) -> CardNeeds:
    """Derive what `batch` texts of n tokens take of a card.

    target_tokens: of an encoder-decoder; None for a target as long as its source.

    cache: None for a model that keeps none. element_bytes: of a number of the weights and the cache; 4 computes in
    float32, fewer in 16 bits.

    A step reads every weight that it multiplies with once, and the whole cache. Raises ValueError for a number below 1.
    """
    target = tokens if target_tokens is None else target_tokens
    if min(tokens, target, batch, element_bytes) < 1:
        raise ValueError(
            f"tokens {tokens} and {target}, batch {batch}, element_bytes {element_bytes}: each must be at least 1"
        )
    peak = card.peak32 if element_bytes >= 4 else card.peak
    weights = element_bytes * counted.parameters
    cached = 0 if cache is None else batch * cache.bytes(target, source=tokens, element_bytes=element_bytes)
    (flops,) = counted.total([tokens if target_tokens is None else (tokens, target)])
    read, bound = _longer(batch * flops / peak, weights / card.bandwidth)
    seconds, step_bound = None, ""
    formula, table = counted.step_formula, counted.step(tokens=tokens, target_tokens=target_tokens)
    if formula is not None and table is not None and cache is not None:
        # The constant term of a product of one token is 2 FLOPs a weight, whatever is cached.
        active = sum(of[0] for row, of in formula.rows.items() if row.component not in _PAIRS) // 2
        moved = element_bytes * active + cached
        seconds, step_bound = _longer(batch * int(table["flops"].sum()) / peak, moved / card.bandwidth)
    return CardNeeds(
        weights=weights,
        cache=cached,
        cards=-(-(weights + cached) // card.memory),
        read=read,
        bound=bound,
        step=seconds,
        step_bound=step_bound,
        batch=batch,
    )


def _longer(computing: float, memory: float) -> tuple[float, str]:
    return (computing, "computing") if computing >= memory else (memory, "memory")
