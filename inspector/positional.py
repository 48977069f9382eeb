"""Position encodings: the sinusoidal table, the table that a model has, and how alike its rows are.

Shapes: T positions, D width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models import positions as encodings
from models.placed import with_weights
from models.positions import LearnedPositions, SinusoidalPositions

if TYPE_CHECKING:
    from models import LoadedModel

Measure = Literal["cosine", "dot"]


def sinusoidal(positions: int, width: int) -> NDArray[np.float64]:
    """The table of Vaswani et al. 2017, section 3.5, float64 [T, D].

    PE(p, 2i) = sin(p / 10000^(2i/D)),  PE(p, 2i+1) = cos(p / 10000^(2i/D))

    Raises ValueError where positions or width are below 1.
    """
    table: NDArray[np.float64] = encodings.sinusoidal(positions, width).numpy()
    return table


def table(loaded: LoadedModel) -> NDArray[np.float32]:
    """The model's own position table, float32 [T, D]: row p is what the embedding of position p gets added.

    Rows that no position uses are left out: RoBERTa's kind counts positions from padding_idx + 1. Of a model with
    several tables it is the first, in the order of its modules.

    Raises ValueError for a model without one (its positions are relative, or rotate queries and keys).
    """
    for name, module in loaded.network.named_modules():
        if isinstance(module, LearnedPositions | SinusoidalPositions):
            return _copy(module.table)
        if isinstance(module, nn.Embedding) and _is_position_table(name, module, loaded.network):
            with with_weights(module):
                return _copy(module.weight[_first_row(module) :])
    raise ValueError(
        f"{loaded.card.id} has no table of absolute positions: its positions enter in another way; "
        "choose a BERT-like model, or look at positional.sinusoidal(positions, width)"
    )


def rotates(config: Any) -> bool:
    """Whether a model of this configuration turns queries and keys by their positions (RoPE, Su et al. 2021)."""
    named = getattr(config, "positions", "") == "rope" or getattr(config, "position_embedding_type", "") == "rotary"
    return named or bool(getattr(config, "rope_parameters", None))


def similarity(table: NDArray[np.floating[Any]], *, measure: Measure = "cosine") -> NDArray[np.float64]:
    """How alike each pair of positions is: table [T, D] -> float64 [T, T].

    cosine: a.b / (|a| |b|), from -1 to 1, NaN for a row of zeros; dot: a.b.
    """
    rows = np.asarray(table, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"table has shape {rows.shape}; pass [positions, width]")
    if measure not in ("cosine", "dot"):
        raise ValueError(f"measure is {measure!a}; it can be 'cosine' or 'dot'")
    if measure == "cosine":
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, np.nan)
    return rows @ rows.T


def similarity_by_distance(table: NDArray[np.floating[Any]]) -> pd.DataFrame:
    """Cosine of the positions that are k apart, over all T - k such pairs: table [T, D] -> a row per k from 0 to T - 1.

    Columns: distance (tokens), mean and std (population) of the cosine, count (pairs). Where the std is 0 the table
    knows distances alone, as the sinusoidal one does: its dot product of p and p + k is the same for every p.
    """
    cosine = similarity(table)
    distances = np.arange(len(cosine))
    diagonals = [np.diagonal(cosine, offset=distance) for distance in distances]
    return pd.DataFrame(
        {
            "distance": distances,
            "mean": [diagonal.mean() for diagonal in diagonals],
            "std": [diagonal.std() for diagonal in diagonals],
            "count": [len(diagonal) for diagonal in diagonals],
        }
    )


def _is_position_table(name: str, embedding: nn.Embedding, network: Any) -> bool:
    """Named so in transformers (position_embeddings, embed_positions, GPT-2's wpe) and as wide as a token's vector.

    RoFormer's embed_positions are as wide as a head: they turn queries and keys and are added to nothing.
    """
    leaf = name.rpartition(".")[2]
    named = leaf == "wpe" or ("position" in leaf and "relative" not in leaf)
    return named and bool(embedding.embedding_dim == network.get_input_embeddings().embedding_dim)


def _first_row(embedding: nn.Embedding) -> int:
    """The row of position 0; OPT and BART keep their first rows free by an `offset`."""
    if embedding.padding_idx is not None:
        return embedding.padding_idx + 1
    return int(getattr(embedding, "offset", 0))


def _copy(tensor: Tensor) -> NDArray[np.float32]:
    """A copy in float32: what is done to it does not reach the shared model."""
    return np.array(tensor.detach().to("cpu", torch.float32).numpy())
