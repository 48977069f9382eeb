"""Statistics of every head that can be added up: counts, sums, histograms, strongest texts, a sample of all texts.

Blocks are added in their order, in float64, so the result does not depend on who measured them when.

Shapes: M measures, N heads, B texts of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inspector.atlas.measures import BINS, MEASURES, NAMES

Float64Array = NDArray[np.float64]

EXAMPLES = 6  # strongest texts of each head and measure
PAIRS = 12  # strongest pairs of tokens of each head, each of another text
SAMPLE = 128  # texts drawn from all, the same for every head
CANDIDATES = 8 * SAMPLE
_AT_ONCE = 2**20  # ids
_MOST_WAITING = 50_000  # examples that are held until the strongest are chosen
_MOST_NAMES = 10_000  # measures and relations that have examples
WITH_EXAMPLES = tuple(measure.name for measure in MEASURES if measure.group == "head")
"""The measures whose strongest texts are kept."""

_SUMS = ("sum", "squares", "tokens", "token_squares", "products")
STATISTICS = pa.schema(
    [
        ("measure", pa.string()),
        ("head", pa.int32()),
        ("count", pa.int64()),
        *((name, pa.float64()) for name in _SUMS),
        ("smallest", pa.float64()),
        ("largest", pa.float64()),
        ("histogram", pa.list_(pa.int64(), BINS)),
    ]
)
EXAMPLE = pa.schema([("measure", pa.string()), ("head", pa.int32()), ("text", pa.int64()), ("value", pa.float32())])
PAIR = pa.schema(
    [
        ("head", pa.int32()),
        ("text", pa.int64()),
        ("query", pa.int32()),
        ("key", pa.int32()),
        ("weight", pa.float32()),
    ]
)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums over texts, each [M, N]; texts in which a measure is NaN do not count.

    count: texts. sum, squares: of the measure. tokens, token_squares: of the texts' lengths in tokens; products: of
    length and measure. smallest, largest: infinite where nothing counts. histogram: [M, N, BINS], of `Measure.edges`.
    """

    count: NDArray[np.int64]
    sum: Float64Array
    squares: Float64Array
    tokens: Float64Array
    token_squares: Float64Array
    products: Float64Array
    smallest: Float64Array
    largest: Float64Array
    histogram: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: NDArray[np.float32], tokens: NDArray[np.int32]) -> Statistics:
        """Add up the texts of a block: numbers [B, N, M], tokens [B], the length of each text."""
        x = numbers.astype(np.float64).transpose(2, 1, 0)  # [M, N, B]
        known = ~np.isnan(x)
        value, length = np.where(known, x, 0.0), np.where(known, tokens.astype(np.float64), 0.0)
        histogram = np.zeros((*x.shape[:2], BINS), np.int64)
        heads = np.broadcast_to(np.arange(x.shape[1])[:, None], x.shape[1:])
        for number, measure in enumerate(MEASURES):
            bins = np.clip(np.searchsorted(measure.edges, value[number], side="right") - 1, 0, BINS - 1)
            np.add.at(histogram[number], (heads[known[number]], bins[known[number]]), 1)
        return cls(
            count=known.sum(axis=-1),
            sum=value.sum(axis=-1),
            squares=(value**2).sum(axis=-1),
            tokens=length.sum(axis=-1),
            token_squares=(length**2).sum(axis=-1),
            products=(length * value).sum(axis=-1),
            smallest=np.where(known, x, np.inf).min(axis=-1, initial=np.inf),
            largest=np.where(known, x, -np.inf).max(axis=-1, initial=-np.inf),
            histogram=histogram,
        )

    def added(self, other: Statistics) -> Statistics:
        """Add the texts of another block."""
        sums = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
            if field.name not in ("smallest", "largest")
        }
        return Statistics(
            **sums,
            smallest=np.minimum(self.smallest, other.smallest),
            largest=np.maximum(self.largest, other.largest),
        )

    @property
    def mean(self) -> Float64Array:
        """The mean over texts, [M, N]; NaN where nothing counts."""
        return _divided(self.sum, self.count)

    @property
    def deviation(self) -> Float64Array:
        """The standard deviation over texts, [M, N]; NaN where nothing counts."""
        variance: Float64Array = np.maximum(_divided(self.squares, self.count) - self.mean**2, 0.0)
        return np.sqrt(variance)

    @property
    def correlation(self) -> Float64Array:
        """Pearson's correlation of the measure with the text's length in tokens, [M, N]; NaN without spread."""
        lengths = _divided(self.tokens, self.count)
        together = _divided(self.products, self.count) - self.mean * lengths
        spread = np.maximum(_divided(self.token_squares, self.count) - lengths**2, 0.0)
        # A spread that rounding alone makes is none.
        flat = (spread < 1e-12 * np.maximum(lengths**2, 1)) | (self.deviation**2 < 1e-12 * np.maximum(self.mean**2, 1))
        product = np.sqrt(spread) * self.deviation
        return np.where(flat, np.nan, together / np.where(flat, 1.0, product))

    def table(self) -> pa.Table:
        """One row per measure and head."""
        measures, heads = self.count.shape
        columns = {
            "measure": np.repeat(NAMES, heads),
            "head": np.tile(np.arange(heads, dtype=np.int32), measures),
            **{name: getattr(self, name).ravel() for name in ("count", *_SUMS, "smallest", "largest")},
        }
        arrays = [pa.array(columns[name], STATISTICS.field(name).type) for name in columns]
        bins = pa.FixedSizeListArray.from_arrays(pa.array(self.histogram.ravel(), pa.int64()), BINS)
        return pa.Table.from_arrays([*arrays, bins], schema=STATISTICS)

    @classmethod
    def from_table(cls, table: pa.Table, *, heads: int) -> Statistics:
        """Read what `table` wrote; ValueError where it is not a row for every measure and head, in their order."""
        shape = len(NAMES), heads
        if table.num_rows != shape[0] * shape[1]:
            raise ValueError(f"statistics of {table.num_rows:,} rows do not fit {shape[0]} measures of {heads:,} heads")
        if not table["measure"].combine_chunks().equals(pa.array(np.repeat(NAMES, heads), pa.string())):
            raise ValueError("statistics of other measures than this Headlight's")
        columns = {name: table[name].to_numpy().reshape(shape) for name in ("count", *_SUMS, "smallest", "largest")}
        histogram = table["histogram"].combine_chunks().flatten().to_numpy().reshape(*shape, BINS)
        return cls(**columns, histogram=histogram)


