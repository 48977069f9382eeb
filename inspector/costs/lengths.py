"""The costs of a counted model against the length of its text: a sweep, and where attention meets the FFN.

```python
counted = count(SHELF["llama-2-70b"].config())
crossings(counted)  # Crossovers(core=43008.0, sublayer=33792.0, plain=False)
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs.counted.polynomials import evaluate
from inspector.costs.derived import GROUPS, Crossovers

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts

FFN = ("ffn", "experts", "router")
"""The parts that make up an FFN: its matrices, or those of the experts that a token chooses, with their choice."""

_LONGEST = 2**30  # tokens; two costs that have not met by then are said not to meet


def sweep(counted: CountedCosts, lengths: Iterable[int], *, stream: str | None = None) -> pd.DataFrame:
    """FLOPs of the layers' attention and FFN for texts of different lengths, summed over the layers.

    stream: encoder | decoder | cross; all where None. Columns as in `by_length`; an encoder-decoder reads as many
    tokens on either side. Nothing is run: each group is a polynomial that was found and proven before.

    Raises ValueError for a length below 1, and for a model without a proven polynomial.
    """
    polynomials = {group: _polynomial(counted, component=group, stream=stream) for group in GROUPS}
    present = [group for group, coefficients in polynomials.items() if any(coefficients)]
    rows = []
    for tokens in lengths:
        if tokens < 1:
            raise ValueError(f"a text of {tokens} tokens; lengths must be at least 1")
        flops = {group: _at(counted, polynomials[group], tokens) for group in present}
        total = sum(flops.values())
        rows += [(tokens, GROUPS[group], group, flops[group], flops[group] / total) for group in present]
    return pd.DataFrame(rows, columns=["tokens", "part", "group", "flops", "share"])


def crossings(counted: CountedCosts, *, stream: str | None = None, across: bool = False) -> Crossovers | None:
    """Find the lengths at which attention costs as much as the FFN; None where they never do.

    core is 1 where scores and mix cost more at any length.

    stream: encoder | decoder, the first of the model where None. across: with the attention over a source of as many
    tokens. Experts count as many as a token chooses.

    Raises ValueError for a model without a proven polynomial.
    """
    stream = streams(counted)[0] if stream is None else stream
    whose: list[str] = [stream, "cross"] if across else [stream]
    attention = _sum(_polynomial(counted, part="attention", stream=stream) for stream in whose)
    pairs = _sum(_polynomial(counted, component=name, stream=stream) for stream in whose for name in ("scores", "mix"))
    ffn = _sum(_polynomial(counted, part=part, stream=stream) for part in FFN)
    if not any(pairs) or not any(ffn):
        return None
    last = _at(counted, ffn, _LONGEST)
    if _at(counted, pairs, _LONGEST) < last or _at(counted, attention, _LONGEST) < last:
        return None
    core = _meets(lambda n: _at(counted, pairs, n), lambda n: _at(counted, ffn, n))
    sublayer = _meets(lambda n: _at(counted, attention, n), lambda n: _at(counted, ffn, n))
    return Crossovers(core=1.0 if core is None else core, sublayer=sublayer, plain=False)


def streams(counted: CountedCosts) -> list[str]:
    """List the streams that have layers, the first first, cross-attention left out."""
    if counted.formula is None:
        return []
    names = dict.fromkeys(str(row.stream) for row in counted.formula.rows if row.layer is not None)
    return [stream for stream in names if stream != "cross"]


def _polynomial(
    counted: CountedCosts, *, component: str | None = None, part: str | None = None, stream: str | None = None
) -> Sequence[int]:
    return counted.polynomial(component, part=part, stream=stream)


def _sum(polynomials: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*polynomials, strict=True)]


def _at(counted: CountedCosts, coefficients: Sequence[int], tokens: int) -> int:
    assert counted.formula is not None
    basis = counted.formula.basis
    return evaluate(basis, coefficients, (tokens,) * basis.lengths)


def _meets(cost: Callable[[int], int], other: Callable[[int], int]) -> float | None:
    """Find where `cost`, the dearer at last, overtakes `other` for good; None where it is dearer at any length.

    Between two whole lengths the difference is a parabola through the three lengths around them.
    """

    def over(n: int) -> int:
        return cost(n) - other(n)

    low, high = 1, 2
    while over(high) < 0:
        low, high = high, 2 * high
    if over(low) >= 0:
        return 1.0 if over(low) == 0 else None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if over(middle) < 0 else (low, middle)
    before, after, beyond = over(low), over(low + 1), over(low + 2)
    bend = (beyond - 2 * after + before) / 2
    slope = after - before - bend
    if not bend:
        return low - before / slope
    return low + (-slope + sqrt(slope * slope - 4 * bend * before)) / (2 * bend)
