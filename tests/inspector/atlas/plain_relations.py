"""Relations counted by the definition, word by word in float64, to hold inspector.atlas.relations to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.atlas.relations import DIRECTIONS, HALVES, OFFSETS, RelationCounts
from inspector.atlas.texts import Tree

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence: its text id, the characters of each token, its tree and the maps of all heads [N, n, n]."""

    id: int
    spans: Sequence[tuple[int, int]]
    tree: Tree
    maps: Array


@dataclass
class Plain:
    """Counts of each (relation, direction, half): how often it is there, and found by a head or an offset.

    given: of each (relation, direction, text, head) the weights between the two words, of every occurrence.
    """

    totals: Counter[tuple[str, str, str]]
    hits: Counter[tuple[str, str, str, int]]
    offset_hits: Counter[tuple[str, str, str, int]]
    given: defaultdict[tuple[str, str, int, int], list[float]] = field(
        default_factory=lambda: defaultdict(list), compare=False
    )


def count(sentences: Iterable[Sentence], *, causal: bool) -> Plain:
    plain = Plain(Counter(), Counter(), Counter())
    for sentence in sentences:
        _count(sentence, plain, causal=causal)
    return plain


def as_plain(counts: RelationCounts) -> Plain:
    """The counts that are not 0, in the form of `count`."""
    plain = Plain(Counter(), Counter(), Counter())
    for r, relation in enumerate(counts.relations):
        for d, direction in enumerate(DIRECTIONS):
            for h, half in enumerate(HALVES):
                name = (relation, direction, half)
                plain.totals[name] = int(counts.totals[r, d, h])
                for head in range(counts.heads):
                    plain.hits[(*name, head)] = int(counts.hits[r, d, h, head])
                for place, offset in enumerate(OFFSETS):
                    plain.offset_hits[(*name, offset)] = int(counts.offset_hits[r, d, h, place])
    return Plain(+plain.totals, +plain.hits, +plain.offset_hits)


def tokens_of_units(spans: Sequence[tuple[int, int]], tree: Tree) -> dict[tuple[int, int], list[int]]:
    """The tokens of each surface unit that has any, in the order of the text."""
    units = sorted(set(zip(tree.starts, tree.stops, strict=True)))
    found: dict[tuple[int, int], list[int]] = {unit: [] for unit in units}
    for token, (first, last) in enumerate(spans):
        shared = [max(0, min(last, stop) - max(first, start)) for start, stop in units]
        if max(shared) > 0:
            found[units[shared.index(max(shared))]].append(token)
    return {unit: tokens for unit, tokens in found.items() if tokens}


def _count(sentence: Sentence, plain: Plain, *, causal: bool) -> None:
    tree, groups = sentence.tree, tokens_of_units(sentence.spans, sentence.tree)
    units = list(groups)
    half = "chosen" if sentence.id % 2 == 0 else "scored"
    between = [_between_words(own, list(groups.values())) for own in sentence.maps]
    for word, relation in enumerate(tree.relations):
        if tree.governors[word] == -1 or relation == "punct":
            continue
        unit = (tree.starts[word], tree.stops[word])
        governing = (tree.starts[tree.governors[word]], tree.stops[tree.governors[word]])
        if unit == governing or unit not in groups or governing not in groups:
            continue
        dependent, governor = units.index(unit), units.index(governing)
        for direction in ("governor", "dependent"):
            if causal and (governor < dependent) != (direction == "governor"):
                continue
            name = (relation, direction, half)
            plain.totals[name] += 1
            for head, weights in enumerate(between):
                line = weights[dependent] if direction == "governor" else weights[:, dependent]
                plain.given[relation, direction, sentence.id, head].append(float(line[governor]))
                candidates = [
                    other
                    for other in range(len(units))
                    if other != dependent and not (causal and (other < dependent) != (direction == "governor"))
                ]
                if max(candidates, key=lambda other: line[other]) == governor:  # the first of equals
                    plain.hits[(*name, head)] += 1
            for offset in range(-16, 17):
                if offset and min(max(dependent + offset, 0), len(units) - 1) == governor:
                    plain.offset_hits[(*name, offset)] += 1


def _between_words(weights: Array, groups: list[list[int]]) -> Array:
    """Sum over a key's tokens, mean over a query's: [n, n] -> [U, U]."""
    words = np.zeros((len(groups), len(groups)))
    for row, queries in enumerate(groups):
        for column, keys in enumerate(groups):
            words[row, column] = sum(weights[query, key] for query in queries for key in keys) / len(queries)
    return words
