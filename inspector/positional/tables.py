"""Position encodings: the sinusoidal table, the table that a model has, and how alike its rows are.

Shapes: T positions, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedConfig

from models.config_facts import stack_configs
from models.transformer import positions as encodings

if TYPE_CHECKING:
    from models import LoadedModel

Measure = Literal["cosine", "dot"]
Way = Literal["learned", "sinusoidal", "rope", "t5", "alibi", "shaw", "xl", "disentangled", "xlnet", "profiles"]


def sinusoidal(positions: int, width: int) -> NDArray[np.float64]:
    """The table of Vaswani et al. 2017, section 3.5, float64 [T, D].

    PE(p, 2i) = sin(p / 10000^(2i/D)),  PE(p, 2i+1) = cos(p / 10000^(2i/D))

    Raises ValueError where positions or width are below 1.
    """
    table: NDArray[np.float64] = encodings.sinusoidal(positions, width).numpy()
    return table


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A table of absolute positions that a model adds to its token vectors: row p of `values` [T, D] for position p.

    kind: "sinusoidal" where every column is a sine or cosine wave, else "learned". own_waves: what sets sinusoidal
    waves apart from the paper's table, as a clause for a sentence; "" where nothing does.
    """

    values: NDArray[np.float32]
    kind: Literal["learned", "sinusoidal"]
    own_waves: str = ""


def table(loaded: LoadedModel) -> NDArray[np.float32]:
    """Return the model's own position table, float32 [T, D]: row p is what position p adds to a token's vector.

    The first of `tables`. Raises ValueError for a model without one (its positions are relative, or rotate queries and
    keys).
    """
    all_tables = tables(loaded)
    if not all_tables:
        raise ValueError(
            f"{loaded.card.id} has no table of absolute positions: its positions enter in another way; "
            "choose a BERT-like model, or look at positional.sinusoidal(positions, width)"
        )
    return all_tables[0].values


def tables(loaded: LoadedModel) -> tuple[PositionTable, ...]:
    """Find the tables of absolute positions of a model, by watching it read a few tokens; equal ones count once.

    A table is what is looked up at rows that follow one another and added to something: that is so whatever its module
    is called, learned or computed, and wherever its rows begin (RoBERTa's begin at row 2). Of an encoder-decoder the
    encoder's comes first. Of a table that the model computes for each text (Pegasus-X) these are the first rows, at
    most 512. Empty for a model whose positions enter in another way (RoPE, ALiBi, T5's buckets).
    """
    watched = _watch(loaded, tokens=_TRIED)
    if watched.endless:
        watched = _watch(loaded, tokens=min(loaded.max_tokens, _SHOWN))
    distinct: list[PositionTable] = []
    for rows in watched.added:
        if not any(np.array_equal(rows, known.values) for known in distinct):
            distinct.append(_described(rows))
    return tuple(distinct)


def sources(loaded: LoadedModel) -> tuple[Tensor, ...]:
    """Find the model's own tensors in which the rows of `tables` are looked up: to be read, never changed.

    Empty where there is no table, or it is computed for each text.
    """
    return tuple(_watch(loaded, tokens=_TRIED).sources)


def rotates(config: Any) -> bool:
    """Tell whether a model of this configuration turns queries and keys by their positions (RoPE, Su et al. 2021)."""
    if isinstance(config, PreTrainedConfig):
        return any(_rotates(stack) for stack in stack_configs(config))
    return getattr(config, "positions", "") == "rope"


def ways(config: Any, tables: Sequence[PositionTable]) -> tuple[Way, ...]:
    """Name the ways in which a model knows the order of its tokens; empty where none is known or found.

    config: the model's; tables: what `tables` gives. "learned" and "sinusoidal": a table that is added to the tokens;
    "rope": queries and keys are turned; "t5", "alibi": a bias for the distance is added to the scores (Raffel et al.
    2020; Press et al. 2022); "shaw": a vector for the distance is added to keys and values (Shaw et al. 2018); "xl",
    "disentangled", "xlnet", "profiles": see `DistanceVectors`.
    """
    if not isinstance(config, PreTrainedConfig):
        return () if config.positions == "none" else (config.positions,)
    used: list[Way] = [table.kind for table in tables]
    stacks = list(stack_configs(config))
    if any(_rotates(stack) for stack in stacks):
        used.append("rope")
    if any(getattr(stack, "relative_attention_num_buckets", None) for stack in stacks):
        used.append("t5")
    if any(_has_alibi(stack) for stack in stacks):
        used.append("alibi")
    for config in stacks:
        if config.model_type in ("deberta", "deberta-v2") and config.relative_attention and config.pos_att_type:
            used.append("disentangled")
        if config.model_type == "xlnet":
            used.append("xlnet")
        if hasattr(config, "d_rel") and hasattr(config, "rel_extent"):
            used.append("profiles")
    return tuple(dict.fromkeys(used))


