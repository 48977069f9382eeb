"""Mixing of tokens and of features: one number of one token is changed, and what follows in a sublayer is counted.

Shapes: H heads, K kv heads, Q query positions, D width, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from inspector.trace import Trace
from inspector.trace.blocks import Blocks

MOST = 512  # tokens, the first, that are looked at


@dataclass(frozen=True)
class ChangedCells:
    """Tokens and dimensions of a sublayer's output that change with one number of one token's input.

    alone: whether the only token that changes is the one that was changed.
    """

    tokens: int
    dimensions: int
    alone: bool


def ffn(
    blocks: Blocks, network: nn.Module, *, stream: str, layer: int, position: int, dimension: int = 0
) -> ChangedCells:
    """Change one number of an FFN's input by the token's root mean square, and run the FFN on all tokens.

    Raises ValueError for a layer whose FFN is not shown, and for a position that is not among the first 512 tokens.
    """
    record = blocks.ffn(stream, layer)
    if record is None:
        raise ValueError(f"the FFN of layer {layer} is not shown")
    x = torch.tensor(record.input[:MOST])
    _check(position, len(x))
    other = x.clone()
    other[position, dimension] += x[position].square().mean().sqrt()
    return _counted((record.applied(other, network) - record.applied(x, network)).numpy(), position)


def attention(
    trace: Trace, blocks: Blocks, network: nn.Module, *, stream: str, layer: int, position: int, dimension: int = 0
) -> ChangedCells:
    """Change one number of attention's input, with the weights kept: through W_V, the sum by the weights A, and W_O.

    The output changes by sum_h A_h[:, position] x (W_V[dimension] of head h) W_O of head h. Raises ValueError as `ffn`
    does, and where W_V or W_O are not matrices of their own.
    """
    layer_record = next((record for record in blocks.of(stream) if record.layer == layer), None)
    roles = {} if layer_record is None else dict(reversed(layer_record.matrices))
    if "v" not in roles or "out" not in roles:
        raise ValueError(f"W_V and W_O of layer {layer} are not matrices of their own")
    weights = trace.attention(layer=layer, stream=stream)[:, :MOST]  # [H, Q, T]
    _check(position, weights.shape[1])
    value = roles["v"].weight(network)[dimension].double().cpu().numpy()  # [K * E]
    out = roles["out"].weight(network).double().cpu().numpy()  # [H * E, D]
    heads, width = len(weights), len(out) // len(weights)
    if len(out) % heads or len(value) % width:
        raise ValueError(f"W_V and W_O of layer {layer} are not split into {heads} heads")
    each = value.reshape(-1, width).repeat(heads // (len(value) // width), axis=0)  # [H, E]
    written = np.einsum("he,hed->hd", each, out.reshape(heads, width, -1))
    return _counted(np.einsum("hq,hd->qd", weights[:, :, position].astype(np.float64), written), position)


def _check(position: int, tokens: int) -> None:
    if not 0 <= position < tokens:
        raise ValueError(f"position is {position}; it can be 0 to {tokens - 1}")


def _counted(change: NDArray[np.floating[Any]], position: int) -> ChangedCells:
    """Count the rows and the columns of a change [Q, D] that hold a number other than 0."""
    rows = np.flatnonzero((change != 0).any(axis=1))
    return ChangedCells(len(rows), int((change != 0).any(axis=0).sum()), alone=rows.tolist() == [position])
