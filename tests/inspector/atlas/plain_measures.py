"""Every measure of the atlas as its definition reads: plain loops in float64 over the maps of one attention.

Nothing here comes from the code that it is held against, `inspector.heads` and `inspector.atlas`. Each measure takes
the maps of one attention and gives a number a head, [H]. Sums run over the queries or the keys one by one.

Shapes: H heads, Q query positions, T key positions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from models.tokenizers import Encoding

Array = NDArray[np.float64]
MARKS_OF_SPACES = ("Ġ", "▁")
MARK_OF_PIECES = "##"
OFFSETS = tuple(offset for offset in range(-16, 17) if abs(offset) > 1)


@dataclass(frozen=True)
class Maps:
    """The maps of one attention, and what its measures ask of its tokens.

    weights: float64 [H, Q, T]; every row sums to 1. lengths: ||f(x_j)|| of each key, [H, T]. keys: the tokens of the
    keys. one_text: False where queries and keys are two texts. causal: True where a query sees no later key.
    """

    weights: Array
    lengths: Array
    keys: Encoding
    one_text: bool
    causal: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        heads, queries, keys = self.weights.shape
        return heads, queries, keys

    @cached_property
    def norm_weighted(self) -> Array:
        """N[i, j] = A[i, j] ||f(x_j)|| / sum_k A[i, k] ||f(x_k)|| (Kobayashi et al. 2020), [H, Q, T].

        A query whose keys move nothing has no row: NaN.
        """
        heads, queries, _ = self.shape
        shares = np.full(self.shape, np.nan)
        for head in range(heads):
            for query in range(queries):
                moved = self.weights[head, query] * self.lengths[head]
                if moved.sum() > 0:
                    shares[head, query] = moved / moved.sum()
        return shares

    def nothing(self) -> Array:
        """Give NaN for every head: the measure means nothing here."""
        return np.full(len(self.weights), np.nan)


def measured(maps: Maps) -> dict[str, Array]:
    """Compute every measure by its name, each [H]."""
    return {name: measure(maps) for name, measure in MEASURES.items()}


# --- the spread of a row -----------------------------------------------------------------------------------------


def entropy(maps: Maps) -> Array:
    """-sum_j A ln A, nats; the mean over the queries."""
    heads, queries, _ = maps.shape
    total = np.zeros(heads)
    for query in range(queries):
        total += entropy_of_row(maps.weights[:, query])
    return total / queries


def entropy_of_row(row: Array) -> Array:
    """Entropy of one row a head, [H, T] -> [H]; 0 ln 0 is 0."""
    logarithms = np.log(np.where(row > 0, row, 1.0))
    return -(row * logarithms).sum(axis=1)


def relative_entropy(maps: Maps) -> Array:
    """Entropy / ln T; 0 where there is one key."""
    heads, _, keys = maps.shape
    return entropy(maps) / np.log(keys) if keys > 1 else np.zeros(heads)


def information(maps: Maps) -> Array:
    """Entropy of the mean row, less the mean entropy of the rows."""
    heads, queries, keys = maps.shape
    mean_row = np.zeros((heads, keys))
    for query in range(queries):
        mean_row += maps.weights[:, query] / queries
    return entropy_of_row(mean_row) - entropy(maps)


def confidence(maps: Maps) -> Array:
    """max_j A, the mean over the queries; an end token that is the last key is no candidate."""
    heads, queries, keys = maps.shape
    candidates = keys - 1 if maps.keys.tokens[-1] in ("[SEP]", "</s>") else keys
    if candidates == 0:
        return maps.nothing()
    total = np.zeros(heads)
    for query in range(queries):
        total += maps.weights[:, query, :candidates].max(axis=1)
    return total / queries


# --- positions ---------------------------------------------------------------------------------------------------


def distance(maps: Maps) -> Array:
    """sum_j A |i - j|, tokens; the mean over the queries."""
    heads, queries, keys = maps.shape
    if not maps.one_text:
        return maps.nothing()
    total = np.zeros(heads)
    for query in range(queries):
        total += maps.weights[:, query] @ np.array([abs(query - key) for key in range(keys)], np.float64)
    return total / queries


def offset(maps: Maps, by: int, *, normed: bool = False) -> Array:
    """A[i, i + by], the mean over the queries i that see such a key; NaN where none does."""
    return on_targets(maps, lambda query, key: key == query + by, normed=normed)


def sink(maps: Maps) -> Array:
    """max_j mean_i A[i, j]."""
    _, _, keys = maps.shape
    largest = column(maps.weights, 0)
    for key in range(keys):
        largest = np.maximum(largest, column(maps.weights, key))
    return largest


def part(maps: Maps, number: int) -> Array:
    """Weight on the keys of a quarter of the text, 1 to 4; NaN where the text is too short to have it."""
    _, _, keys = maps.shape
    return on_keys(maps, [1 + (4 * key) // keys == number for key in range(keys)])


def column(weights: Array, key: int) -> Array:
    """mean_i A[i, key], [H]; the mean over the queries that have a row, NaN where none has."""
    return np.array([mean_of_known(head[:, key]) for head in weights])


def mean_of_known(numbers: Array) -> float:
    known = [float(number) for number in numbers if not np.isnan(number)]
    return sum(known) / len(known) if known else np.nan


# --- what the keys are -------------------------------------------------------------------------------------------


def first(maps: Maps, *, normed: bool = False) -> Array:
    """Weight on the first key."""
    return column(maps.norm_weighted if normed else maps.weights, 0)


def on_names(maps: Maps, names: Sequence[str], *, normed: bool = False) -> Array:
    """Weight on the keys with these names."""
    return on_keys(maps, [token in names for token in maps.keys.tokens], normed=normed)


def on_punctuation(maps: Maps, *, normed: bool = False) -> Array:
    """Weight on the keys of punctuation alone."""
    return on_keys(maps, [is_punctuation(token) for token in maps.keys.tokens], normed=normed)


def on_class(maps: Maps, name: str) -> Array:
    """Weight on the keys of a class, see `token_class`."""
    return on_keys(maps, [token_class(maps.keys, key) == name for key in range(len(maps.keys))])


def on_keys(maps: Maps, chosen: Sequence[bool], *, normed: bool = False) -> Array:
    """Weight on the chosen keys; NaN where there are none."""
    if not any(chosen):
        return maps.nothing()
    weights = maps.norm_weighted if normed else maps.weights
    total = np.zeros(len(weights))
    for key, is_chosen in enumerate(chosen):
        if is_chosen:
            total += column(weights, key)
    return total


def token_class(keys: Encoding, key: int) -> str:
    """The first class that holds for a key: special, unknown, punctuation, number, rest of a word, start of one."""
    if keys.special[key]:
        return "special"
    if keys.unknown_id is not None and keys.ids[key] == keys.unknown_id:
        return "unknown"
    if is_punctuation(keys.tokens[key]):
        return "punctuation"
    if is_number(keys.tokens[key]):
        return "number"
    if key > 0 and keys.words[key - 1] == keys.words[key]:
        return "rest"
    return "start"


def is_punctuation(token: str) -> bool:
    """Tell if every character behind the mark of a space is of a category of punctuation in Unicode."""
    written = without_space(token)
    return written != "" and all(unicodedata.category(character).startswith("P") for character in written)


def is_number(token: str) -> bool:
    """Tell if every character is numeric, the mark of a space or of a word piece apart."""
    return without_space(token).removeprefix(MARK_OF_PIECES).isnumeric()


def without_space(token: str) -> str:
    for mark in MARKS_OF_SPACES:
        token = token.removeprefix(mark)
    return token


# --- tokens that come again --------------------------------------------------------------------------------------


def induction(maps: Maps) -> Array:
    """Weight on the keys behind another place of the query's token, over the queries that have such keys."""
    tokens = maps.keys

    def behind_the_same(query: int, key: int) -> bool:
        return key > 0 and key - 1 != query and same_token(tokens, query, key - 1)

    return on_targets(maps, behind_the_same)


