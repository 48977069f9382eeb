"""Measures each head on a text by numbers with a published definition, and chooses the head to open first.

A[i, j] is the weight from query i to key j; every row sums to 1, or to less with sinks. Where a sigmoid makes the
weights, A is each row divided by its sum (`WeightBlock.shares`), so that every measure keeps its meaning. The maps are
read block by block of query rows and never held together. Sums are taken in float64, but for the terms of a row's
entropy: float32, right to 1e-6.

Shapes: H heads, Q query positions, T key positions; n tokens in a text that attends to itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.information import entropy

if TYPE_CHECKING:  # maps alone can be measured without torch, which a trace needs
    from inspector.trace import AttentionSite, Trace, WeightBlock

Float64Array = NDArray[np.float64]
_Classes = NDArray[np.int32]

_NO_CLASS = -1  # of a token that has no targets
START_TOKENS = ("[CLS]", "<s>")
END_TOKENS = ("[SEP]", "</s>")

_MEANS = ("entropy", "distance", "self", "first", "cls", "sep", "punctuation", "confidence")
"""The measures that are means over every query; relative_entropy follows from entropy."""
_NEIGHBOURS = ("previous", "next")

# Thresholds of Clark et al. 2019, figure 6; self, first, induction and word are held to those of their like.
BROAD_ENTROPY = 3.8  # nats
BROAD_RELATIVE_ENTROPY = 0.8  # for short texts: below 45 tokens no entropy can reach 3.8
OFFSET_SHARE = 0.5
SPECIAL_SHARE = 0.6


def measure(trace: Trace, *, on_band: Callable[[AttentionSite, WeightBlock], None] | None = None) -> pd.DataFrame:
    """Measure every head of a trace: a row per stream, layer and head; each measure is a mean over the queries.

    Where a layer attends more than once (ALBERT with inner_group_num=2) the table has a row per call and a column
    "call"; tables of other models have no such column.

    on_band: called with each block of weights once the block is measured, for other readers of all weights: computing
    weights takes longer than looking at them. An exception in on_band ends the measuring.

    Between two texts (stream "cross") distance, self, previous, next, induction, duplicate and word mean nothing and
    are NaN.

    entropy: -sum_j A ln A, nats, 0 (one key) .. ln T (all alike) (Clark et al. 2019, figure 4).
    relative_entropy: entropy / ln T, 0..1; 0 for a text of one token.
    distance: sum_j A |i - j|, tokens, 0 .. n - 1 (Vig & Belinkov 2019).
    self, previous, next: weight on the key at i, i - 1, i + 1, share 0..1 (Clark et al. 2019, section 3.1): the mean
        over the queries that can see such a key. The first query has no previous key, the last has no next one, and a
        decoder sees no next key at all; NaN where no query has such a key.
    first: weight on the first key, share 0..1 (the sink of Xiao et al. 2023).
    cls, sep: weight on all [CLS] or [SEP] tokens (<s> or </s> where a model calls them so), share 0..1 (Clark et al.
        2019, section 3.2); NaN where the text has none.
    punctuation: weight on all tokens of punctuation alone, share 0..1 (Clark et al. 2019, section 3.2, of periods and
        commas); NaN where the text has none.
    confidence: max_j A, share 0..1 (Voita et al. 2019, section 4). The end token is no candidate either: where the
        last key is an end token, its column is left out. Nothing is normalised again, and every query counts, the end
        token's own too. NaN where that leaves no key.
    information: what the query tells about the key, nats, 0 (every query looks at the same keys) .. ln n (each at one
        of its own): the entropy of the mean row less the mean entropy of the rows, which is the Jensen-Shannon
        divergence of all rows (Lin 1991, section 5).
    induction: weight on the keys whose token before is the query's own token at another place, share 0..1 (Olsson et
        al. 2022), mean over the queries that have such keys; NaN where the text repeats no token. Tokens that the
        tokenizer does not know are left out: they look alike and may stand for different words.
    duplicate: weight on the same token at other places, share 0..1 (Wang et al. 2023), mean over the
        queries that have such keys; NaN where the text repeats no token. Unknown tokens are left out here too.
    word: weight on the other pieces of the query's own word, share 0..1, mean over the pieces of words of several; NaN
        where there are none.
    """
    if not trace.sites:
        raise ValueError(f"{trace.model} has no softmax attention to measure; its maps are those of trace.mixers")
    tables = []
    for site in trace.sites:
        read = trace.read_by(site.stream)
        target_keys = {} if site.stream == "cross" else targets(site.keys, read.words, known=read.known)
        causal = site.predicts is not None and site.stream != "cross"
        blocks = _blocks(trace, site, on_band)
        table = pd.DataFrame(_measure(blocks, keys=site.keys, targets=target_keys, causal=causal))
        if site.stream == "cross":
            table[["distance", "self", "previous", "next"]] = np.nan
        table.insert(0, "stream", site.stream)
        table.insert(1, "layer", site.layer)
        table.insert(2, "head", range(site.heads))
        tables.append(with_call(table, site, trace.sites))
    return pd.concat(tables, ignore_index=True)


def with_call(table: pd.DataFrame, site: AttentionSite, sites: Iterable[AttentionSite]) -> pd.DataFrame:
    """Return a table of one attention's heads, with a column "call" behind "layer" where any of `sites` needs it."""
    if any(other.call for other in sites):
        table.insert(table.columns.get_loc("layer") + 1, "call", site.call)
    return table


