"""Readings of the section Understand and continue: one text in an encoder and in a decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector.readings.batch import Spreading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Both:
    """One text understood and continued.

    nearest: the sentence that the encoder finds most alike, with the cosine; same: whether the decoder reads the same
    text. encoder, decoder: what a late token that is changed does to the states before it.
    """

    nearest: tuple[str, float]
    same: bool
    encoder: Spreading
    decoder: Spreading


def both(
    sentences: Sequence[str],
    cosines: NDArray[np.float64],
    *,
    same: bool,
    encoder: Spreading,
    decoder: Spreading,
) -> Both:
    """Read what both models make of a text; cosines: of the text with each sentence."""
    at = int(cosines.argmax())
    return Both((sentences[at], float(cosines[at])), same, encoder, decoder)


def late_token(tokens: Sequence[str], special: Sequence[bool]) -> int:
    """Choose the last token of a text that is a word or a piece of a word; the last one where there is none."""
    places = [at for at, added in enumerate(special) if not added]
    words = [at for at in places if any(letter.isalnum() for letter in tokens[at])]
    return (words or places)[-1]
