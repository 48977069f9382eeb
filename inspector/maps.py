"""The arrangement of a map: special tokens hidden, word pieces merged into words.

Both are one operation: choose tokens and put them into groups. A group's attention is the sum over its key tokens and
the mean over its query tokens (Clark et al. 2019, section 4.1), so that rows keep summing to 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np

from inspector.text import ordinals
from inspector.trace import Array, AttentionSite, MixerSite, Trace, WeightBlock
from inspector.trace.pooling import MaxPool
from models.tokenizers import Encoding

WHOLE = 768  # groups: a longer text's map is shown in windows, for a browser holds no more at once
WINDOW = 512  # groups of queries, and of keys, in a window
_PREDICTED = " → "  # between the token that a query reads and the token that it predicts


@dataclass(frozen=True)
class Groups:
    """Tokens put together, in the text's order.

    labels: the name of each group. members: the token positions behind each.
    """

    labels: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError("nothing is left to show: every token is special; show special tokens again")

    def mean(self, rows: np.ndarray) -> np.ndarray:
        """The mean of each group's rows: [tokens, ...] -> float64 [groups, ...]."""
        sums: np.ndarray = np.add.reduceat(rows[self.positions].astype(np.float64), self.starts, axis=0)
        means: np.ndarray = sums / self.sizes.reshape(-1, *[1] * (rows.ndim - 1))
        return means

    def containing(self, position: int | None) -> int | None:
        """The index of the group that has the token at `position`; None where it is hidden."""
        return next((index for index, group in enumerate(self.members) if position in group), None)

    @property
    def ordinals(self) -> tuple[int, ...]:
        """The number of each group among its like, from 1, by the token that it reads; 0 where it stands once."""
        return ordinals(self.read)

    @property
    def read(self) -> list[str]:
        """The labels without the tokens that a decoder predicts: what each group reads."""
        return [label.partition(_PREDICTED)[0] for label in self.labels]

    @property
    def positions(self) -> np.ndarray:
        """The tokens of all groups, one after the other."""
        return np.fromiter(chain.from_iterable(self.members), np.intp)

    @property
    def sizes(self) -> np.ndarray:
        """The number of tokens in each group."""
        return np.array([len(group) for group in self.members])

    @property
    def starts(self) -> np.ndarray:
        """The index in `positions` at which each group begins."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])


@dataclass(frozen=True)
class Arrangement:
    """The groups of queries and keys; renormalise: rows are divided by their sum after tokens were left out."""

    queries: Groups
    keys: Groups
    renormalise: bool = False

    @property
    def is_long(self) -> bool:
        """True if a map is too large to be shown whole."""
        return max(len(self.queries.members), len(self.keys.members)) > WHOLE

    def is_plain(self, site: AttentionSite | MixerSite) -> bool:
        """Return True if every token of an attention, or of another mixer, is shown, each in a group of one."""
        sides = ((self.queries, site.queries), (self.keys, site.keys))
        alone = all(side.members == tuple((token,) for token in range(len(tokens))) for side, tokens in sides)
        return alone and not self.renormalise

    def begin(self, count: int) -> Arrangement:
        """The first `count` queries and keys alone."""
        queries, keys = (Groups(side.labels[:count], side.members[:count]) for side in (self.queries, self.keys))
        return Arrangement(queries, keys, self.renormalise)

    def apply(self, weights: Array) -> Array:
        """Attention between the groups: [..., Q, T] between tokens -> [..., query groups, key groups]."""
        return self.of_rows(weights, self.queries, first=0)

    def blocks(self, blocks: Iterable[tuple[slice, Array]]) -> Iterator[tuple[slice, Array]]:
        """`apply` in blocks of query rows: (rows, [..., rows, T]) -> (query groups, [..., groups, key groups]).

        A group comes as soon as all its tokens were there; the rows of one that goes on in the next block wait.
        """
        ends = [group[-1] + 1 for group in self.queries.members]
        done, waiting = 0, None
        for rows, block in blocks:
            held = block if waiting is None else np.concatenate([waiting, block], axis=-2)
            first = rows.stop - held.shape[-2]
            ready = bisect_right(ends, rows.stop)
            if ready > done:
                groups = Groups(self.queries.labels[done:ready], self.queries.members[done:ready])
                yield slice(done, ready), self.of_rows(held, groups, first=first)
            begun = ready < len(ends) and self.queries.members[ready][0] < rows.stop
            waiting = held[..., self.queries.members[ready][0] - first :, :] if begun else None
            done = ready

    def of_rows(self, weights: Array, queries: Groups, *, first: int) -> Array:
        """`apply` to some groups of queries: weights [..., rows, T], the first row that of the query `first`."""
        between = weights[..., queries.positions[:, None] - first, self.keys.positions]
        alone = between.shape[-2:] == (len(queries.members), len(self.keys.members))
        if alone and not self.renormalise and between.dtype == np.float32:
            single: Array = between  # the sums and means below would give the same numbers
            return single
        sums = np.add.reduceat(between, self.keys.starts, axis=-1)
        grouped = np.add.reduceat(sums, queries.starts, axis=-2) / queries.sizes[:, None]
        if self.renormalise:
            mass = grouped.sum(axis=-1, keepdims=True)
            grouped = np.divide(grouped, mass, out=np.zeros_like(grouped), where=mass > 0)
        shown: Array = grouped.astype(np.float32)
        return shown


def arrange(
    trace: Trace,
    *,
    stream: str | None = None,
    hide_special: bool = False,
    merge_words: bool = False,
    renormalise: bool = False,
    block: range = range(0),
) -> Arrangement:
    """The groups that a reader chose to see of one stream (the first where none is named).

    Hiding special tokens takes their attention away, so rows sum to less than 1 unless they are renormalised; without
    hidden tokens there is nothing to renormalise. A decoder's query is named by the token that it reads and the one
    that it predicts. block: positions of the text that are one group whatever was chosen, the pieces of a swapped word.
    Raises ValueError where nothing is left.
    """
    site = next(site for site in trace.mixing_sites if stream in (None, site.stream))
    read = trace.read_by(site.stream)
    source = trace.encoding if site.stream == "cross" else read
    queries, keys = (
        _groups(
            side,
            hide_special=hide_special,
            merge_words=merge_words,
            block=block if side is trace.encoding else range(0),
        )
        for side in (read, source)
    )
    return Arrangement(_with_predictions(queries, site), keys, renormalise=renormalise and hide_special)


def pooled(trace: Trace, shown: Arrangement, *, layer: int, stream: str, side: int, call: int = 0) -> Array:
    """Small pictures of a layer's maps as they are shown, see `Trace.pooled`: float32 [H, rows, cols]."""
    site = trace.record_of(layer, stream, call=call).site
    if shown.is_plain(site):
        return trace.pooled(layer=layer, stream=stream, side=side, call=call)
    queries, keys = len(shown.queries.members), len(shown.keys.members)
    pool = MaxPool(site.heads, queries, keys, side=side)
    for groups, block in shown.blocks(trace.blocks(layer=layer, stream=stream, call=call)):
        pool.add(block, queries=groups, keys=slice(0, keys))
    return pool.cells


