"""Counts how often a head's strongest key of a word is the word's governor, for each relation of dependency trees.

Attention is read between words (Clark et al. 2019, section 4.1): the sum over a key's tokens, the mean over a query's.
Words of one multiword token ("don't" in Universal Dependencies) are one word here, a surface unit. Special tokens and
the word itself are no candidates. Two directions (section 4.2):

governor: the key that the dependent gives most is its governor.
dependent: the word that gives the dependent most is its governor.

Not counted: the root, punctuation (relation punct), a governor in the same unit, and words without a token that was
read. A causal model sees earlier words alone: "governor" counts where the governor comes earlier, "dependent" where it
comes later, and candidates are the words that it sees, or that see it. The baseline takes the unit at one fixed offset
from the dependent, clipped to the sentence, for the governor.

Shapes: B sentences, H heads of a call, N heads of the model, n tokens, U units, R relations, K relations of a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.atlas.statistics import EXAMPLE, EXAMPLES
from inspector.atlas.texts import Tree
from models.tokenizers import Encoding

Counts = NDArray[np.int64]

DIRECTIONS = ("governor", "dependent")
HALVES = ("chosen", "scored")
"""Sentences with an even text id choose the best head and the best offset, those with an odd id score them."""
FARTHEST = 16  # units
OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))
"""Places of the baseline's counts; 0, the word itself, is never a governor."""
MOST_RELATIONS = 5000  # of a table that is read; Universal Dependencies has some 250 with all subtypes
_PUNCTUATION = "punct"
_NO_UNIT = -1  # of a special token, or of one between the words


@dataclass(frozen=True)
class PlacedWords:
    """A sentence's words as groups of tokens, with the relations that can be counted.

    units: of each token the surface unit that it belongs to, -1 for none; units count from 0 in the order of the text,
    and each has a token. dependents, governors: of each relation the units that it joins, never the same. relations:
    their names.
    """

    units: tuple[int, ...]
    dependents: tuple[int, ...]
    governors: tuple[int, ...]
    relations: tuple[str, ...]

    @property
    def count(self) -> int:
        """U, the number of units."""
        return 1 + max(self.units, default=_NO_UNIT)


def place(encoding: Encoding, tree: Tree) -> PlacedWords:
    """Place a tree's words on the tokens that a model reads: a token belongs to the unit that it shares most with.

    The first of equals wins. encoding: of the tree's text, cut or not. Raises ValueError for an encoding that was not
    made of a text.
    """
    if encoding.spans is None:
        raise ValueError(f"the {len(encoding)} tokens were not read from a text, so no word of a tree has a place")
    words = list(zip(tree.starts, tree.stops, strict=True))
    owners = {character: word for word in dict.fromkeys(words) for character in range(*word)}
    held = [_most_shared(owners, span) for span in encoding.spans]
    numbers = {word: number for number, word in enumerate(sorted({word for word in held if word is not None}))}
    arcs = [
        (numbers[words[dependent]], numbers[words[governor]], relation)
        for dependent, (governor, relation) in enumerate(zip(tree.governors, tree.relations, strict=True))
        if governor >= 0
        and relation.partition(":")[0] != _PUNCTUATION
        and words[dependent] != words[governor]
        and {words[dependent], words[governor]} <= numbers.keys()
    ]
    dependents, governors, relations = zip(*arcs, strict=True) if arcs else ((), (), ())
    units = tuple(_NO_UNIT if word is None else numbers[word] for word in held)
    return PlacedWords(units, dependents, governors, relations)


def _most_shared(owners: dict[int, tuple[int, int]], span: tuple[int, int]) -> tuple[int, int] | None:
    shared = Counter(owners[character] for character in range(*span) if character in owners)
    return max(shared, key=shared.__getitem__) if shared else None


