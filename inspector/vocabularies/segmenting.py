"""Ways through one word: WordPiece takes the longest piece that fits, unigram the likeliest row of pieces."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import pandas as pd

UNKNOWN_COSTS = (
    10.0  # nats below the least likely piece, for a character that no piece holds (tokenizers, as SentencePiece)
)
LONGEST_KNOWN = 100  # characters of a word; WordPiece calls a longer one unknown


@dataclass(frozen=True)
class Segmentation:
    """A word as pieces, and the sum of their log probabilities in nats."""

    pieces: tuple[str, ...]
    log_probability: float


def longest_match(
    word: str, vocabulary: Container[str], *, prefix: str = "##", unknown: str = "[UNK]"
) -> tuple[str, ...]:
    """Cut a word as WordPiece does: from the left, each time the longest piece of the vocabulary that fits.

    A word with a part that fits no piece is unknown as a whole. prefix: of pieces that continue a word.
    """
    pieces: list[str] = []
    start = 0
    while start < len(word) <= LONGEST_KNOWN:
        ends = range(len(word), start, -1)
        piece = next((made for end in ends if (made := prefix * (start > 0) + word[start:end]) in vocabulary), None)
        if piece is None:
            return (unknown,)
        pieces.append(piece)
        start += len(piece) - len(prefix) * (start > 0)
    return tuple(pieces) if len(word) <= LONGEST_KNOWN else (unknown,)


def segmentations(word: str, scores: Mapping[str, float], *, most: int = 1) -> list[Segmentation]:
    """Find the likeliest ways to cut a word (Kudo 2018), the best first: Viterbi, keeping `most` at each place.

    scores: of pieces, log probabilities in nats. Among ways of the same sum the one whose last pieces begin first goes
    before. A character that no piece holds alone is a piece of its own, UNKNOWN_COSTS below the least likely; such
    characters side by side are one piece.
    """
    unknown = min(scores.values()) - UNKNOWN_COSTS
    best: list[list[tuple[float, tuple[tuple[int, bool], ...]]]] = [[(0.0, ())]]
    for end in range(1, len(word) + 1):
        longer = []
        for start in range(end):
            score = scores.get(word[start:end])
            known = score is not None
            if score is None and end - start > 1:
                continue
            step = unknown if score is None else score
            longer += [(step + total, (*ends, (end, known))) for total, ends in best[start]]
        best.append(sorted(longer, key=lambda way: -way[0])[:most])
    return [Segmentation(_pieces(word, ends), total) for total, ends in best[-1]]


def _pieces(word: str, ends: tuple[tuple[int, bool], ...]) -> tuple[str, ...]:
    pieces: list[str] = []
    start, before = 0, True
    for end, known in ends:
        if pieces and not known and not before:
            pieces[-1] += word[start:end]
        else:
            pieces.append(word[start:end])
        start, before = end, known
    return tuple(pieces)


def losses(words: Mapping[str, int], scores: Mapping[str, float]) -> pd.DataFrame:
    """Measure what each piece is worth: how far the corpus's likelihood falls without it, the least first.

    Kudo 2018 prunes by this loss: the pieces at the top of the table are the next to go. Each word's likelihood is that
    of its best cut. Single characters are left out, for they always stay.

    Columns: piece, log_probability, used (how often the best cuts of the corpus hold it), loss (nats), instead (how the
    piece itself would be spelled).
    """
    best = {word: segmentations(word, scores)[0] for word in words}
    rows = []
    for piece, score in scores.items():
        if len(piece) < 2 or score == 0:  # a special token
            continue
        others = {other: value for other, value in scores.items() if other != piece}
        uses = {word: times for word, times in words.items() if piece in best[word].pieces}
        used = sum(times * best[word].pieces.count(piece) for word, times in uses.items())
        loss = sum(
            times * (best[word].log_probability - segmentations(word, others)[0].log_probability)
            for word, times in uses.items()
        )
        rows.append((piece, score, used, loss, " ".join(segmentations(piece, others)[0].pieces)))
    table = pd.DataFrame(rows, columns=["piece", "log_probability", "used", "loss", "instead"])
    return table.sort_values(["loss", "piece"], ignore_index=True)
