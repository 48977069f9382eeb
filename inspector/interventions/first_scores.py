"""The scores of the first layer, split by what they come from: tokens, positions, or both.

A token's vector u = c + p, with the row p of its position, goes through a norm and a matrix. Both are linear but for
the norm's division, so with each token's own deviation the score is a sum of four: content-content, content-position,
position-content and position-position (Ke et al. 2021, TUPE, section 3.1).

Shapes: H heads, T tokens, D width, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector import positional
from inspector.trace import NormRecord, Trace
from models import LoadedModel
from models.attention import AttentionCall, watch

Array = NDArray[np.float64]
PARTS = ("content-content", "content-position", "position-content", "position-position")
"""The four terms: whose part of the query, and whose of the key."""
_TOLERANCE = 1e-4  # of the largest entry


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreSplit:
    """The queries and keys of layer 0 in two parts each, float64.

    content, position: the token's vector without its position, and the position's row, [T, D]. queries, keys: (of the
    content, of the position), each [H, T, E]; biases of matrices and norms belong to the content. scale: the factor on
    a product. stream: whose attention it is.
    """

    content: Array
    position: Array
    queries: tuple[Array, Array]
    keys: tuple[Array, Array]
    scale: float
    stream: str

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.queries[0])

    def terms(self, head: int) -> dict[str, Array]:
        """Compute the four terms of one head's scores, [T, T] each, by their names in PARTS; their sum is the score."""
        terms = (self.scale * query[head] @ key[head].T for query in self.queries for key in self.keys)
        return dict(zip(PARTS, terms, strict=True))

    @property
    def cosines(self) -> Array:
        """The cosine of each token's vector without its position and with it, [T]: 1 where the position turns nothing.

        NaN where either has length 0.
        """
        whole = self.content + self.position
        lengths = np.linalg.norm(self.content, axis=1) * np.linalg.norm(whole, axis=1)
        products = (self.content * whole).sum(axis=1)
        cosines: Array = np.divide(products, lengths, out=np.full_like(products, np.nan), where=lengths > 0)
        return cosines

    @property
    def lengths(self) -> tuple[Array, Array]:
        """The lengths of each token's content and of its position's row, [T] each."""
        return np.linalg.norm(self.content, axis=1), np.linalg.norm(self.position, axis=1)


def split_scores(loaded: LoadedModel, trace: Trace) -> ScoreSplit:
    """Split the scores of the first layer of a recording; the network runs again up to its first attention.

    Raises ValueError, in words, where there is no such sum: a model without a table of positions, or one whose table,
    norm or matrices are not of this form.
    """
    tables = positional.tables(loaded)
    if not tables:
        raise ValueError("no vector is added to a token for its position, so its scores have no four terms")
    first = _first_attention(loaded, trace)
    x, query, key = first.matrices()
    scale = first.call.function.scale
    if scale is None:
        raise ValueError("its first layer's scores are more than a scaled product, so they have no four terms")
    table = tables[0].values
    if table.shape[1] != x.shape[1] or len(table) < len(x):
        raise ValueError(
            f"its positions have width {table.shape[1]} and its layers {x.shape[1]}, so a matrix stands between them"
        )
    position = table[: len(x)].astype(np.float64)
    norm = _norm_before(trace, x, stream=first.call.stream)
    given = x if norm is None else np.asarray(norm.input, dtype=np.float64)
    content = given - position
    parts = (content, position) if norm is None else _through(norm, content, position)

    def projected(matrix: Array, bias: Array) -> tuple[Array, Array]:
        return parts[0] @ matrix + bias[:, None, :], parts[1] @ matrix

    queries, keys = projected(*query), projected(*key)
    groups = len(queries[0]) // len(keys[0])
    return ScoreSplit(
        content=content,
        position=position,
        queries=queries,
        keys=(keys[0].repeat(groups, axis=0), keys[1].repeat(groups, axis=0)),
        scale=scale,
        stream=first.call.stream,
    )


def _norm_before(trace: Trace, x: Array, *, stream: str) -> NormRecord | None:
    """Find the norm that gave x [T, D]; None where no norm stands before the first scores of its stream."""
    before = [
        norm
        for norm in trace.norms
        if norm.stream == stream
        and (norm.part == "embedding" or (norm.layer, norm.part, norm.placement) == (0, "attention", "pre"))
    ]
    if not before:
        return None
    if len(before) > 1:
        raise ValueError("two norms stand before its first scores, so these have no four terms")
    (norm,) = before
    if norm.gate is not None or norm.groups != 1 or norm.input.shape != x.shape or not _same(norm.output, x):
        raise ValueError("more than a norm stands between its positions and its first scores")
    return norm