@dataclass(frozen=True, eq=False)
class RelationCounts:
    """Counts of every relation, in both directions and both halves; counts of several corpora add up.

    relations: names, sorted. totals: int64 [R, directions, halves], how often the relation is there. hits: [R,
    directions, halves, N], how often each head finds the governor. offset_hits: [R, directions, halves, OFFSETS], how
    often each offset does.
    """

    SCHEMA: ClassVar[pa.Schema] = pa.schema(
        [
            *((name, pa.string()) for name in ("relation", "direction", "half")),
            ("total", pa.int64()),
            *((name, pa.list_(pa.int64())) for name in ("hits", "offset_hits")),
        ]
    )

    relations: tuple[str, ...]
    totals: Counts
    hits: Counts
    offset_hits: Counts

    @classmethod
    def none(cls, heads: int) -> RelationCounts:
        """Make counts of no sentence, for a model of N heads."""
        return cls((), *(np.zeros(_shape(0, *last), np.int64) for last in ((), (heads,), (len(OFFSETS),))))

    @property
    def heads(self) -> int:
        """N, the number of heads of the model."""
        return int(self.hits.shape[-1])

    def merged(self, *others: RelationCounts) -> RelationCounts:
        """Add the counts of other sentences, in any order; ValueError where they are of another number of heads."""
        every = [self, *others]
        for other in others:
            if other.heads != self.heads:
                raise ValueError(f"counts of {self.heads} and of {other.heads} heads are not of one model")
        relations = tuple(sorted({relation for counts in every for relation in counts.relations}))
        places = {relation: place for place, relation in enumerate(relations)}
        sums = [np.zeros((len(relations), *part.shape[1:]), np.int64) for part in self._parts]
        for counts in every:
            rows = [places[relation] for relation in counts.relations]
            for total, part in zip(sums, counts._parts, strict=True):
                total[rows] += part
        return RelationCounts(relations, *sums)

    def table(self) -> pa.Table:
        """Write the counts as a table: a row per relation, direction and half, in this order."""
        totals, hits, offset_hits = (part.reshape(self.totals.size, *part.shape[3:]).tolist() for part in self._parts)
        names = [list(column) for column in zip(*_rows(self.relations), strict=True)] or [[], [], []]
        return pa.table([*names, totals, hits, offset_hits], schema=self.SCHEMA)

    @classmethod
    def from_table(cls, table: pa.Table, *, heads: int) -> RelationCounts:
        """Read counts of a model of N heads from a table that `table` made.

        Raises ValueError for other columns, for rows that are missing, doubled or in another order, and for counts
        that cannot be.
        """
        if not table.schema.equals(cls.SCHEMA):
            raise ValueError(f"the table holds no counts of relations: its columns are {table.schema.names[:8]}")
        if any(column.null_count for column in table.columns):
            raise ValueError("the table of relations has empty cells")
        if table.num_rows > MOST_RELATIONS * len(DIRECTIONS) * len(HALVES):
            raise ValueError(
                f"the table of relations has {table.num_rows:,} rows; {MOST_RELATIONS:,} relations are read"
            )
        names = [tuple(row.values()) for row in table.select(["relation", "direction", "half"]).to_pylist()]
        relations = tuple(sorted({relation for relation, _, _ in names}))
        if names != _rows(relations):
            raise ValueError(
                f"the table of relations has {len(names)} rows that are not, in this order, each direction and half of "
                f"its {len(relations)} relations"
            )
        totals = _numbers(table["total"]).reshape(_shape(len(relations)))
        hits, offset_hits = (
            _lists(table, name, size=size).reshape(_shape(len(relations), size))
            for name, size in (("hits", heads), ("offset_hits", len(OFFSETS)))
        )
        if any(((found_hits < 0) | (found_hits > totals[..., None])).any() for found_hits in (hits, offset_hits)):
            raise ValueError("the table of relations counts more governors found than there are, or fewer than none")
        return cls(relations, totals, hits, offset_hits)

    @property
    def _parts(self) -> tuple[Counts, Counts, Counts]:
        return self.totals, self.hits, self.offset_hits


def _shape(relations: int, *last: int) -> tuple[int, ...]:
    return (relations, len(DIRECTIONS), len(HALVES), *last)


def _rows(relations: Sequence[str]) -> list[tuple[str, str, str]]:
    return list(product(relations, DIRECTIONS, HALVES))


def _numbers(column: pa.ChunkedArray) -> Counts:
    numbers: Counts = column.combine_chunks().to_numpy(zero_copy_only=False)
    return numbers


def _lists(table: pa.Table, name: str, *, size: int) -> Counts:
    """Read a column of lists that are all `size` long: [rows * size]."""
    lists = table[name].combine_chunks()
    lengths = set(lists.value_lengths().to_pylist())
    if lengths - {size}:
        raise ValueError(f"{name} of the table of relations has lists of {sorted(lengths)[:4]} counts, not of {size}")
    flat = lists.flatten()
    if flat.null_count:
        raise ValueError(f"{name} of the table of relations has empty cells")
    return _numbers(pa.chunked_array([flat], pa.int64()))