def measure_maps(
    blocks: Iterable[tuple[slice, NDArray[np.float32]]],
    *,
    keys: Sequence[str],
    words: Sequence[int | None] | None = None,
    causal: bool = False,
) -> dict[str, NDArray[np.float64]]:
    """Compute the measures of `measure` for the heads of one layer: blocks (rows, weights [H, rows, T]) -> name: [H].

    words: for each token its word, None for special tokens; without words, what rests on them is NaN. causal: whether
    queries see earlier keys alone, so that a token that comes again later counts for nothing.
    """
    with_all_keys = (_AllKeys(rows, slice(0, len(keys)), weights) for rows, weights in blocks)
    return _measure(with_all_keys, keys=keys, targets={} if words is None else targets(keys, words), causal=causal)


def targets(
    tokens: Sequence[str], words: Sequence[int | None], *, known: Sequence[bool] | None = None
) -> dict[str, TargetKeys]:
    """Find the keys of the measures that follow from repeated tokens and from words: induction, duplicate and word."""
    return {
        "induction": induction_targets(tokens, words, known=known),
        "duplicate": same_token_targets(tokens, words, known=known),
        "word": same_word_targets(words),
    }


class _Block(Protocol):
    """The part of a WeightBlock that is measured: the shares [H, queries, keys] between some queries and keys."""

    @property
    def queries(self) -> slice: ...
    @property
    def keys(self) -> slice: ...
    @property
    def shares(self) -> NDArray[np.float32]: ...


class _AllKeys(NamedTuple):
    queries: slice
    keys: slice
    shares: NDArray[np.float32]


def _blocks(
    trace: Trace, site: AttentionSite, on_band: Callable[[AttentionSite, WeightBlock], None] | None
) -> Iterator[WeightBlock]:
    for block in trace.bands(layer=site.layer, stream=site.stream, call=site.call):
        yield block
        if on_band is not None:
            on_band(site, block)


def _measure(
    blocks: Iterable[_Block], *, keys: Sequence[str], targets: Mapping[str, TargetKeys], causal: bool
) -> dict[str, NDArray[np.float64]]:
    candidates = len(keys) - 1 if keys[-1] in END_TOKENS else len(keys)  # of `confidence`
    entropies, likely, masses, received = np.zeros(()), np.zeros(()), np.zeros(()), np.zeros(())
    queries = 0
    for block in blocks:
        weights = block.shares
        to_keys = np.zeros((len(weights), len(keys)))
        exact = weights.astype(np.float64)
        to_keys[:, block.keys] = exact.sum(axis=1)
        received = received + to_keys
        # One head at a time: what is computed on the way stays small.
        entropies = entropies + np.array([entropy(head).sum(dtype=np.float64) for head in weights])
        most = weights[:, :, : max(0, candidates - block.keys.start)].max(axis=-1, initial=0.0)
        likely = likely + most.sum(axis=-1, dtype=np.float64)
        masses = masses + _masses(exact, _patterns(block.queries, block.keys, targets.values()))
        queries += weights.shape[1]
    mean_entropy, mean_row = entropies / queries, received / queries  # [H], [H, T]
    none = np.full_like(mean_entropy, np.nan)
    with_previous, with_next = queries - 1, 0 if causal else min(queries, len(keys) - 1)
    shares = dict.fromkeys(("induction", "duplicate", "word"), none)
    for name, mass in zip(targets, masses[4:], strict=True):
        count = targets[name].queries(causal=causal)
        shares[name] = mass / count if count else none
    return {
        "entropy": mean_entropy,
        "relative_entropy": mean_entropy / np.log(len(keys)) if len(keys) > 1 else np.zeros_like(mean_entropy),
        "distance": masses[0] / queries,
        "self": masses[1] / queries,
        "previous": masses[2] / with_previous if with_previous else none,
        "next": masses[3] / with_next if with_next else none,
        "first": mean_row[:, 0],
        "cls": _share(mean_row, keys, START_TOKENS.__contains__),
        "sep": _share(mean_row, keys, END_TOKENS.__contains__),
        "punctuation": _share(mean_row, keys, is_punctuation),
        "confidence": likely / queries if candidates else none,
        "information": np.maximum(entropy(mean_row) - mean_entropy, 0.0),  # only rounding takes it below 0
        **shares,
    }


