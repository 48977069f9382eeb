"""A batch of texts as one forward ran it, padding and all: what went into each of its norms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from inspector.trace.trace import NormRecord
from models.tokenizers import Encoding


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """The norms' inputs of a batch, B texts of T columns; every array is read-only.

    keep: [B, T], False on padding. norms: as in a Trace, but `input` (and `gate`, `truth`) has a row for each of the
    B * T cells, text by text. pad: the token that fills. Memory is linear in B * T.
    """

    model: str
    texts: tuple[str, ...]
    encodings: tuple[Encoding, ...]
    padding: Literal["right", "left"]
    pad: str
    keep: NDArray[np.bool_]
    norms: tuple[NormRecord, ...]
    key: str = field(default_factory=lambda: uuid4().hex)

    @property
    def tokens(self) -> tuple[tuple[str, ...], ...]:
        """The T tokens of each text as the model read them, padding included."""
        filled = []
        for encoding in self.encodings:
            filling = (self.pad,) * (self.keep.shape[1] - len(encoding))
            filled.append((*encoding.tokens, *filling) if self.padding == "right" else (*filling, *encoding.tokens))
        return tuple(filled)

    def before(self, norm: int) -> NDArray[np.floating[Any]]:
        """The input of a norm, counted in call order, [B, T, D]; ValueError for a norm that there is not."""
        if not 0 <= norm < len(self.norms):
            raise ValueError(f"there is no norm {norm}: {self.model} has {len(self.norms)}, counted from 0")
        return self.norms[norm].input.reshape(*self.keep.shape, -1)
