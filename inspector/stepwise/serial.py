"""Work and waiting: what an LSTM and attention compute for n tokens, and how many steps wait for another.

An LSTM's state h_t needs h_{t-1} (Hochreiter & Schmidhuber 1997), so n tokens are n steps in a row, whatever the
machine. Attention's n outputs need the inputs alone, so all are one step (Vaswani et al. 2017, table 1: O(n) sequential
operations against O(1)). FLOPs say nothing about that: they count how much is computed, not what has to wait.

Shapes: n tokens, d width of the inputs and of the state; the FFN is 4 d wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import pandas as pd

Layer = Literal["lstm", "attention", "block"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""An LSTM; self-attention with its four projections; and a Transformer's whole layer, attention and an FFN."""


def flops(layer: Layer, *, tokens: int, width: int) -> int:
    """Count the FLOPs of a layer's matrix products, 1 multiply-add = 2, without elementwise work.

    LSTM: four gates read x_t and h_{t-1}, 2 · 4 · 2d² a token: 16 n d². Attention: four projections 8 n d², scores and
    mix 4 n² d. A Transformer's layer adds the FFN's 16 n d². Raises ValueError for a number below 1.
    """
    _check(tokens, width)
    projected = tokens * width**2
    match layer:
        case "lstm":
            return 16 * projected
        case "attention":
            return 8 * projected + 4 * tokens**2 * width
        case "block":
            return 24 * projected + 4 * tokens**2 * width


def waiting(layer: Layer, *, tokens: int) -> int:
    """Count the steps of a layer that must wait for each other: n in an LSTM, 1 in attention."""
    _check(tokens, 1)
    return tokens if layer == "lstm" else 1


def crossing(*, width: int) -> int:
    """Find the length at which attention's FLOPs equal the LSTM's, 2 d; a Transformer's whole layer always has more."""
    _check(1, width)
    return 2 * width


def table(tokens: Sequence[int], *, width: int) -> pd.DataFrame:
    """Count each layer at each length; columns tokens, layer, flops, waiting."""
    rows = [
        (length, layer, flops(layer, tokens=length, width=width), waiting(layer, tokens=length))
        for length in tokens
        for layer in LAYERS
    ]
    return pd.DataFrame(rows, columns=["tokens", "layer", "flops", "waiting"])


def _check(tokens: int, width: int) -> None:
    if min(tokens, width) < 1:
        raise ValueError(f"tokens {tokens}, width {width}: each must be at least 1")