def similarity(table: NDArray[np.floating[Any]], *, measure: Measure = "cosine") -> NDArray[np.float64]:
    """Measure how alike each pair of positions is: table [T, D] -> float64 [T, T].

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


def similarity_by_distance(table: NDArray[np.floating[Any]], *, measure: Measure = "cosine") -> pd.DataFrame:
    """Cosine of the positions that are k apart, over all T - k such pairs: table [T, D] -> a row per k from 0 to T - 1.

    Columns: distance (tokens), mean and std (population) of the cosine or the dot product, count (pairs). Where the std
    is 0 the table knows distances alone, as the sinusoidal one does: its dot product of p and p + k is the same for
    every p.
    """
    products = similarity(table, measure=measure)
    distances = np.arange(len(products))
    diagonals = [np.diagonal(products, offset=distance) for distance in distances]
    return pd.DataFrame(
        {
            "distance": distances,
            "mean": [diagonal.mean() for diagonal in diagonals],
            "std": [diagonal.std() for diagonal in diagonals],
            "count": [len(diagonal) for diagonal in diagonals],
        }
    )


# --- a model's tables --------------------------------------------------------------------------------------------

_TRIED = 5  # tokens; rows of a lookup that follow one another by chance are less likely than one in a million
_SHOWN = 512  # rows of a table that has no end
_WAVES = (torch.sin, torch.cos, Tensor.sin, Tensor.cos)
_LOOKUPS = (functional.embedding, torch.embedding, torch.index_select, Tensor.index_select, Tensor.__getitem__)
_SUMS = (torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__radd__, Tensor.__iadd__)
_CASTS = (Tensor.to, Tensor.type, Tensor.type_as, Tensor.float, Tensor.half, Tensor.bfloat16, Tensor.contiguous)


def _rotates(config: PreTrainedConfig) -> bool:
    if getattr(config, "alibi", False) or not getattr(config, "use_mem_rope", True):  # Falcon's and Zamba 2's name both
        return False
    if getattr(config, "position_embedding_type", "rope") not in ("rope", "rotary"):  # Granite's hybrids too
        return False
    given = any(getattr(config, name, None) for name in ("rope_parameters", "rotary_dim"))
    return given or getattr(config, "position_embedding_type", "") == "rotary" or config.model_type == "roformer"


def _has_alibi(config: PreTrainedConfig) -> bool:
    given = getattr(config, "attn_config", None)  # MPT's
    return bool(getattr(config, "alibi", False) or getattr(given, "alibi", False) or config.model_type == "bloom")


def _watch(loaded: LoadedModel, *, tokens: int) -> _Lookups:
    ids = _tokens(loaded, tokens)
    keep = torch.ones_like(ids, dtype=torch.bool)
    watched = _Lookups(ids.shape[1])
    with torch.inference_mode(), watched:
        if loaded.run_pair is None:
            loaded.run(ids, keep, torch.zeros_like(ids))
        else:
            loaded.run_pair(ids, keep, ids)
    return watched


def _tokens(loaded: LoadedModel, count: int) -> Tensor:
    """Choose ids [1, T] that are no padding and fall from one to the next: no lookup of tokens looks like positions.

    They stand in the middle: special tokens are among the first, and of the last a model may have no rows.
    """
    usable = [id for id in range(len(loaded.tokenizer)) if id != loaded.tokenizer.pad_token_id]
    start = max((len(usable) - count) // 2, 0)
    return torch.tensor([usable[start : start + count][::-1]])


class _Lookups(TorchFunctionMode):
    """The tables that are looked up at rows in order and then added to something; a mode acts on its thread alone."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens
        self.added: list[NDArray[np.float32]] = []
        self.sources: list[Tensor] = []  # in which they are looked up
        self.endless = False  # whether one was computed for as many positions as there are tokens
        self._waves: list[Tensor] = []
        self._computed: dict[int, Tensor] = {}  # by storage
        self._looked_up: dict[int, tuple[Tensor, NDArray[np.float32], Tensor]] = {}  # by storage; results are held, so
        # that no other tensor gets their memory

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in _WAVES:
            self._waves.append(result)
        elif func is Tensor.__setitem__ and any(args[2] is wave for wave in self._waves):
            table = args[0]
            if table.ndim == 2 and len(table) == self.tokens:
                self._computed[_storage(table)] = table
        elif func in _LOOKUPS and isinstance(result, Tensor):
            table, index = self._table_and_index(func, args)
            if table is not None and (rows := self._rows(table, index, result)) is not None:
                self._looked_up[_storage(result)] = result, rows, table
        elif func in _CASTS and isinstance(result, Tensor) and _storage(args[0]) in self._looked_up:
            self._looked_up[_storage(result)] = result, *self._looked_up[_storage(args[0])][1:]
        elif func in _SUMS:
            for part in args:
                if isinstance(part, Tensor) and (looked_up := self._looked_up.pop(_storage(part), None)) is not None:
                    self.added.append(looked_up[1])
                    self.sources.append(looked_up[2])
                elif isinstance(part, Tensor) and (made := self._computed.get(_storage(part))) is not None:
                    self.added.append(_copy(made))
                    self.endless = True
        return result

    def _rows(self, table: Tensor, index: Any, result: Tensor) -> NDArray[np.float32] | None:
        """The rows of a table [T, D] from the first that was looked up on; None for any other lookup."""
        if table.ndim != 2 or result.numel() != self.tokens * table.shape[1]:
            return None
        if len(table) <= self.tokens:  # a matrix between the tokens, such as scores
            return None
        if isinstance(index, slice):
            first, stop, step = index.indices(len(table))
            return _copy(table[first:]) if (stop - first, step) == (self.tokens, 1) else None
        if not isinstance(index, Tensor) or index.is_floating_point() or index.numel() != self.tokens:
            return None
        first = int(index.flatten()[0])
        in_order = torch.arange(first, first + self.tokens, device=index.device)
        return _copy(table[first:]) if torch.equal(index.flatten().long(), in_order) else None

    @staticmethod
    def _table_and_index(func: Any, args: Any) -> tuple[Tensor | None, Any]:
        if func is functional.embedding:
            return args[1], args[0]
        if func is torch.embedding:
            return args[0], args[1]
        if func is Tensor.__getitem__:
            index = args[1]
            return args[0], index[0] if isinstance(index, tuple) and index else index
        return (args[0], args[2]) if len(args) == 3 and args[1] == 0 else (None, None)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _described(values: NDArray[np.float32]) -> PositionTable:
    positions, width = values.shape
    if not _are_waves(values):
        return PositionTable(values, "learned")
    paper = sinusoidal(positions, width)
    halves = np.concatenate([paper[:, 0::2], paper[:, 1::2]], axis=1)
    for table, named in ((paper, ""), (halves, "in another order: all sines before all cosines")):
        if np.allclose(values, table, rtol=0, atol=_ROUNDED_ANGLE * positions):
            return PositionTable(values, "sinusoidal", named)
    return PositionTable(values, "sinusoidal", "with other frequencies or phases")


_ROUNDED_ANGLE = 1e-5  # for each position: a float32 angle p w is off by up to 6e-8 p, and some models round w too


def _are_waves(values: NDArray[np.float32]) -> bool:
    """Return True if every column obeys c[p + 1] + c[p - 1] = 2 cos(w) c[p], as waves of one frequency w do."""
    exact = values.astype(np.float64)
    if len(exact) < 5 or np.abs(exact).max() > 1 + 1e-5:
        return False
    here, around = exact[1:-1], exact[2:] + exact[:-2]
    squares = (here**2).sum(axis=0)
    ratio = np.divide((here * around).sum(axis=0), squares, out=np.zeros_like(squares), where=squares > 0)
    return bool(np.abs(around - ratio * here).max() <= _ROUNDED_ANGLE * len(exact))


def _copy(tensor: Tensor) -> NDArray[np.float32]:
    """A copy in float32: what is done to it does not reach the shared model."""
    return np.array(tensor.detach().to("cpu", torch.float32).numpy())
