"""Ways to read a text that is longer than a budget of tokens: parts of it, pieces of it, or all of it under a pattern.

A way that reads pieces runs each of them alone, with the model's special tokens around it and positions from the start;
each token's state is taken from one piece. A way that imposes a pattern reads the whole text at once.

Positions count the text's tokens from 0, special tokens left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.long_texts.patterns import BigBird, Longformer, Pattern

Name = Literal["full", "first", "last", "ends", "windows", "chunks", "longformer", "bigbird"]
NAMES: tuple[Name, ...] = ("first", "last", "ends", "windows", "chunks", "longformer", "bigbird")
"""All ways but full attention, as tables list them."""

RANDOM = 1  # random blocks of BigBird's


@dataclass(frozen=True)
class Piece:
    """Tokens that are read alone, and the tokens whose states are taken from this piece."""

    reads: tuple[int, ...]
    keeps: tuple[int, ...]


@dataclass(frozen=True)
class ReadingWay:
    """A way to read a text of `tokens` tokens: its pieces, or one piece under a pattern."""

    name: Name
    tokens: int
    pieces: tuple[Piece, ...]
    pattern: Pattern | None = None

    @property
    def covered(self) -> tuple[int, ...]:
        """The tokens that the way has a state of, in the text's order."""
        return tuple(sorted(position for piece in self.pieces for position in piece.keeps))

    @property
    def runs(self) -> int:
        """Count the tokens that the model runs, special tokens left out: a token in two windows runs twice."""
        return sum(len(piece.reads) for piece in self.pieces)


def full(tokens: int, pattern: Pattern | None = None, *, name: Name = "full") -> ReadingWay:
    """Read all tokens at once, under a pattern where there is one."""
    whole = tuple(range(tokens))
    return ReadingWay(name, tokens, (Piece(whole, whole),), pattern)


def ways_for(tokens: int, *, room: int, overlap: int, specials: int, causal: bool = False) -> tuple[ReadingWay, ...]:
    """Lay out every way of NAMES for a text, each with about `room` tokens for a token to see.

    room: tokens of the text in a piece. overlap: tokens that two windows share. specials: tokens that the model puts
    around a text. causal: whether a token sees only the tokens before it. Raises ValueError where windows do not
    advance.
    """
    if not 0 <= overlap < room:
        raise ValueError(f"windows of {room} tokens with an overlap of {overlap} do not advance; take 0 to {room - 1}")
    everything = room + specials
    size = max(1, everything // (5 + RANDOM))  # a query sees its block, two beside it, two global, and the random ones
    return (
        _part("first", tokens, tuple(range(min(room, tokens)))),
        _part("last", tokens, tuple(range(max(tokens - room, 0), tokens))),
        _part("ends", tokens, _ends(tokens, room)),
        ReadingWay("windows", tokens, windows(tokens, room=room, overlap=overlap, causal=causal)),
        ReadingWay("chunks", tokens, windows(tokens, room=room, overlap=0, causal=causal, aligned=True)),
        full(tokens, Longformer(side=max(1, everything // 2)), name="longformer"),
        full(tokens, BigBird(size, RANDOM), name="bigbird"),
    )


def windows(tokens: int, *, room: int, overlap: int, causal: bool = False, aligned: bool = False) -> tuple[Piece, ...]:
    """Lay windows of `room` tokens over a text; the last one ends with the text.

    Each token is taken from the window in which it stands most central, and of a causal text from the window that shows
    it most tokens before it. aligned: the last window begins where the one before it ends, and may be shorter.
    """
    if tokens <= room:
        whole = tuple(range(tokens))
        return (Piece(whole, whole),)
    stride = room - overlap
    starts = list(range(0, tokens - (0 if aligned else room), stride))
    if not aligned:
        starts.append(tokens - room)
    spans = [range(start, min(start + room, tokens)) for start in starts]

    def rank(position: int, span: range) -> int:
        before, after = position - span.start, span.stop - 1 - position
        return before if causal else min(before, after)

    owners: list[list[int]] = [[] for _ in spans]
    for position in range(tokens):
        holding = [index for index, span in enumerate(spans) if position in span]
        owners[max(holding, key=lambda index: (rank(position, spans[index]), -index))].append(position)
    return tuple(Piece(tuple(span), tuple(keeps)) for span, keeps in zip(spans, owners, strict=True))


def _part(name: Name, tokens: int, reads: tuple[int, ...]) -> ReadingWay:
    return ReadingWay(name, tokens, (Piece(reads, reads),))


def _ends(tokens: int, room: int) -> tuple[int, ...]:
    """Take half of the room from the head of a text, the rest from its tail (Sun et al. 2019, "head+tail")."""
    if tokens <= room:
        return tuple(range(tokens))
    head = room // 2
    return (*range(head), *range(tokens - (room - head), tokens))