def part(shown: Arrangement, *, queries: slice, keys: slice) -> Arrangement:
    """The groups of a window."""
    sides = ((shown.queries, queries), (shown.keys, keys))
    down, across = (Groups(side.labels[which], side.members[which]) for side, which in sides)
    return Arrangement(down, across, shown.renormalise)


def rows(shown: Arrangement, read: Callable[[slice], Array], *, queries: slice) -> tuple[Groups, Array]:
    """Some rows of a map as they are shown: the groups `queries` of all, and float32 [queries, key groups].

    read: token rows of the map -> float32 [rows, T]. Only these rows are asked for, so that a long text takes no more
    memory than they do.
    """
    groups = Groups(shown.queries.labels[queries], shown.queries.members[queries])
    tokens = slice(int(groups.positions.min()), int(groups.positions.max()) + 1)
    return groups, shown.of_rows(read(tokens), groups, first=tokens.start)


def weights(
    trace: Trace,
    shown: Arrangement,
    *,
    layer: int,
    head: int | None,
    stream: str,
    call: int = 0,
    on_block: Callable[[WeightBlock], None] | None = None,
) -> Array:
    """A head's map as it is shown, or with head=None the mean over the layer's heads: float32 [queries, keys] groups.

    Only the rows that are shown are computed, one head after the other. on_block: called with each block that is read,
    see `Trace.window`.
    """
    heads = range(trace.record_of(layer, stream, call=call).site.heads) if head is None else (head,)
    total = np.zeros((len(shown.queries.members), len(shown.keys.members)), np.float64)
    for number in heads:

        def read(tokens: slice, head: int = number) -> Array:
            return trace.window(
                layer=layer,
                head=head,
                stream=stream,
                call=call,
                queries=tokens,
                keys=slice(None),
                on_block=on_block,
            )

        total += rows(shown, read, queries=slice(None))[1]
    mean: Array = (total / len(heads)).astype(np.float32)
    return mean


def _groups(encoding: Encoding, *, hide_special: bool, merge_words: bool, block: range) -> Groups:
    shown = [position for position, special in enumerate(encoding.special) if not (hide_special and special)]

    def together(position: int) -> tuple[int | None, int]:
        if position in block:
            return None, -1
        word = encoding.words[position] if merge_words else None  # a special token has no word: its position keeps it
        return (None, position) if word is None else (word, -1)

    members = tuple(tuple(group) for _, group in groupby(shown, key=together))
    return Groups(tuple(_join([encoding.tokens[position] for position in group]) for group in members), members)


def _with_predictions(queries: Groups, site: AttentionSite | MixerSite) -> Groups:
    names = site.predicted
    if names is None:
        return queries
    labels = tuple(
        f"{read}{_PREDICTED}{names[group[-1]]}" for read, group in zip(queries.labels, queries.members, strict=True)
    )
    return Groups(labels, queries.members)


def _join(pieces: list[str]) -> str:
    """A word from its pieces, without their marks (## within a word, ▁ or Ġ at its start); a lone one keeps its own."""
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0].lstrip("▁Ġ") + "".join(piece.removeprefix("##") for piece in pieces[1:])