def _through(norm: NormRecord, content: Array, position: Array) -> tuple[Array, Array]:
    """Take both parts through a norm with the deviation of their sum; beta is the content's."""
    whole = content + position
    if norm.kind == "layer":
        whole, content, position = (
            vectors - vectors.mean(axis=1, keepdims=True) for vectors in (whole, content, position)
        )
    size = np.sqrt((whole**2).mean(axis=1, keepdims=True) + norm.epsilon)
    gamma, beta = (np.asarray(parameter, dtype=np.float64) for parameter in (norm.gamma, norm.beta))
    return gamma * content / size + beta, gamma * position / size


# --- the matrices of queries and keys --------------------------------------------------------------------------------


class _Seen(Exception):  # noqa: N818  (no error: the run has gone as far as it is needed)
    """The first attention has been seen."""


class _Products(TorchFunctionMode):
    """Remembers the matrix products with learned matrices of its thread: (x, matrix [I, O], bias, result)."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Tensor, Tensor, Tensor | None, Tensor]] = []
        self.call: AttentionCall | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.nn.functional.linear:
            bias = args[2] if len(args) > 2 else (kwargs or {}).get("bias")
            self.made.append((args[0], args[1].T, bias, result))
        elif func is torch.addmm:
            self.made.append((args[1], args[2], args[0], result))
        return result

    def see(self, call: AttentionCall) -> None:
        """Keep the first call, and end the run."""
        self.call = call
        raise _Seen


@dataclass(frozen=True, eq=False)
class _FirstAttention:
    call: AttentionCall
    made: list[tuple[Tensor, Tensor, Tensor | None, Tensor]]

    def matrices(self) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
        """Find x [T, D] and the matrix [H, D, E] and bias [H, E] that make its queries, and the same for its keys."""
        query, key = self._matrix(self.call.query), self._matrix(self.call.key)
        return query[0], query[1:], key[1:]

    def _matrix(self, heads: Tensor) -> tuple[Array, Array, Array]:
        wanted = _numbers(heads[0])  # [H, T, E]
        width = wanted.shape[2]
        for x, matrix, bias, result in reversed(self.made):
            if result.numel() % (wanted.shape[1] * width) or result.shape[-1] % width:
                continue
            blocks = _numbers(result).reshape(wanted.shape[1], -1, width)
            if (block := _blocks(wanted, blocks)) is None:
                continue
            columns, factor = block
            cut = _numbers(matrix).reshape(matrix.shape[0], -1, width)[:, columns].swapaxes(0, 1)
            added = np.zeros((len(columns), width)) if bias is None else _numbers(bias).reshape(-1, width)[columns]
            return _numbers(x).reshape(wanted.shape[1], -1), factor * cut, factor * added
        raise ValueError("its first queries or keys are no plain product with a matrix (they are turned, or normed)")


def _first_attention(loaded: LoadedModel, trace: Trace) -> _FirstAttention:
    ids, segments = (torch.tensor([row]) for row in (trace.encoding.ids, trace.encoding.segments))
    products = _Products()
    try:
        with torch.inference_mode(), products, watch(products.see):
            loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)
    except _Seen:
        pass
    if products.call is None:
        raise ValueError("its first attention cannot be seen before its scores are made")
    return _FirstAttention(products.call, products.made)


def _blocks(wanted: Array, blocks: Array) -> tuple[list[int], float] | None:
    """Find which blocks [T, N, E] the heads [H, T, E] are, times one factor; None where any is none of them."""
    columns, factors = [], []
    for head in wanted:
        sizes = (blocks**2).sum(axis=(0, 2))
        factor = np.einsum("te,tne->n", head, blocks) / np.where(sizes > 0, sizes, 1)
        missed = np.abs(head[:, None] - factor[:, None] * blocks).max(axis=(0, 2))
        best = int(missed.argmin())
        if missed[best] > _TOLERANCE * np.abs(head).max():
            return None
        columns.append(best)
        factors.append(float(factor[best]))
    return (columns, factors[0]) if np.allclose(factors, factors[0], rtol=_TOLERANCE) else None


def _same(a: NDArray[np.floating[Any]], b: Array) -> bool:
    return bool(np.abs(np.asarray(a, dtype=np.float64) - b).max() <= _TOLERANCE * np.abs(b).max())


def _numbers(tensor: Tensor) -> Array:
    return np.array(tensor.detach().to("cpu", torch.float64).numpy())
