"""One token in every head: what it gives as a query, what it gets as a key, and the words that it is tied to most.

```python
trace = inspector.record(models.load("minilm"), "The cat sat on the mat because it was tired.")
inspector.one_token.gives(trace, 8)[3, 7]  # what `it` gives to each token in layer 3, head 7
inspector.one_token.table(trace, 8).nlargest(5, "share")
```

Shapes: L attentions of a stream, H heads, Q query positions, T key positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from inspector import chance, maps
from inspector.maps import Arrangement
from inspector.text import Named, named
from inspector.token_links import STRONG, TokenLink, is_word
from inspector.trace import Array, AttentionSite, Trace, recompute
from inspector.trace.pooling import stacked

Side = Literal["gives", "gets"]
MOST = 0.5  # share: a token that gives more to one key rests on it


def gives(trace: Trace, query: int, *, stream: str | None = None, shown: Arrangement | None = None) -> Array:
    """Compute the share of its attention that a query gives to each key in every head: float32 [L, H, T].

    The weights themselves where a softmax makes them, see `WeightBlock.shares`; of each attention only the blocks that
    hold the query are computed. Zeros stand behind the last head of a layer that has fewer than another. query: the
    token's position. shown: tokens that are hidden or merged, whose groups then stand in the place of the tokens.
    Raises ValueError for a position that is not there or is hidden.
    """
    shown = maps.arrange(trace, stream=stream) if shown is None else shown
    at = _group(shown.queries, query, "query")
    group = maps.Groups(shown.queries.labels[at : at + 1], shown.queries.members[at : at + 1])
    rows = slice(group.members[0][0], group.members[0][-1] + 1)

    def row(site: AttentionSite) -> Array:
        record = trace.record_of(site.layer, site.stream, call=site.call)
        shares = recompute.window(record, "shares", queries=rows, keys=slice(0, len(site.keys)))
        return shown.of_rows(shares, group, first=rows.start)[:, 0]

    return stacked([row(site) for site in _sites(trace, stream)])


def gets(trace: Trace, key: int, *, stream: str | None = None, shown: Arrangement | None = None) -> Array:
    """Compute the share of its attention that each query gives to a key in every head: float32 [L, H, Q].

    Block by block: never a whole map. The rest is as in `gives`.
    """
    shown = maps.arrange(trace, stream=stream) if shown is None else shown
    at = _group(shown.keys, key, "key")

    part = slice(shown.keys.members[at][0], shown.keys.members[at][-1] + 1)
    group = maps.Groups(("key",), (tuple(place - part.start for place in shown.keys.members[at]),))
    alone = Arrangement(shown.queries, group)

    def column(site: AttentionSite) -> Array:
        record = trace.record_of(site.layer, site.stream, call=site.call)
        if not shown.renormalise:
            whole = slice(0, len(site.queries))
            return alone.apply(recompute.window(record, "shares", queries=whole, keys=part))[..., 0]
        shares = np.empty((site.heads, len(shown.queries.members)), np.float32)
        for groups, block in shown.blocks(recompute.blocks(record, "shares")):  # a row's sum takes all of its keys
            shares[:, groups] = block[..., at]
        return shares

    return stacked([column(site) for site in _sites(trace, stream)])


def shares(
    trace: Trace, token: int, *, side: Side = "gives", stream: str | None = None, shown: Arrangement | None = None
) -> Array:
    """Compute `gives` or `gets`."""
    return (gives if side == "gives" else gets)(trace, token, stream=stream, shown=shown)


def table(
    trace: Trace, token: int, *, side: Side = "gives", stream: str | None = None, shown: Arrangement | None = None
) -> pd.DataFrame:
    """Tabulate `shares`: a row for each layer, head and other token: stream, layer, call, head, position, token, share.

    position: of the other token, or of the first token of its group.
    """
    shown = maps.arrange(trace, stream=stream) if shown is None else shown
    others = shown.keys if side == "gives" else shown.queries
    values = shares(trace, token, side=side, stream=stream, shown=shown)
    sites, heads, count = _sites(trace, stream), values.shape[1], values.shape[2]
    positions = [group[0] for group in others.members]
    columns: dict[str, object] = {
        name: np.repeat([getattr(site, name) for site in sites], heads * count) for name in ("stream", "layer", "call")
    }
    columns["head"] = np.tile(np.repeat(np.arange(heads), count), len(sites))
    columns["position"] = np.tile(positions, len(sites) * heads)
    columns["token"] = np.tile(np.array(others.labels, dtype=object), len(sites) * heads)
    there = np.concatenate([np.repeat(np.arange(heads) < site.heads, count) for site in sites])
    return pd.DataFrame(columns | {"share": values.ravel()})[there].reset_index(drop=True)


# --- in words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TokenReading:
    """The word that a token is tied to most in one head, and where it rests.

    share: what the token gives to `other`, or gets from `other`, in that head; other is None where no share stands out.
    beyond: neighbours were left out.
    rest: the special or first token that gets over half of its attention in most heads, in so many of all `heads`; None
    where there is none, and of what a token gets.
    """

    token: Named
    side: Side
    heads: int
    other: Named | None = None
    beyond: bool = False
    share: float = 0.0
    layer: int = 0
    call: int = 0
    head: int = 0
    rest: Named | None = None
    resting: int = 0


def read(trace: Trace, token: int, values: Array, *, side: Side, stream: str) -> TokenReading:
    """Read `values`, which are `shares` of the token with nothing hidden or merged.

    Told is the largest share between the token and another word that is STRONG and larger than `chance.largest_share`:
    of a word beyond the token's neighbours where there is one, for some head always looks at those. Special tokens,
    punctuation and the pieces of the token's own word are no other words.
    """
    sites = _sites(trace, stream)
    site, heads = sites[0], sum(site.heads for site in sites)
    between = stream == "cross"
    queries = site.predicted if between and site.predicted is not None else site.queries
    own, others = (queries, site.keys) if side == "gives" else (site.keys, queries)
    name = named(own, token)
    words = _words(trace, site, token, side=side, names=others)
    width = trace.record_of(site.layer, stream, call=site.call).query.shape[-1]
    near = np.abs(np.arange(len(words)) - token) <= 1
    rest, resting = _resting(trace, site, values) if side == "gives" else (None, 0)
    for beyond in (False,) if between else (True, False):
        told = np.where(words & ~near if beyond else words, values, -1.0)
        layer, head, other = (int(place) for place in np.unravel_index(int(told.argmax()), told.shape))
        share, at = float(told[layer, head, other]), sites[layer]
        keys = _keys_seen(site, token if side == "gives" else other)
        if share > max(STRONG, float(chance.largest_share(keys, width=width))):
            place = named(others, other), beyond, share, at.layer, at.call, head
            return TokenReading(name, side, heads, *place, rest=rest, resting=resting)
    return TokenReading(name, side, heads, rest=rest, resting=resting)


def strongest(
    trace: Trace, token: int, values: Array, *, side: Side, stream: str, row: int, head: int
) -> TokenLink | None:
    """Find the token that a token gives most of its attention to in one head, or gets most from.

    values: as for `read`; row: the head's attention among the stream's. None where the token sees one key, or where no
    other token gives it anything.
    """
    site, of_head = _sites(trace, stream)[row], values[row, head].copy()
    between = stream == "cross"
    if side == "gives" and _keys_seen(site, token) == 1:
        return None
    if side == "gets" and not between:
        of_head[token] = 0  # what it keeps for itself it gets from no other
    other = int(of_head.argmax())
    if not of_head[other] > 0:
        return None
    query, key = (token, other) if side == "gives" else (other, token)
    queries = site.predicted if between and site.predicted is not None else site.queries
    elsewhere = np.delete(values[..., other].ravel(), row * values.shape[1] + head)
    most = float(elsewhere.max()) if len(elsewhere) else None
    return TokenLink(named(queries, query), named(site.keys, key), (query, key), float(of_head[other]), most)


def _words(trace: Trace, site: AttentionSite, token: int, *, side: Side, names: tuple[str, ...]) -> np.ndarray:
    """Say of each other token whether it is another word: bool [T] or [Q]."""
    read = trace.read_by(site.stream)
    if site.stream == "cross":
        special = trace.encoding.special if side == "gives" else (False,) * len(names)
        return np.array([is_word(name) and not added for name, added in zip(names, special, strict=True)])
    word = read.words[token]
    apart = [
        place != token and (word is None or other != word) and not special
        for place, (other, special) in enumerate(zip(read.words, read.special, strict=True))
    ]
    return np.array([is_word(name) and fits for name, fits in zip(names, apart, strict=True)])


def _resting(trace: Trace, site: AttentionSite, values: Array) -> tuple[Named | None, int]:
    source = trace.encoding if site.stream == "cross" else trace.read_by(site.stream)
    sinks = np.array([special or place == 0 for place, special in enumerate(source.special)])
    counts = np.where(sinks, (values > MOST).sum(axis=(0, 1)), 0)
    most = int(counts.argmax())
    return (named(site.keys, most), int(counts[most])) if counts[most] else (None, 0)


def _keys_seen(site: AttentionSite, query: int) -> int:
    return query + 1 if site.stream == "decoder" else len(site.keys)


# --- places ----------------------------------------------------------------------------------------------------------


def _sites(trace: Trace, stream: str | None) -> tuple[AttentionSite, ...]:
    return trace.sites_of(trace.streams[0] if stream is None else stream)


def _group(side: maps.Groups, position: int, what: str) -> int:
    at = side.containing(position)
    if at is None:
        raise ValueError(f"{what} {position} is not among the {len(side.members)} that are shown")
    return at
