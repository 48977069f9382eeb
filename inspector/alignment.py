"""The same word in several maps: which tokens of one stand for what tokens of another do.

Texts of one model are cut alike, so their tokens are matched by name. Two tokenizers cut a word each in its own way:
then every token is laid on the words of the reader's text that it stands on, and what stands on the same words belongs
together. Words belong to the text, not to a tokenizer: a run of letters and digits, an ideograph, or any other mark.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from inspector.compare import shared
from inspector.heads import END_TOKENS, START_TOKENS
from inspector.maps import Arrangement, Groups
from inspector.trace import Trace
from models.tokenizers import Encoding

WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
ROLES = dict.fromkeys(START_TOKENS, "start") | dict.fromkeys(END_TOKENS, "end")

Atom = tuple[str, int]  # ("word", its number), or a special token's role and its ordinal
Number = int | None


@dataclass(frozen=True)
class TokenAxis:
    """One side of a map: a text as a model cut it into tokens, and the groups of tokens that are shown."""

    model: str
    text: str
    encoding: Encoding
    groups: Groups


@dataclass(frozen=True)
class CommonRows:
    """The rows that two axes have in common: row i of one axis corresponds to row i of the other.

    a, b: its tokens in either. unit: what a row is. alone: the names of the rest, in a and in b.
    """

    a: Groups
    b: Groups
    unit: Literal["tokens", "words"]
    alone: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Pairing:
    """The queries and keys that the maps of two recordings have in common."""

    queries: CommonRows
    keys: CommonRows

    @property
    def shown(self) -> tuple[Arrangement, Arrangement]:
        """The groups of tokens of both recordings: row i and column j are the same tokens or words."""
        return Arrangement(self.queries.a, self.keys.a), Arrangement(self.queries.b, self.keys.b)


def axes(trace: Trace, shown: Arrangement, *, stream: str) -> tuple[TokenAxis, TokenAxis]:
    """Queries and keys of a stream's maps, as they are shown."""
    read = trace.read_by(stream)
    source = trace.encoding if stream == "cross" else read
    queries, keys = (_placed(trace, encoding) for encoding in (read, source))
    return TokenAxis(trace.model, *queries, shown.queries), TokenAxis(trace.model, *keys, shown.keys)


def numbers(axes: Sequence[TokenAxis]) -> list[tuple[Number, ...]]:
    """A number for each group of each axis: groups with equal numbers belong together; None has no counterpart.

    Several axes are matched with the first: a word that it lacks has no number.
    """
    numbered = _by_tokens(axes) if _cut_alike(axes) else _by_words(axes)
    times = Counter(number for axis in numbered for number in set(axis))
    return [tuple(number if times[number] > 1 else None for number in axis) for axis in numbered]


def common(a: TokenAxis, b: TokenAxis) -> CommonRows:
    """The tokens, or where two tokenizers cut the texts the words, that both axes have.

    Raises ValueError where there are none.
    """
    of_a, of_b = numbers([a, b])
    both = [number for number in dict.fromkeys(of_a) if number is not None]
    if not both:
        raise ValueError("these two texts share no token, so there is nothing to subtract; choose texts that overlap")
    unit: Literal["tokens", "words"] = "tokens" if _cut_alike([a, b]) else "words"
    alone = tuple(
        tuple(label for label, number in zip(axis.groups.labels, numbers_of, strict=True) if number is None)
        for axis, numbers_of in ((a, of_a), (b, of_b))
    )
    return CommonRows(_merged(a, of_a, both, unit), _merged(b, of_b, both, unit), unit, (alone[0], alone[1]))


def pairing(a: tuple[TokenAxis, TokenAxis], b: tuple[TokenAxis, TokenAxis]) -> Pairing:
    """Match the queries and the keys of two maps, each given by its axes.

    Raises ValueError where the two share no query or no key.
    """
    queries, keys = (common(*sides) for sides in zip(a, b, strict=True))
    return Pairing(queries, keys)


def pairing_of_one_text(a: tuple[TokenAxis, TokenAxis], b: tuple[TokenAxis, TokenAxis]) -> Pairing:
    """Match the queries and the keys of two maps of the same text, so that whole models can be compared on it.

    Raises ValueError where the queries or the keys are of different texts.
    """
    for what, sides in zip(("queries", "keys"), zip(a, b, strict=True), strict=True):
        first, second = ([word.casefold() for word in WORD.findall(_text_and_spans(axis)[0])] for axis in sides)
        if first != second:
            raise ValueError(
                f"heads are matched where both read the same text, and these {what} are of two: one of {len(first)} "
                f"words and one of {len(second)}, which are not the same; give both the same text and stream"
            )
    return pairing(a, b)


def _placed(trace: Trace, encoding: Encoding) -> tuple[str, Encoding]:
    """The text that an encoding's spans point into."""
    if encoding is trace.encoding:
        return trace.text if trace.text_pair is None else f"{trace.text}\n{trace.text_pair}", encoding
    return trace.target_text or "", encoding


def _cut_alike(axes: Sequence[TokenAxis]) -> bool:
    return len({axis.model for axis in axes}) == 1 or len({axis.encoding.tokens for axis in axes}) == 1


