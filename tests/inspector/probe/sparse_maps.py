"""Maps that transformers hands out in windows or blocks, spread out to [H, Q, T]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

SPARSE = ("longformer", "led", "longt5", "pegasus_x")


def whole_map(name: str, given: Any, *, layer: int, tokens: int) -> np.ndarray:
    """float64 [H, Q, T] of an encoder layer's weights as transformers arranges them.

    Longformer, LED: [1, H, Q, window + 1], column c of query i is key i - window / 2 + c. LongT5: [1, blocks, H, size,
    3 size + side keys], whose columns begin a block before the query's. Pegasus-X: "local" [1, H, blocks, size, global
    tokens + size], with half a block of padding before the text in every other layer.
    """
    if name in ("longformer", "led"):
        half = given.shape[-1] // 2
        return _spread(given[0, :, :tokens], lambda query: query - half, tokens)
    if name == "longt5":
        size = given.shape[3]
        flat = given[0].movedim(1, 0).flatten(1, 2)[:, :tokens, : 3 * size]
        return _spread(flat, lambda query: (query // size - 1) * size, tokens)
    local: Tensor = given["local"][0]
    size = local.shape[2]
    shift = layer % 2 * size // 2
    flat = local.flatten(1, 2)[:, shift : shift + tokens, -size:]
    return _spread(flat, lambda query: (query + shift) // size * size - shift, tokens)


def _spread(given: Tensor, first_key: Callable[[int], int], tokens: int) -> np.ndarray:
    """[H, Q, columns] -> [H, Q, T]: the columns of each query begin at its first key."""
    whole = np.zeros((len(given), tokens, tokens))
    for query in range(tokens):
        for column in range(given.shape[-1]):
            key = first_key(query) + column
            if 0 <= key < tokens:
                whole[:, query, key] = given[:, query, column]
            else:
                assert (given[:, query, column] == 0).all()
    return whole
