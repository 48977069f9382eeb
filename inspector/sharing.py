"""The tensors of a model that are one: layers, embeddings and head, keys and values; and how heads come together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from inspector.trace import Trace
from inspector.trace.blocks import Blocks, HeadRecord, LayerRecord

_LARGEST = 1024  # of a matrix whose rank is counted
ROWS = "token rows"  # the column of embedding and head
ROLES = {"q": "W_Q", "k": "W_K", "v": "W_V", "out": "W_O", "gate": "gate", "up": "up", "down": "down"}


@dataclass(frozen=True)
class NearestRows:
    """A head's choice against its nearest row, over some positions: of how many the likeliest token's row is also the
    row nearest to the state (Euclidean).

    unscaled: with the rows as they are; equal: with all rows scaled to one length. positions: how many were looked at.
    shortest, longest: of the rows.
    """

    unscaled: int
    equal: int
    positions: int
    shortest: float
    longest: float


@dataclass(frozen=True)
class HeadsSideBySide:
    """Comparison of heads side by side with heads added up, at one token.

    sides: the largest difference between the heads side by side times W_O and the sum of each head times its own rows
    of W_O, of the largest entry. swapped: how far what attention gives moves where the first head and the last change
    places, of its length; summed: the same where heads are added up before W_O. rank: of W_O, None for a large one;
    width: of a head, the most that summed heads could have.
    """

    sides: float
    swapped: float
    summed: float
    rank: int | None
    heads: int
    width: int


def storages(blocks: Blocks, *, stream: str, head: str = "") -> pd.DataFrame:
    """List the matrices that each layer of a stream multiplied by, a row each.

    head: the name of the matrix that makes the logits; with it the embedding's row stands first and the head's last.
    Columns: row ("layer 0", "embedding", "head"), role (W_Q, ..., up, down; with a number where a layer has several;
    "token rows" of embedding and head), name (the parameter's), storage (its number: equal numbers are one tensor).
    """
    listed: list[tuple[str, str, str]] = []
    for layer in blocks.of(stream):
        seen: dict[str, int] = {}
        for role, matrix in layer.matrices:
            words = "+".join(ROLES.get(part, part) for part in role.split("+")) or "other"
            seen[words] = seen.get(words, 0) + 1
            named = words if seen[words] == 1 else f"{words} {seen[words]}"
            listed.append((f"layer {layer.layer}", named, matrix.name))
    if head:
        first = [("embedding", ROWS, blocks.embedding)] if blocks.embedding else []
        listed = [*first, *listed, ("head", ROWS, head)]
    numbers: dict[str, int] = {}
    rows = [
        {"row": row, "role": role, "name": name, "storage": numbers.setdefault(name, len(numbers))}
        for row, role, name in listed
    ]
    return pd.DataFrame(rows)


def keys_from_values(layer: LayerRecord, network: nn.Module) -> float | None:
    """Distance of W_K from W_V: |W_K - W_V| / sqrt((|W_K|^2 + |W_V|^2) / 2).

    0 where they are one, 1.414 for two that have nothing in common; None where a layer has no W_K and W_V of its own or
    they differ in size.
    """
    key, value = layer.matrix("k"), layer.matrix("v")
    if key is None or value is None:
        return None
    a, b = (matrix.weight(network).double().cpu() for matrix in (key, value))
    if a.shape != b.shape:
        return None
    size = float(((a.square().sum() + b.square().sum()) / 2).sqrt())
    return float((a - b).norm()) / size if size else 0.0


def nearest(head: HeadRecord, network: nn.Module) -> NearestRows:
    """Compare a head's choice with its nearest row: they are the same where all rows have one length.

    |x - e|^2 = |x|^2 - 2 x e + |e|^2, so the largest product x e is the smallest distance only for equal |e|. The
    head's bias is left out.
    """
    rows = head.matrix.weight(network).double().cpu().T  # [V, D]
    x = torch.tensor(head.input).double()
    sizes = rows.norm(dim=1)
    products = x @ rows.T

    def same(products: Tensor, squares: Tensor) -> int:
        return int((products.argmax(dim=1) == (squares - 2 * products).argmin(dim=1)).sum())

    unit = rows / sizes.clamp(min=1e-30)[:, None]
    equal = x @ unit.T
    return NearestRows(
        same(products, sizes.square()),
        same(equal, torch.ones_like(sizes)),
        len(x),
        float(sizes.min()),
        float(sizes.max()),
    )


def heads(trace: Trace, layer: LayerRecord, network: nn.Module, *, mixed: NDArray[np.float64]) -> HeadsSideBySide:
    """Compare heads side by side with heads added up. mixed: the heads' sums of values at one token, [H, E].

    Raises ValueError for a layer without a W_O that takes the heads side by side, or with one head.
    """
    matrix = layer.matrix("out")
    count, width = mixed.shape
    if matrix is None or count < 2:
        raise ValueError(f"layer {layer.layer} of {trace.model} has no W_O of its own that takes several heads")
    weight = matrix.weight(network).double().cpu().numpy()
    if weight.shape[0] != mixed.size:
        raise ValueError(f"the W_O of layer {layer.layer} of {trace.model} does not take the heads side by side")
    whole = mixed.reshape(-1) @ weight
    parts = np.einsum("he,hed->d", mixed, weight.reshape(count, width, -1))
    other = mixed[[count - 1, *range(1, count - 1), 0]]
    length = max(float(np.linalg.norm(whole)), 1e-30)
    first = weight.reshape(count, width, -1)[0]
    rank = int(np.linalg.matrix_rank(weight)) if max(weight.shape) <= _LARGEST else None
    return HeadsSideBySide(
        float(np.abs(whole - parts).max() / max(float(np.abs(whole).max()), 1e-30)),
        float(np.linalg.norm(other.reshape(-1) @ weight - whole)) / length,
        float(np.linalg.norm((other.sum(axis=0) - mixed.sum(axis=0)) @ first)) / length,
        rank,
        count,
        width,
    )