def with_choice(measures: pd.DataFrame, trace: Trace) -> pd.DataFrame:
    """Return the measures as means over the queries that see more than one key.

    A query that sees one key gives it everything, which says nothing about the head: the only token of a text, and in
    a decoder the first. Where no query has a choice, every measure is NaN. Means over other queries than all
    (previous, next, induction, duplicate, word) and the information stay as they are.
    """
    means = measures[list(_MEANS)].to_numpy(np.float64, copy=True)  # [heads of all sites, measure]
    calls = measures.get("call", 0)
    widths, alone = np.ones(len(measures)), np.zeros(len(measures), np.bool_)
    for site in trace.sites:
        of_site = (measures["stream"] == site.stream) & (measures["layer"] == site.layer) & (calls == site.call)
        place, queries = of_site.to_numpy(), len(site.queries)
        widths[place] = len(site.keys)
        if len(site.keys) == 1 or site.window == 1:
            means[place], alone[place] = np.nan, True
            continue
        row = _first_row(trace, site)
        if row is None or row[:, :, 1:].any():
            continue
        first = _measure(
            [_AllKeys(slice(0, 1), slice(0, len(site.keys)), row)], keys=site.keys, targets={}, causal=True
        )
        others = (means[place] * queries - np.column_stack([first[name] for name in _MEANS])) / (queries - 1)
        means[place] = np.maximum(others, 0.0)  # only rounding takes it below 0
    chosen = measures.copy()
    chosen[list(_MEANS)] = means
    chosen.loc[alone, list(_NEIGHBOURS)] = np.nan
    return chosen.assign(relative_entropy=chosen["entropy"] / np.log(np.maximum(widths, 2)))


def first_query_is_alone(trace: Trace, site: AttentionSite) -> bool:
    """Return True in a decoder whose first query sees itself alone, while others see more."""
    row = _first_row(trace, site)
    return row is not None and not row[:, :, 1:].any()


def _first_row(trace: Trace, site: AttentionSite) -> NDArray[np.float32] | None:
    """Compute the first query's weights in a decoder that reads itself: [H, 1, T]; None elsewhere."""
    if site.stream == "cross" or site.predicts is None or len(site.keys) == 1:
        return None
    block = next(trace.bands(layer=site.layer, stream=site.stream, call=site.call))
    row = np.zeros((site.heads, 1, len(site.keys)), np.float32)
    row[:, :, block.keys] = block.shares[:, :1]
    return row


def label(measures: pd.DataFrame) -> pd.Series[str]:
    """Name what each head mostly does, after Clark et al. 2019, figure 6; "other" where nothing stands out.

    "[SEP]", "[CLS]", "first": more than 0.6 of the weight goes there; "previous", "next", "self": more than 0.5;
    "broad": entropy above 3.8 nats or, as short texts cannot have that, above 0.8 of the most that their length allows;
    "induction", "same word": more than 0.5 goes there, from the tokens that have such keys. Where two hold (in texts of
    a few tokens) the one named first here wins.
    """
    conditions = {
        "[SEP]": measures["sep"] > SPECIAL_SHARE,
        "[CLS]": measures["cls"] > SPECIAL_SHARE,
        "first": measures["first"] > SPECIAL_SHARE,
        "previous": measures["previous"] > OFFSET_SHARE,
        "next": measures["next"] > OFFSET_SHARE,
        "self": measures["self"] > OFFSET_SHARE,
        "broad": (measures["entropy"] > BROAD_ENTROPY) | (measures["relative_entropy"] > BROAD_RELATIVE_ENTROPY),
        "induction": measures["induction"] > OFFSET_SHARE,
        "same word": measures["word"] > OFFSET_SHARE,
    }
    labels = np.select(list(conditions.values()), list(conditions), default="other")
    return pd.Series(labels, index=measures.index, name="label")


def most_telling(measures: pd.DataFrame) -> tuple[int, int]:
    """Choose the head to open first, (layer, head): about the words of the text, and different from word to word.

    The head has the largest content share x information, where the content share is the weight on other keys than
    [CLS], [SEP], the query itself and its two neighbours. The first of equal heads wins; only the first stream counts,
    and only the first attention of a layer that attends more than once.
    """
    stream = measures[measures["stream"] == measures["stream"].iloc[0]]
    stream = stream[stream["call"] == 0] if "call" in stream else stream
    # In a text of a few tokens a neighbour can be [CLS] too: counted twice, the rest may fall below 0.
    content = (1 - stream[["cls", "sep", "self", "previous", "next"]].sum(axis=1)).clip(lower=0)
    best = stream.loc[(content * stream["information"]).idxmax()]
    return int(best["layer"]), int(best["head"])


