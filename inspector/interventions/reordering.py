"""A text read in another order, or at other positions, and what changes: with the model's positions and without them.

The positions are taken away, or moved, in the run itself, for its thread alone: what is looked up in a table of
positions, or in T5's table of biases, and the cosines and sines of RoPE. No weight is touched.

Shapes: T tokens, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from inspector import positional
from inspector.positional import Way
from inspector.trace import Trace
from models import LoadedModel
from models.transformer.learned_attention import T5Positions

Order = Literal["reverse", "shuffle", "shift"]
ORDERS: tuple[Order, ...] = get_args(Order)
SHIFT = 16  # positions, at most
_LOOKUPS = (functional.embedding, torch.embedding, torch.index_select, Tensor.index_select, Tensor.__getitem__)
_COSINES, _SINES = (torch.cos, Tensor.cos), (torch.sin, Tensor.sin)
_TAKEN: tuple[Way, ...] = ("learned", "sinusoidal", "rope", "t5")


@dataclass(frozen=True, eq=False, kw_only=True)
class Reordered:
    """The changes that another order made to each token's last hidden state (an encoder-decoder's: its encoder's).

    order: the token, by its place in the text, that each place reads now, [T]. by: how many positions later all stand;
    0 but for "shift". changed, without: |after - before| / |before| of each token, by its place in the text, float64
    [T], with the model's positions and with none; NaN for a state of length 0. without is None where the positions
    cannot be taken away: `kept` says why; for "shift" too, which moves nothing else.
    """

    order: tuple[int, ...]
    by: int
    changed: NDArray[np.float64]
    without: NDArray[np.float64] | None
    kept: str = ""


def reorder(loaded: LoadedModel, trace: Trace, order: Order) -> Reordered:
    """Read the tokens of a recording in another order, or all at later positions, and compare each with itself.

    "reverse", "shuffle" (drawn with seed 0, never the order of the text): the tokens of the text change places, the
    tokens that the tokenizer added stay. "shift": every token stands up to 16 positions later. Raises ValueError for a
    text that has fewer than two tokens to move, and where there is no position to shift.
    """
    ids, segments = (torch.tensor([row]) for row in (trace.encoding.ids, trace.encoding.segments))
    places, by = _places(trace.special, order), 0
    tables, turned = positional.sources(loaded), positional.rotates(loaded.config)
    ways = positional.ways(loaded.config, positional.tables(loaded))

    def states(chosen: Sequence[int], mode: _Moved | None = None) -> Tensor:
        at = torch.tensor(chosen)
        read, belongs = ids[:, at], segments[:, at]
        with torch.inference_mode():
            if mode is None:
                hidden = loaded.run(read, torch.ones_like(read, dtype=torch.bool), belongs)
            else:
                with mode:
                    hidden = loaded.run(read, torch.ones_like(read, dtype=torch.bool), belongs)
        back = torch.empty_like(hidden[0])
        back[at] = hidden[0]
        return back.double()

    before = states(range(len(places)))
    if order == "shift":
        room = [len(table) - len(places) - _first(table, loaded) for table in tables]
        by = min([SHIFT, *room])
        if by < 1 or not (tables or turned):
            raise ValueError(
                "the text fills every row of the table, so it cannot be shifted"
                if tables
                else "this model knows distances alone, or no positions: no token has a position to shift"
            )
        moved = _Moved(tables, turned=turned, by=by)
        after = states(places, moved)
        if not moved.reached:
            raise ValueError("this model's positions are made in a way that cannot be shifted here")
        return Reordered(order=tuple(places), by=by, changed=_changes(before, after), without=None)
    changed = _changes(before, states(places))
    if left := [way for way in ways if way not in _TAKEN]:
        return Reordered(order=tuple(places), by=0, changed=changed, without=None, kept=left[0])
    biases = _bias_tables(loaded)
    bare = _Moved([*tables, *biases], turned=turned, by=None)
    alone = states(range(len(places)), bare)
    if ways and not bare.reached:
        return Reordered(order=tuple(places), by=0, changed=changed, without=None, kept=ways[0])
    other = states(places, _Moved([*tables, *biases], turned=turned, by=None))
    return Reordered(order=tuple(places), by=0, changed=changed, without=_changes(alone, other))


def _places(special: Sequence[bool], order: Order) -> list[int]:
    if order not in ORDERS:
        raise ValueError(f"order is {order!a}; it can be {', '.join(ORDERS)}")
    places = list(range(len(special)))
    movable = [place for place in places if not special[place]]
    if order == "shift":
        return places
    if len(movable) < 2:
        raise ValueError("the text has one token of its own, so there is no other order; write a longer one")
    chosen = movable[::-1]
    if order == "shuffle":
        draw, chosen = np.random.default_rng(0), movable
        while chosen == movable:
            chosen = draw.permutation(movable).tolist()
    for place, token in zip(movable, chosen, strict=True):
        places[place] = token
    return places


def _changes(before: Tensor, after: Tensor) -> NDArray[np.float64]:
    length = before.norm(dim=1)
    moves: NDArray[np.float64] = torch.where(length > 0, (after - before).norm(dim=1) / length, torch.nan).numpy()
    return moves


def _first(table: Tensor, loaded: LoadedModel) -> int:
    """Count the rows before the row of position 0 (RoBERTa's kind keeps some for padding)."""
    return len(table) - min(
        (len(position_table.values) for position_table in positional.tables(loaded)), default=len(table)
    )


def _bias_tables(loaded: LoadedModel) -> list[Tensor]:
    """List the tables of T5's biases."""
    learned = [module.table for module in loaded.network.modules() if isinstance(module, T5Positions)]
    theirs = [getattr(module, "relative_attention_bias", None) for module in loaded.network.modules()]
    return [*learned, *(module.weight for module in theirs if isinstance(module, torch.nn.Embedding))]


class _Moved(TorchFunctionMode):
    """Puts zeros (by None), or rows that stand `by` later, in the place of tables, and turns RoPE accordingly."""

    def __init__(self, tables: Sequence[Tensor], *, turned: bool, by: int | None) -> None:
        super().__init__()
        self.reached = False
        self._turned, self._by = turned, by
        self._others = {
            _place(table): torch.zeros_like(table) if by is None else table.roll(-by, dims=0) for table in tables
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _LOOKUPS:
            swapped = tuple(
                self._others.get(_place(arg), arg) if isinstance(arg, Tensor) and arg.ndim == 2 else arg for arg in args
            )
            self.reached |= any(arg is not other for arg, other in zip(args, swapped, strict=True))
            args = swapped
        if self._turned and (func in _COSINES or func in _SINES) and args[0].ndim >= 2:
            self.reached = True
            if self._by is None:
                return torch.ones_like(args[0]) if func in _COSINES else torch.zeros_like(args[0])
            angle = args[0]
            step = angle[..., 1:2, :] - angle[..., 0:1, :]  # from one position to the next
            args = (angle + self._by * step, *args[1:])
        return func(*args, **(kwargs or {}))


def _place(tensor: Tensor) -> tuple[int, torch.Size]:
    return tensor.data_ptr(), tensor.shape
