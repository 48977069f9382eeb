"""W_Q W_K^T of a head, and Q K^T on a text: products of two thin matrices, so of rank d_k at most.

q . k = x W_Q (y W_K)^T = x (W_Q W_K^T) y^T + what the biases add. The singular values of the product of [n, E] and
[m, E] come from the two triangles of their QR factors, [E, E]: no n x m matrix is made.

Shapes: D width, H heads, K kv heads, E head width.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from inspector.scores.saturation import Floats
from inspector.trace import Trace
from inspector.trace.blocks import Blocks, LayerRecord, Matrix

ENERGY = 0.99  # of the squared singular values
TOLERANCE = 2e-3  # of a query's length, between x W_Q and the recorded query; half precision has three digits
Columns = NDArray[np.intp]


@dataclass(frozen=True)
class Spectrum:
    """The spectrum of a product A B^T of [n, E] and [m, E].

    values: its singular values, the largest first, at most E. rank: those above rounding. effective: e to the entropy
    of values / sum (Roy & Vetterli 2007), 1 (one direction) .. rank. energy: how many values have 99 % of the sum of
    squares. symmetric: the share of ||M||^2 in (M + M^T) / 2, 0.5 for a product of two unrelated matrices, 1 for a
    symmetric one; NaN where n is not m. positive: of the E eigenvalues that can be other than 0, how many have a real
    part above 0; all of them where A = B, whose product is positive semidefinite.
    """

    values: Floats
    rank: int
    effective: float
    energy: int
    symmetric: float
    positive: int

    @property
    def table(self) -> pd.DataFrame:
        """The singular values: columns place, from 1, and size."""
        return pd.DataFrame({"place": range(1, len(self.values) + 1), "size": self.values})


@dataclass(frozen=True)
class Projections:
    """W_Q, W_K and W_V of a layer's attention by heads, float64 [H, D, E]; heads that share a kv head have equal ones.

    value: None where the values are not x W_V + b as they are recorded. turned: True where the queries are turned by
    position (RoPE) behind W_Q, so that the product is the one before the turn. names: the parameters.
    """

    query: Tensor
    key: Tensor
    value: Tensor | None
    turned: bool
    names: tuple[str, str]

    def key_from_value(self, head: int) -> float | None:
        """||W_K - W_V|| / ||W_K|| of a head, 0 where they are one; None where W_V is not known or of another width."""
        if self.value is None or self.value.shape != self.key.shape:
            return None
        key = self.key[head]
        return float((key - self.value[head]).norm() / key.norm().clamp(min=1e-30))


def of_product(a: Tensor, b: Tensor) -> Spectrum:
    """Find the spectrum of a b^T: a [n, E], b [m, E]."""
    a, b = a.double().cpu(), b.double().cpu()
    left, right = (torch.linalg.qr(matrix, mode="r").R for matrix in (a, b))
    values = torch.linalg.svdvals(left @ right.T).numpy()
    size = float(np.square(values).sum())
    rank = int((values > values.max(initial=0) * max(len(a), len(b)) * torch.finfo(torch.float32).eps).sum())
    shares = values[values > 0] / values.sum() if size else np.zeros(0)
    effective = float(np.exp(-(shares * np.log(shares)).sum())) if size else 0.0
    energy = int((np.cumsum(np.square(values)) < ENERGY * size).sum()) + 1 if size else 0
    symmetric, positive = float("nan"), 0
    if len(a) == len(b):
        small = b.T @ a  # its eigenvalues are those of a b^T that can be other than 0
        symmetric = 0.5 + float((small @ small).diagonal().sum()) / (2 * size) if size else float("nan")
        eigenvalues = torch.linalg.eigvals(small)
        positive = int((eigenvalues.real > eigenvalues.abs().max() * 1e-9).sum())
    return Spectrum(values, rank, effective, energy, symmetric, positive)


def projections(trace: Trace, blocks: Blocks, network: nn.Module, *, layer: int, stream: str) -> Projections:
    """Find W_Q and W_K of a layer, and hold them to the recorded queries and keys of the text's first token.

    One matrix may make queries, keys and values: it is split in the way in which it gives the recorded ones. The first
    token is at position 0, where RoPE turns nothing.

    Raises ValueError where the layer's matrices were not seen, or queries are more than x W_Q + b (a norm behind W_Q).
    """
    record = trace.record_of(layer, stream)
    where = f"layer {layer} of {trace.model}"
    if not record.query.shape[-1]:
        raise ValueError(f"the queries and keys of {where} were not seen, so W_Q and W_K are not known")
    if stream == "cross":
        raise ValueError(
            f"cross-attention of {trace.model} reads two texts: W_Q W_K^T is shown for attention of a text to itself"
        )
    layer_record = next((candidate for candidate in blocks.of(stream) if candidate.layer == layer), None)
    sides = {} if layer_record is None else {name: _matrix(layer_record, name) for name in "qkv"}
    query, key, value = (sides.get(name) for name in "qkv")
    if layer_record is None or query is None or key is None:
        raise ValueError(f"no matrices were seen that make the queries and keys of {where}, so W_Q W_K^T is not known")
    x, heads = _input(trace, layer_record), len(record.query)
    by_query, turned = _split(query, network, x, record.query, name="queries", where=where)
    by_key, _ = _split(key, network, x, record.key, name="keys", where=where)
    by_value = None
    if value is not None and record.value.shape[-1]:
        with suppress(ValueError):
            by_value, _ = _split(value, network, x, record.value, name="values", where=where)
    each = [
        None if tensor is None else tensor.repeat_interleave(heads // len(tensor), dim=0)
        for tensor in (by_key, by_value)
    ]
    assert each[0] is not None
    return Projections(by_query, each[0], each[1], turned, (query.name, key.name))


def _matrix(layer: LayerRecord, role: str) -> Matrix | None:
    return next((matrix for roles, matrix in layer.matrices if role in roles.split("+")), None)


def _input(trace: Trace, layer: LayerRecord) -> NDArray[np.floating]:
    """The states that attention reads: behind its pre-norm, or as they enter the layer."""
    place = (layer.stream, layer.layer, "attention", "pre")
    norm = next((norm for norm in trace.norms if (norm.stream, norm.layer, norm.part, norm.placement) == place), None)
    return layer.enters if norm is None else norm.output


def _split(
    matrix: Matrix, network: nn.Module, x: NDArray[np.floating], made: Tensor, *, name: str, where: str
) -> tuple[Tensor, bool]:
    """Split a matrix by heads so that it gives the recorded vectors -> [heads, D, E], and if they are turned.

    Where the model multiplies them by a factor besides (queries by 1/sqrt(d_k), in some families), it is in the matrix.
    """
    weight, bias = matrix.weight(network).double().cpu(), matrix.offset(network)
    heads, tokens, width = made.shape
    ends = torch.tensor([0, tokens - 1])
    given = torch.tensor(x)[ends].double()
    if weight.shape[0] != given.shape[1]:
        raise ValueError(f"the matrix that makes the {name} of {where} reads no state of its width")
    out = given @ weight + (0.0 if bias is None else bias.double().cpu())  # [2, outputs]
    want = made[:, ends].double().cpu().transpose(0, 1)  # [2, heads, E]
    for columns in _ways(weight.shape[1], heads, width):
        got = out[:, columns.ravel()].reshape(len(ends), heads, width)
        first = float((got[0] * want[0]).sum() / got[0].square().sum().clamp(min=1e-30))
        if float((first * got[0] - want[0]).norm()) <= TOLERANCE * float(want[0].norm()):
            turned = float((first * got[1] - want[1]).norm()) > 10 * TOLERANCE * float(want[1].norm())
            split = weight[:, columns.ravel()].reshape(-1, heads, width).transpose(0, 1)
            return split if abs(first - 1) < 1e-3 else first * split, turned
    raise ValueError(
        f"the {name} of {where} are not x W + b as they are recorded (a norm or another step stands behind W), so no "
        "product W_Q W_K^T makes its scores"
    )


def _ways(outputs: int, heads: int, width: int) -> Iterator[Columns]:
    """Yield the columns [heads, E] that may make the vectors: all heads side by side, or [q, k, v] of each head."""
    inside = np.arange(width)
    for start in range(0, outputs - heads * width + 1, width):
        yield start + np.arange(heads)[:, None] * width + inside
    if outputs % heads == 0 and outputs // heads > width:
        each = outputs // heads
        for start in range(0, each - width + 1, width):
            yield start + np.arange(heads)[:, None] * each + inside
