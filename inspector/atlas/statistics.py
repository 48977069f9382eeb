"""Statistics of every head that can be added up: counts, sums, histograms, strongest texts, a sample of all texts.

Blocks are added in their order, in float64, so the result does not depend on who measured them when.

Shapes: M measures, N heads, B texts of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inspector.atlas.measures import BINS, MEASURES, NAMES

Float64Array = NDArray[np.float64]

EXAMPLES = 6  # strongest texts of each head and measure
PAIRS = 12  # strongest pairs of tokens of each head, each of another text
SAMPLE = 128  # texts drawn from all, the same for every head
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
        if table["measure"].to_pylist() != [name for name in NAMES for _ in range(heads)]:
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


def strongest(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Merge the examples, or the pairs, of blocks, and keep the strongest of each head; the smaller id of equals."""
    by, most = ("value", EXAMPLES) if schema == EXAMPLE else ("weight", PAIRS)
    strongest_rows: pa.Table = schema.empty_table()
    groups = [name for name in ("measure", "head") if name in schema.names]
    for table in tables:
        frame = pa.concat_tables([strongest_rows, table]).to_pandas()
        ordered = frame.sort_values([by, "text"], ascending=[False, True], kind="stable")
        chosen = ordered.groupby(groups, sort=False).head(most)
        strongest_rows = pa.Table.from_pandas(chosen, schema=schema, preserve_index=False)
    names = [*groups, by, "text"]
    last = strongest_rows.to_pandas()
    if groups[0] == "measure":
        last["measure"] = last["measure"].map(NAMES.index)
    last = last.sort_values(names, ascending=[*(True for _ in groups), False, True], kind="stable")
    if groups[0] == "measure":
        last["measure"] = last["measure"].map(NAMES.__getitem__)
    return pa.Table.from_pandas(last, schema=schema, preserve_index=False).replace_schema_metadata(None)


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


def sampled(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw at most SAMPLE of the ids, all alike: the ids with the smallest hash (bottom-k sampling), which merges."""
    order = np.lexsort((ids, _hashes(ids)))
    drawn: NDArray[np.int64] = np.sort(ids[order[:SAMPLE]])
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