def duplicate(maps: Maps) -> Array:
    """Weight on the same token at other places, over the queries that have such keys."""
    return on_targets(maps, lambda query, key: key != query and same_token(maps.keys, query, key))


def word(maps: Maps) -> Array:
    """Weight on the other pieces of the query's word, over the queries that have such keys."""
    words = maps.keys.words
    return on_targets(maps, lambda query, key: key != query and words[query] is not None and words[query] == words[key])


def same_token(tokens: Encoding, one: int, other: int) -> bool:
    """Tell if two places hold the same token: one of a word, which the tokenizer knows."""
    known = tokens.unknown_id is None or tokens.ids[one] != tokens.unknown_id
    return tokens.words[one] is not None and known and tokens.tokens[one] == tokens.tokens[other]


def on_targets(maps: Maps, is_target: Callable[[int, int], bool], *, normed: bool = False) -> Array:
    """Weight on each query's targets, the mean over the queries that see a target; NaN where none does."""
    _, queries, keys = maps.shape
    if not maps.one_text:
        return maps.nothing()
    weights = maps.norm_weighted if normed else maps.weights
    of_queries = []
    for query in range(queries):
        seen = query + 1 if maps.causal else keys
        targets = [key for key in range(seen) if is_target(query, key)]
        if targets:
            of_queries.append(sum(weights[:, query, key] for key in targets))
    if not of_queries:
        return maps.nothing()
    return np.array([mean_of_known(of_head) for of_head in np.stack(of_queries, axis=1)])


Measure = Callable[[Maps], Array]
_CLS, _SEP = ("[CLS]", "<s>"), ("[SEP]", "</s>")

MEASURES: dict[str, Measure] = {
    "entropy": entropy,
    "relative_entropy": relative_entropy,
    "distance": distance,
    "self": lambda maps: offset(maps, 0),
    "previous": lambda maps: offset(maps, -1),
    "next": lambda maps: offset(maps, 1),
    "first": first,
    "cls": lambda maps: on_names(maps, _CLS),
    "sep": lambda maps: on_names(maps, _SEP),
    "punctuation": on_punctuation,
    "confidence": confidence,
    "information": information,
    "induction": induction,
    "duplicate": duplicate,
    "word": word,
    "sink": sink,
    **{f"offset_{by:+d}": lambda maps, by=by: offset(maps, by) for by in OFFSETS},
    **{f"part_{number}": lambda maps, number=number: part(maps, number) for number in (1, 2, 3, 4)},
    **{
        f"to_{name}": lambda maps, name=name: on_class(maps, name)
        for name in ("special", "number", "start", "rest", "unknown")
    },
    "norm_self": lambda maps: offset(maps, 0, normed=True),
    "norm_previous": lambda maps: offset(maps, -1, normed=True),
    "norm_next": lambda maps: offset(maps, 1, normed=True),
    "norm_first": lambda maps: first(maps, normed=True),
    "norm_cls": lambda maps: on_names(maps, _CLS, normed=True),
    "norm_sep": lambda maps: on_names(maps, _SEP, normed=True),
    "norm_punctuation": lambda maps: on_punctuation(maps, normed=True),
}
"""Every measure of the atlas by name."""
