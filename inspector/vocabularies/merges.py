"""Merges, step by step: each joins one pair of neighbouring symbols in all words of a corpus.

Byte pair encoding (Sennrich et al. 2016) joins the most frequent pair. WordPiece (Schuster & Nakajima 2012) joins the
pair that raises the likelihood of the corpus most. Its code was never published, and what is usually taught in its
place is the pair with the largest count(ab) / (count(a) count(b)).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import pandas as pd

Rule = Literal["count", "ratio", "gain"]
RULES: tuple[Rule, ...] = ("count", "ratio", "gain")
Pair = tuple[str, str]
Symbols = tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """One merge: the pair, its count before, the piece that it makes, and the symbols of the corpus after it."""

    pair: Pair
    count: int
    piece: str
    symbols: int


@dataclass(frozen=True)
class LearnedMerges:
    """All merges that a corpus gave.

    words: with their counts. prefix: of a symbol that continues a word, "" for none. alphabet: the first symbols, in
    the order that settles ties. least: a pair that stands less often is not joined.
    """

    words: Mapping[str, int]
    prefix: str
    alphabet: Symbols
    least: int
    rule: Rule
    merges: tuple[Merge, ...]

    @property
    def pieces(self) -> Symbols:
        """List the vocabulary in the order in which it came to be: the alphabet, then the pieces, each once."""
        return tuple(dict.fromkeys([*self.alphabet, *(merge.piece for merge in self.merges)]))

    def spelled(self, step: int) -> dict[str, Symbols]:
        """Spell each word of the corpus in the symbols that are there after `step` merges."""
        spelled = {word: spell(word, prefix=self.prefix) for word in self.words}
        for merge in self.merges[:step]:
            spelled = {word: join(symbols, merge.pair, into=merge.piece) for word, symbols in spelled.items()}
        return spelled

    def lengths(self) -> list[int]:
        """Count the symbols of the corpus before the first merge and after each."""
        first = sum(count * len(word) for word, count in self.words.items())
        return [first, *(merge.symbols for merge in self.merges)]

    def pairs(self, step: int) -> pd.DataFrame:
        """Weigh all pairs after `step` merges, in the order that the rule prefers.

        Columns: first, second, piece (what they would make), first_count, second_count, count, ratio (count(ab) /
        (count(a) count(b))), gain (nats by which the merge raises the corpus's likelihood under a unigram model of its
        symbols).
        """
        order = {symbol: at for at, symbol in enumerate(self.pieces)}
        spelled = self.spelled(step)
        weighed = _weighed(spelled, self.words)
        rows = [
            (*pair, _joined(pair, self.prefix), *weighed[pair].values())
            for pair in sorted(weighed, key=lambda pair: _place(weighed[pair], pair, order, self.rule, self.least))
        ]
        return pd.DataFrame(rows, columns=["first", "second", "piece", "first_count", "second_count", *RULES])


def learn(
    words: Mapping[str, int],
    *,
    merges: int,
    rule: Rule = "count",
    prefix: str = "",
    least: int = 1,
    alphabet: Sequence[str] | None = None,
) -> LearnedMerges:
    """Learn merges from words and their counts until there are `merges`, or no pair stands `least` times.

    With the rule "count" these are the merges of tokenizers' BpeTrainer, in its order: among pairs with the same count
    it takes the pair whose first symbol came to the vocabulary first, then the pair whose second symbol did. prefix:
    "##" for symbols that continue a word. alphabet: the first symbols in the order of the vocabulary, None for
    characters by code point and then characters with the prefix.

    Raises ValueError for an alphabet that lacks a character of the words.
    """
    spelled = {word: spell(word, prefix=prefix) for word in words}
    seen = {symbol for symbols in spelled.values() for symbol in symbols}
    letters = {letter for word in words for letter in word}
    first = (*sorted(letters), *sorted(seen - letters)) if alphabet is None else tuple(alphabet)
    if missing := seen - set(first):
        raise ValueError(f"the alphabet lacks {', '.join(sorted(missing)[:5])}; give every symbol of the words")
    order = {symbol: at for at, symbol in enumerate(first)}
    made: list[Merge] = []
    while len(made) < merges:
        weighed = _weighed(spelled, words)
        pair = min(weighed, key=lambda pair: _place(weighed[pair], pair, order, rule, least), default=None)
        if pair is None or weighed[pair]["count"] < least:
            break
        piece = _joined(pair, prefix)
        spelled = {word: join(symbols, pair, into=piece) for word, symbols in spelled.items()}
        order.setdefault(piece, len(order))
        symbols = sum(words[word] * len(symbols) for word, symbols in spelled.items())
        made.append(Merge(pair, int(weighed[pair]["count"]), piece, symbols))
    return LearnedMerges(words, prefix, first, least, rule, tuple(made))


def spell(word: str, *, prefix: str) -> Symbols:
    """Spell a word in characters; all but the first have the prefix."""
    return (word[0], *(prefix + letter for letter in word[1:]))


def join(symbols: Symbols, pair: Pair, *, into: str) -> Symbols:
    """Join a pair wherever it stands, from left to right."""
    if pair[0] not in symbols:
        return symbols
    made, at = [], 0
    while at < len(symbols):
        here = symbols[at : at + 2] == pair
        made.append(into if here else symbols[at])
        at += 1 + here
    return tuple(made)


def _joined(pair: Pair, prefix: str) -> str:
    return pair[0] + pair[1].removeprefix(prefix)


def _place(
    weight: Mapping[str, float], pair: Pair, order: Mapping[str, int], rule: Rule, least: int
) -> tuple[float, ...]:
    """Place a pair among the others: frequent enough pairs first, the best by the rule, then by the order."""
    return weight["count"] < least, -weight[rule], order[pair[0]], order[pair[1]]


def _weighed(spelled: Mapping[str, Symbols], words: Mapping[str, int]) -> dict[Pair, dict[str, float]]:
    """Weigh every pair of neighbours: the counts of its symbols, then what each of RULES looks at."""
    pairs: Counter[Pair] = Counter()
    single: Counter[str] = Counter()
    twins: Counter[str] = Counter()  # how often a symbol can be joined with its like: aaa holds aa twice and once
    for word, symbols in spelled.items():
        times = words[word]
        for symbol in symbols:
            single[symbol] += times
        for pair in pairwise(symbols):
            pairs[pair] += times
        for symbol in {first for first, second in pairwise(symbols) if first == second}:
            twins[symbol] += times * (len(symbols) - len(join(symbols, (symbol, symbol), into="")))
    total = sum(single.values())
    return {
        (first, second): {
            "first_count": single[first],
            "second_count": single[second],
            "count": count,
            "ratio": count / (single[first] * single[second]),
            "gain": _gain(
                single[first],
                None if first == second else single[second],
                joined=twins[first] if first == second else count,
                total=total,
            ),
        }
        for (first, second), count in pairs.items()
    }


def _gain(first: int, second: int | None, *, joined: int, total: int) -> float:
    """Return by how many nats a merge raises Σ c ln(c / N), the corpus's log-likelihood under its own symbol counts.

    first, second: counts of the two symbols, None where both are one symbol; joined: how often they are joined.
    """
    if second is None:
        change = _log(first - 2 * joined) - _log(first)
    else:
        change = _log(first - joined) + _log(second - joined) - _log(first) - _log(second)
    return change + _log(joined) - _log(total - joined) + _log(total)


def _log(count: int) -> float:
    return count * math.log(count) if count else 0.0
