"""One text in many vocabularies, read: how long it is in each, what is unknown, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.vocabularies import Way


@dataclass(frozen=True)
class Cutting:
    """Tokens of the text as characters, as words and as the model's pieces, and the share that is unknown in each.

    vocabulary: of the model. blanks: False for a text without any, which is one word. times: the cells of a map of the
    longest of the three over those of the shortest.
    """

    characters: int
    words: int
    pieces: int
    unknown_characters: float
    unknown_words: float
    unknown_pieces: float
    vocabulary: int
    blanks: bool
    times: float


def cutting(ways: Mapping[str, Way], *, model: str) -> Cutting:
    """Read the ways; they hold "characters", "words", and the model's under its name."""
    characters, words, pieces = ways["characters"], ways["words"], ways[model]
    lengths = [len(characters), len(words), len(pieces)]
    return Cutting(
        characters=len(characters),
        words=len(words),
        pieces=len(pieces),
        unknown_characters=characters.unknown / len(characters),
        unknown_words=words.unknown / len(words),
        unknown_pieces=pieces.unknown / len(pieces),
        vocabulary=pieces.vocabulary,
        blanks=" " in words.text.strip(),
        times=(max(lengths) / min(lengths)) ** 2,
    )