class RelationCounter:
    """Counts the relations of sentences, one batch and one attention call after the other.

    A batch is seen once by `see_sentences`, and by `see` once for each of the model's calls.
    """

    def __init__(self, heads: int) -> None:
        """Begin to count for a model of N heads."""
        self._places: dict[str, int] = {}  # of the relations, in the order in which they came
        self._totals, self._hits, self._offset_hits = RelationCounts.none(heads)._parts
        self._given: dict[tuple[int, int], dict[int, NDArray[np.float32]]] = {}  # by relation and direction, and text

    def see_sentences(self, sentences: Sequence[PlacedWords], ids: Sequence[int], *, causal: bool) -> None:
        """Count a batch's relations and how often each offset finds the governor; ids: of the texts."""
        arcs = self._arcs(sentences, ids)
        last = np.array([sentence.count - 1 for sentence in sentences], np.int64)[arcs.sentences, None]
        guesses = np.clip(arcs.dependents[:, None] + np.array(OFFSETS), 0, last)
        hits = guesses == arcs.governors[:, None]  # [K, OFFSETS]
        for direction, counted in enumerate(arcs.counted(causal=causal)):
            arcs.add(counted, self._totals[:, direction])
            arcs.add(hits & counted[:, None], self._offset_hits[:, direction])

    def see(
        self, weights: Tensor, *, heads: slice, sentences: Sequence[PlacedWords], ids: Sequence[int], causal: bool
    ) -> None:
        """Count how often each head of an attention call finds the governor.

        weights: [B, H, n, n], rows that sum to 1. heads: the places of the H heads among all N. causal: whether a query
        sees no later key. Raises ValueError for weights between other tokens than the sentences'.
        """
        tokens = {len(sentence.units) for sentence in sentences}
        if tokens - {weights.shape[2]} or weights.shape[2] != weights.shape[3] or len(weights) != len(sentences):
            raise ValueError(
                f"weights {list(weights.shape)} are not those of {len(sentences)} sentences of {sorted(tokens)} tokens"
            )
        arcs = self._arcs(sentences, ids)
        if not len(arcs.rows):
            return
        words = _WordMaps.of(sentences, causal=causal, device=weights.device)
        ends = arcs.dependents, arcs.governors
        places, guesses, given = (arcs.sentences, arcs.dependents), [], []
        for head in range(weights.shape[1]):  # one at a time: what is computed on the way stays small
            found = words.strongest(weights[:, head])
            guesses.append(found.units[:, *places])
            given.append([found.between[arcs.sentences, *way] for way in (ends, ends[::-1])])
        for direction, counted in enumerate(arcs.counted(causal=causal)):
            hits = np.stack([of_head[direction] for of_head in guesses], axis=-1) == arcs.governors[:, None]  # [K, H]
            arcs.add(hits & counted[:, None], self._hits[:, direction, :, heads])
            self._give(
                arcs, counted, np.stack([of_head[direction] for of_head in given], axis=-1), ids, heads, direction
            )

    def _give(
        self,
        arcs: _Arcs,
        counted: NDArray[np.bool_],
        given: NDArray[np.float64],
        ids: Sequence[int],
        heads: slice,
        direction: int,
    ) -> None:
        """Keep of each sentence and relation the mean weight [H] between dependents and governors, given [K, H]."""
        joint = np.stack([arcs.sentences[counted], arcs.rows[counted]])
        pairs, pair_of, counts = np.unique(joint, axis=1, return_inverse=True, return_counts=True)
        sums = np.zeros((pairs.shape[1], given.shape[1]))
        np.add.at(sums, pair_of.ravel(), given[counted])
        for (sentence, row), mean in zip(pairs.T.tolist(), sums / counts[:, None], strict=True):
            of_text = self._given.setdefault((row, direction), {})
            if ids[sentence] not in of_text:
                of_text[ids[sentence]] = np.full(self._hits.shape[-1], np.nan, np.float32)
            of_text[ids[sentence]][heads] = mean

    def examples(self) -> pa.Table:
        """Choose, for each relation, direction and head, the sentences in which most weight joins the two words.

        The value is the mean over the relation's occurrences in the sentence: of what the dependent gives its governor,
        and, in the other direction, the governor its dependent. A row as of `statistics.EXAMPLE`, its measure "nsubj
        governor".
        """
        names = {row: name for name, row in self._places.items()}
        parts = [EXAMPLE.empty_table()]
        for row, direction in sorted(self._given, key=lambda key: (names[key[0]], key[1])):
            of_text = self._given[row, direction]
            ids = np.array(sorted(of_text), np.int64)
            values = np.stack([of_text[id] for id in ids.tolist()])  # [texts, N]
            order = np.argsort(-values, axis=0, kind="stable")[:EXAMPLES].T  # [N, rank]; NaN comes last
            heads = np.broadcast_to(np.arange(values.shape[1], dtype=np.int32)[:, None], order.shape)
            chosen = values[order, heads]
            known = ~np.isnan(chosen)
            measure = pa.array([f"{names[row]} {DIRECTIONS[direction]}"] * int(known.sum()), pa.string())
            columns = [measure, pa.array(heads[known]), pa.array(ids[order][known]), pa.array(chosen[known])]
            parts.append(pa.Table.from_arrays(columns, schema=EXAMPLE))
        return pa.concat_tables(parts).combine_chunks()

    def counts(self) -> RelationCounts:
        """Return the counts so far."""
        relations = sorted(self._places)
        order = [self._places[relation] for relation in relations]
        return RelationCounts(tuple(relations), self._totals[order], self._hits[order], self._offset_hits[order])

    def _arcs(self, sentences: Sequence[PlacedWords], ids: Sequence[int]) -> _Arcs:
        """Put the relations of a batch side by side, and make room for new relations."""
        names = [name for sentence in sentences for name in sentence.relations]
        rows = [self._places.setdefault(name, len(self._places)) for name in names]
        if new := len(self._places) - len(self._totals):
            self._totals, self._hits, self._offset_hits = (
                np.concatenate([part, np.zeros((new, *part.shape[1:]), np.int64)])
                for part in (self._totals, self._hits, self._offset_hits)
            )
        sizes = [len(sentence.relations) for sentence in sentences]
        columns = (
            np.repeat(np.arange(len(sentences)), sizes),
            [unit for sentence in sentences for unit in sentence.dependents],
            [unit for sentence in sentences for unit in sentence.governors],
            rows,
            np.repeat(np.array(ids, np.int64) % len(HALVES), sizes),
        )
        return _Arcs(*(np.array(column, np.int64) for column in columns))


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The relations of a batch side by side, each [K]: sentence, units, the relation's row and the sentence's half."""

    sentences: Counts
    dependents: Counts
    governors: Counts
    rows: Counts
    halves: Counts

    def counted(self, *, causal: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which relations count in each direction, [K] each."""
        every = np.ones(len(self.rows), np.bool_)
        return (self.governors < self.dependents, self.governors > self.dependents) if causal else (every, every)

    def add(self, hits: NDArray[np.bool_], counts: Counts) -> None:
        """Add what was found, [K, ...], to the counts [R, halves, ...] of its relation and half."""
        np.add.at(counts, (self.rows, self.halves), hits)