def _by_tokens(axes: Sequence[TokenAxis]) -> list[tuple[Number, ...]]:
    first = axes[0].groups.labels
    places = [{place: number for number, place in shared(first, axis.groups.labels)} for axis in axes]
    return [
        tuple(map(by_place.get, range(len(axis.groups.labels)))) for axis, by_place in zip(axes, places, strict=True)
    ]


def _merged(axis: TokenAxis, numbers: Sequence[Number], both: Sequence[int], unit: str) -> Groups:
    """The groups of an axis that have a number, one for each; words are named as the text writes them."""
    members: dict[int, list[int]] = {number: [] for number in both}
    names: dict[int, str] = {}
    for label, group, number in zip(axis.groups.labels, axis.groups.members, numbers, strict=True):
        if number is not None:
            members[number] += group
            names.setdefault(number, label)
    if unit == "words":
        names |= {number: _written(axis, group) or names[number] for number, group in members.items()}
    return Groups(tuple(names[number] for number in both), tuple(tuple(members[number]) for number in both))


# --- by words ----------------------------------------------------------------------------------------------------


def _by_words(axes: Sequence[TokenAxis]) -> list[tuple[Number, ...]]:
    held = [_atoms(axis, ids) for axis, ids in zip(axes, _numbered_words(axes), strict=True)]
    whole = _glued(atoms for groups in held for atoms in groups)
    order: dict[frozenset[Atom], int] = {}
    result = []
    for groups in held:
        there = frozenset[Atom]().union(*groups)
        units = [whole[min(atoms)] if atoms else frozenset() for atoms in groups]
        # A unit of which this text has a part only (the rest was cut, or is hidden) is not the same thing.
        result.append(tuple(order.setdefault(unit, len(order)) if unit and unit <= there else None for unit in units))
    return result


def _numbered_words(axes: Sequence[TokenAxis]) -> list[list[int]]:
    """Number the words of each axis's text: by their place in the first text, or by a number that no other word has."""
    first, *_ = texts = [_text_and_spans(axis)[0] for axis in axes]
    known = {first: list(range(len(WORD.findall(first))))}
    named = [word.casefold() for word in WORD.findall(first)]
    following = len(named)
    for text in texts:
        if text not in known:
            words = [word.casefold() for word in WORD.findall(text)]
            same = {place: number for number, place in shared(named, words)}
            known[text] = [same.get(place, following + place) for place in range(len(words))]
            following += len(words)
    return [known[text] for text in texts]


def _atoms(axis: TokenAxis, ids: Sequence[int]) -> list[frozenset[Atom]]:
    """The words of the text that each group of tokens stands on, whole or in part, or the special token it is."""
    text, spans = _text_and_spans(axis)
    ends = [match.end() for match in WORD.finditer(text)]
    starts = [match.start() for match in WORD.finditer(text)]
    count: Counter[str] = Counter()
    tokens: list[frozenset[Atom]] = []
    for token, special, (start, end) in zip(axis.encoding.tokens, axis.encoding.special, spans, strict=True):
        if special:
            role = ROLES.get(token, token)
            tokens.append(frozenset({(role, count[role])}))
            count[role] += 1
        else:
            over = range(bisect_right(ends, start), len(ends))
            tokens.append(frozenset(("word", ids[word]) for word in _until(over, starts, end)))
    for place in range(len(tokens) - 2, -1, -1):  # a space that is a token goes with what follows it
        if not tokens[place] and not axis.encoding.special[place + 1]:
            tokens[place] = tokens[place + 1]
    return [frozenset[Atom]().union(*(tokens[place] for place in group)) for group in axis.groups.members]


def _until(words: Iterable[int], starts: Sequence[int], end: int) -> Iterable[int]:
    for word in words:
        if starts[word] >= end:
            return
        yield word


def _glued(groups: Iterable[frozenset[Atom]]) -> dict[Atom, frozenset[Atom]]:
    """Union the atoms that share a token: a token covering two words joins those words."""
    whole: dict[Atom, frozenset[Atom]] = {}
    for atoms in groups:
        joined = atoms.union(*(whole.get(atom, frozenset()) for atom in atoms))
        whole |= dict.fromkeys(joined, joined)
    return whole


def _written(axis: TokenAxis, tokens: Sequence[int]) -> str:
    """Return the part of the text that these tokens cover; "" for special tokens."""
    text, spans = _text_and_spans(axis)
    places = [spans[token] for token in tokens if not axis.encoding.special[token]]
    return text[min(start for start, _ in places) : max(end for _, end in places)].strip() if places else ""


def _text_and_spans(axis: TokenAxis) -> tuple[str, Sequence[tuple[int, int]]]:
    """The text, and where in it each token stands; tokens that a model wrote are spelled, a space before each word."""
    if axis.encoding.spans is not None:
        return axis.text, axis.encoding.spans
    text, spans, before = "", list[tuple[int, int]](), None
    for token, word, special in zip(axis.encoding.tokens, axis.encoding.words, axis.encoding.special, strict=True):
        piece = "" if special else token.removeprefix("##").lstrip("▁Ġ")
        text += "" if special or word == before else " "
        spans.append((len(text), len(text) + len(piece)))
        text, before = text + piece, word
    return text, spans