def _divided(sums: Float64Array, count: NDArray[np.int64]) -> Float64Array:
    quotient: Float64Array = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    return quotient


def examples(numbers: NDArray[np.float32], ids: NDArray[np.int64]) -> pa.Table:
    """Choose the strongest texts of a block for each head and measure: numbers [B, N, M], ids [B]."""
    rows = []
    for name in WITH_EXAMPLES:
        values = numbers[:, :, NAMES.index(name)]  # [B, N]
        for head in range(values.shape[1]):
            order = np.lexsort((ids, -values[:, head]))[:EXAMPLES]  # NaN comes last
            rows += [(name, head, ids[at], values[at, head]) for at in order if not np.isnan(values[at, head])]
    return _table(rows, EXAMPLE)


class Strongest:
    """The strongest examples, or pairs, of each head as far as tables were added; the smaller id of equals.

    The order in which tables are added changes nothing. schema: EXAMPLE or PAIR. An example is of a measure, or of a
    relation in a direction, "nsubj governor".
    """

    def __init__(self, schema: pa.Schema, *, heads: int) -> None:
        self._schema, self._heads = schema, heads
        self._by, self._most = ("value", EXAMPLES) if schema == EXAMPLE else ("weight", PAIRS)
        self._places = {name: place for place, name in enumerate(NAMES)} if "measure" in schema.names else {"": 0}
        self._weakest = np.zeros(0, np.float32)  # of each group that is full: what comes must be as strong
        self._held = schema.empty_table()
        self._groups = np.zeros(0, np.int64)
        self._came: list[tuple[pa.Table, NDArray[np.int64]]] = []

    def add(self, table: pa.Table) -> None:
        """Add a block's table; ValueError where it is of other measures or heads."""
        groups = self._group(table)
        new = np.full(len(self._places) * self._heads - len(self._weakest), -np.inf, np.float32)
        self._weakest = np.concatenate([self._weakest, new])
        strong = table[self._by].to_numpy() >= self._weakest[groups]
        self._came.append((table.filter(pa.array(strong)), groups[strong]))
        if sum(len(groups) for _, groups in self._came) > _MOST_WAITING:
            self._choose()

    def table(self) -> pa.Table:
        """The strongest so far, by measure and head, strongest first; behind the measures relations by their names."""
        self._choose()
        others = sorted(self._places.keys() - set(NAMES))
        final = {name: place for place, name in enumerate([*(name for name in NAMES if name in self._places), *others])}
        order = np.array([final[name] for name in self._places])[self._groups // self._heads]
        sorted_rows = self._held.take(pa.array(np.argsort(order, kind="stable")))
        return sorted_rows.combine_chunks().replace_schema_metadata(None)

    def _group(self, table: pa.Table) -> NDArray[np.int64]:
        heads = table["head"].to_numpy().astype(np.int64)
        if "measure" in table.schema.names:
            for name in pc.unique(table["measure"]).to_pylist():
                if name not in self._places and (name is None or " " not in name or len(self._places) > _MOST_NAMES):
                    raise ValueError("examples of other measures than this Headlight's")
                self._places.setdefault(name, len(self._places))
            places = pc.index_in(table["measure"], pa.array(list(self._places))).to_numpy()
            groups: NDArray[np.int64] = places.astype(np.int64) * self._heads + heads
        else:
            groups = heads
        if ((heads < 0) | (heads >= self._heads)).any():
            raise ValueError(f"examples of other heads than the {self._heads:,} of this model")
        return groups

    def _choose(self) -> None:
        every = pa.concat_tables([self._held, *(table for table, _ in self._came)])
        groups = np.concatenate([self._groups, *(groups for _, groups in self._came)])
        values, texts = every[self._by].to_numpy(), every["text"].to_numpy()
        order = np.lexsort((texts, -values, groups))
        ordered = groups[order]
        begins = np.searchsorted(ordered, ordered)  # of each row the first of its group
        rank = np.arange(len(order)) - begins
        order, last = order[rank < self._most], order[rank == self._most - 1]
        self._weakest[groups[last]] = values[last]
        self._held, self._groups, self._came = every.take(pa.array(order)), groups[order], []


def pairs(candidates: Mapping[str, NDArray[np.int32] | NDArray[np.float32]], ids: NDArray[np.int64]) -> pa.Table:
    """Choose each head's strongest pairs of a block: "query", "key" and "weight", each [B, N]."""
    rows = []
    weights = candidates["weight"]
    for head in range(weights.shape[1]):
        order = np.lexsort((ids, -weights[:, head]))[:PAIRS]
        rows += [
            (head, ids[at], candidates["query"][at, head], candidates["key"][at, head], weights[at, head])
            for at in order
            if not np.isnan(weights[at, head])
        ]
    return _table(rows, PAIR)


def sampled(ids: NDArray[np.int64], *, most: int = SAMPLE) -> NDArray[np.int64]:
    """Draw at most so many of the ids, all alike: those with the smallest hash (bottom-k sampling), which merges."""
    order = np.lexsort((ids, _hashes(ids)))
    drawn: NDArray[np.int64] = np.sort(ids[order[:most]])
    return drawn


@lru_cache(maxsize=2)
def candidates(texts: int) -> NDArray[np.int64]:
    """Find the ids of a plan's texts among which the sample is drawn where only candidates are kept.

    The sample is that of all texts as long as an eighth of the candidates has something to read.
    """
    drawn = np.zeros(0, np.int64)
    for first in range(0, texts, _AT_ONCE):
        ids = np.arange(first, min(texts, first + _AT_ONCE), dtype=np.int64)
        drawn = sampled(np.concatenate([drawn, ids]), most=CANDIDATES)
    return drawn


def _hashes(ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Mix the bits of each id (splitmix64, Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        x = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