@dataclass(frozen=True, eq=False)
class _Guesses:
    """One head's guesses [2, B, U], of each row and of each column, and the weights between units, [B, U, U]."""

    units: Counts
    between: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _WordMaps:
    """Sums attention between tokens to attention between the units of each sentence, padded to the longest.

    members: float64 [B, U, n], 1 where a token belongs to a unit. candidates: [B, U, U], True where a unit can be the
    governor's guess of another, or the other its.
    """

    members: Tensor
    candidates: Tensor

    @classmethod
    def of(cls, sentences: Sequence[PlacedWords], *, causal: bool, device: torch.device) -> _WordMaps:
        units = torch.tensor([sentence.units for sentence in sentences], device=device)
        numbers = torch.arange(max(sentence.count for sentence in sentences), device=device)
        members = units[:, None] == numbers[:, None]
        there = members.any(dim=-1)
        others = numbers[:, None] > numbers if causal else numbers[:, None] != numbers
        return cls(members.double(), there[:, :, None] & there[:, None] & others)

    def strongest(self, weights: Tensor) -> _Guesses:
        """Find the strongest other unit of each row and of each column of one head's maps [B, n, n].

        The first of equals wins, as torch.argmax has it. Float64 adds up float32 weights without rounding, but for
        those 1e-8 times smaller than others, so equal words stay equal.
        """
        sums = self.members @ weights.double() @ self.members.transpose(1, 2)
        between = sums / self.members.sum(dim=-1, keepdim=True).clamp_min(1)
        between = between.masked_fill(~self.candidates, -1.0)
        return _Guesses(
            torch.stack([between.argmax(dim=-1), between.argmax(dim=-2)]).cpu().numpy(), between.cpu().numpy()
        )