def _patterns(queries: slice, keys: slice, targets: Iterable[TargetKeys]) -> Float64Array:
    """Factors that a block of weights is summed with: distance, self, previous, next, targets: [P, queries, keys]."""
    ahead = np.arange(keys.start, keys.stop) - np.arange(queries.start, queries.stop)[:, None]
    to_targets = [target.pairs(queries, keys) for target in targets]
    return np.stack([np.abs(ahead), ahead == 0, ahead == -1, ahead == 1, *to_targets], dtype=np.float64)


def _masses(block: Float64Array, patterns: Float64Array) -> Float64Array:
    """sum_ij A[i, j] P[i, j] of each head and pattern: [H, rows, keys] and [P, rows, keys] -> [P, H]."""
    by_row = block.transpose(1, 0, 2) @ patterns.transpose(1, 2, 0)  # [rows, H, P]
    masses: Float64Array = by_row.sum(axis=0).T
    return masses


def is_punctuation(token: str) -> bool:
    """Return True for a token of punctuation alone; the mark of a space before it does not count."""
    written = token.lstrip("▁Ġ").removeprefix("##")
    return bool(written) and all(unicodedata.category(letter).startswith("P") for letter in written)


def _share(mean_row: Float64Array, keys: Sequence[str], belongs: Callable[[str], bool]) -> Float64Array:
    """Add up the weight on all keys that belong: [H, T] -> [H], NaN where the text has none."""
    columns = [position for position, key in enumerate(keys) if belongs(key)]
    share: Float64Array = mean_row[:, columns].sum(axis=1) if columns else np.full(len(mean_row), np.nan)
    return share


# --- targets that follow from repeated tokens and words --------------------------------------------------------------


@dataclass(frozen=True)
class TargetKeys:
    """The keys that each query should attend to: every key of its class but the key `offset` after it.

    of_queries, of_keys: int32 [Q] and [T], the class of each; _NO_CLASS has no targets.
    """

    of_queries: _Classes
    of_keys: _Classes
    offset: int

    def queries(self, *, causal: bool) -> int:
        """Count the queries that have a target; causal: a target that was read before the query."""
        classes: list[int] = self.of_keys.tolist()
        places = range(len(classes))
        first = dict(zip(reversed(classes), reversed(places), strict=True))
        last = dict(zip(classes, places, strict=True))

        def belongs(query: int, class_: int) -> bool:
            left_out = query + self.offset
            if causal:
                return first[class_] <= query and first[class_] != left_out
            return first[class_] != left_out or last[class_] != left_out

        own_class = enumerate(self.of_queries.tolist())
        return sum(belongs(query, class_) for query, class_ in own_class if class_ != _NO_CLASS and class_ in first)

    def pairs(self, queries: slice, keys: slice) -> NDArray[np.bool_]:
        """True where a key is a target of a query: [queries, keys]."""
        classes = self.of_queries[queries, None]
        same: NDArray[np.bool_] = (classes == self.of_keys[None, keys]) & (classes != _NO_CLASS)
        rows = np.arange(queries.start, queries.stop)
        left_out = rows + self.offset - keys.start
        there = (left_out >= 0) & (left_out < same.shape[1])
        same[rows[there] - queries.start, left_out[there]] = False
        return same


def induction_targets(
    tokens: Sequence[str], words: Sequence[int | None], *, known: Sequence[bool] | None = None
) -> TargetKeys:
    """Find the keys behind another place of the query's token: the targets of an induction head (Olsson et al. 2022).

    words: for each token its word, None for special tokens, which have no targets. known: whether the tokenizer knows
    each token, by default all; two unknown tokens look alike and may stand for different words, so they repeat
    nothing.
    """
    known = (True,) * len(tokens) if known is None else known
    every = zip(tokens, words, known, strict=True)
    classes = _classes(token if word is not None and is_known else None for token, word, is_known in every)
    return TargetKeys(classes, np.concatenate([[_NO_CLASS], classes[:-1]]).astype(np.int32), offset=1)


def same_token_targets(
    tokens: Sequence[str], words: Sequence[int | None], *, known: Sequence[bool] | None = None
) -> TargetKeys:
    """Find the other places of the query's token; words and known as in `induction_targets`."""
    classes = induction_targets(tokens, words, known=known).of_queries
    return TargetKeys(classes, classes, offset=0)


def same_word_targets(words: Sequence[int | None]) -> TargetKeys:
    """Find the other pieces of the query's word."""
    classes = _classes(words)
    return TargetKeys(classes, classes, offset=0)


def _classes(names: Iterable[Hashable]) -> _Classes:
    """Number the names, equal names alike; _NO_CLASS for None."""
    numbers: dict[Hashable, int] = {None: _NO_CLASS}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
