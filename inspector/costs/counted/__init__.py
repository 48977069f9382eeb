"""The count: a model's own code, run on the meta device (shapes alone, no weights), gives each product its component.

The one room of costs that runs models: networks of its own, which nobody else sees.

```python
counted = count(models.load("minilm").config)
counted.table(tokens=128)     # DataFrame
counted.polynomial("scores")  # coefficients of 1, n, n²
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.costs.counted.counting import CountedCosts


def count(config: Any, *, on_progress: Callable[[int, int], object] | None = None) -> CountedCosts:
    """Count the FLOPs and parameters of a model from its configuration, by running its code without weights.

    config: of the project's Transformer, or of transformers. Every product that the model's code makes is counted,
    whatever a mask hides of it. Experts are counted as many as a token chooses. on_progress: is called with the lengths
    that are counted, and how many there will be; an exception in it ends the count.

    Raises ValueError for a configuration that no model can be built from, or whose code does not run.
    """
    from inspector.costs.counted.counting import counted_of  # transformers, which takes seconds

    return counted_of(config, on_progress=on_progress)


def saved_bytes(
    config: Any,
    *,
    tokens: int = 128,
    target_tokens: int | None = None,
    precision: Literal["float32", "bfloat16", "float16"] = "float32",
    kernel: Literal["eager", "sdpa"] = "eager",
) -> int:
    """Count the bytes that a forward leaves for its backward: one text, no dropout.

    config: of transformers, or of the project's Transformer in float32. tokens: n; target_tokens: of an
    encoder-decoder, None for as many. kernel: eager attention keeps its weights, which grow with the square of the
    text; torch's fused kernel of the CPU (sdpa) keeps queries, keys, values, its output and one number for each query
    and head, and a mask where it is given one. Every storage that autograd saves counts once and whole; parameters and
    buffers, which are there anyway, do not. The project's eager code goes by blocks of queries, and leaves out the keys
    that a mask hides from a whole block.

    Raises ValueError for a number below 1 or over 10^9 (the project's Transformer: 8,192), for a model that cannot be
    built or run so, where the fused kernel does not take its attention, and where a model that goes through its text
    token by token would keep more than 20,000 tensors.
    """
    from inspector.costs.counted import saved  # transformers, which takes seconds

    return saved.count_saved(config, tokens=tokens, target_tokens=target_tokens, precision=precision, kernel=kernel)
