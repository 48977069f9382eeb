"""The choices of a recurrent encoder-decoder; plain data without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Cell = Literal["gru", "lstm", "tanh"]


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """Sizes, the cell, and whether the decoder attends to every encoder state or is given the last alone.

    Raises ValueError where a number or the cell is none that can be built.
    """

    vocabulary: int  # V, of the text and of the answer
    width: int  # D, of embeddings, of an encoder state (half in each direction) and of the decoder's state
    cell: Cell = "gru"  # Cho et al. 2014; lstm: Hochreiter & Schmidhuber 1997; tanh: Elman 1990
    attention: bool = True  # Bahdanau et al. 2015; without, one vector for all steps (Cho et al. 2014)

    def __post_init__(self) -> None:
        if self.vocabulary < 1:
            raise ValueError(f"vocabulary is {self.vocabulary}; choose at least 1 token")
        if self.width < 2 or self.width % 2:
            raise ValueError(
                f"width is {self.width}, half of it for each reading direction; choose an even number from 2 on"
            )
        if self.cell not in get_args(Cell):
            raise ValueError(f"cell is {self.cell!r}; choose one of {', '.join(get_args(Cell))}")
