"""Roles of heads on a text: the one thing that a head does, if it does one, and how many heads do what.

```python
chosen = heads.with_choice(heads.measure(trace), trace)
head(chosen, trace, trace.sites[1], 7).link  # TokenLink(query="on", key="mat", weight=0.70, ...)
```

Numbers are means over the queries that see more than one key (`heads.with_choice`): a decoder's first token can look
only at itself, which is no finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector import chance, heads
from inspector.heads import FEWEST
from inspector.text import Named, named
from inspector.token_links import STRONG, Strongest, TokenLink, is_word
from inspector.trace import recompute

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import AttentionRecord, AttentionSite, Trace, WeightBlock

GATHERS = 0.5  # share of all weight on one key, or on punctuation, that is told
TIMES_EVEN = 1.5  # and how many times the share of even attention it must be at least
POINTS = 0.5  # mean largest weight of a query between two texts, from which the head is said to point
READ_CELLS = 2048**2  # cells of a map, beyond which a click would wait for it
RESTS = ("[SEP]", "[CLS]", "first")  # labels of heads that may still link some words
_SHARES = {"[SEP]": "sep", "[CLS]": "cls", "previous": "previous", "next": "next", "self": "self", "first": "first"}
_TARGETS = {"induction": "induction", "same word": "word"}
_MEASURED = {**_SHARES, **_TARGETS}


@dataclass(frozen=True)
class Role:
    """A description of a whole head by a number.

    kind: a label of `heads.label`; or "punctuation", "one key" (a key of the text that takes GATHERS of all weight),
    "one token" (a token whose places together do), "alone" (every query sees one key), "random" (the model is known
    to have random weights), "looks untrained" (by its norms), "chance" (no query gives a key more than random weights
    would, see `inspector.chance`).
    Where no such thing stands out, `leads` is False: the kind is then "points" (between two texts: each query has a
    key of its own), or the largest share of [SEP], [CLS], first, previous, next and self, which reaches no threshold
    or rests on fewer than FEWEST queries.
    share: 0..1 of the weight; of "random", "looks untrained" and "chance" the largest; of "broad" e^H, the keys that
    even attention of the mean entropy would have; of "points" the mean largest weight of a query.
    tokens: the tokens that the kind is about, each once. key: the key of "first" and "one key". keys: of "broad" how
    many there are, of "points" how many different keys are the largest of a query. at: the position of the key that the
    kind is about, where there is a single one.
    """

    kind: str
    share: float
    tokens: tuple[str, ...] = ()
    key: Named | None = None
    keys: int = 0
    leads: bool = True
    at: int | None = None


@dataclass(frozen=True)
class HeadReading:
    """A head on a text: its role, and a link between two tokens.

    first_left_out: the numbers are without the first query, which sees itself alone. short: the text is too short for
    any role, as fewer than FEWEST queries have a choice.
    """

    stream: str
    layer: int
    call: int
    head: int
    role: Role
    link: TokenLink | None
    first_left_out: bool
    short: bool

    @property
    def opens_with_link(self) -> bool:
        """True where the link says more than the role: no role stands out, and the link is STRONG."""
        return not self.role.leads and self.link is not None and self.link.weight >= STRONG

    @property
    def is_chance(self) -> bool:
        """True where random weights make the head, or would give what it gives: none of its shares is a finding."""
        return self.role.kind in ("random", "looks untrained", "chance")

    @property
    def named(self) -> tuple[int | None, int] | None:
        """The place in the map that the sentence on the head names: the query and the key of its link, or its key.

        (None, key) is the key of all queries; None where the sentence names no place, or several.
        """
        if self.opens_with_link and self.link is not None:
            return self.link.at
        return None if self.role.at is None else (None, self.role.at)


@dataclass(frozen=True)
class Grid:
    """counts: how many of `heads` heads do what, by label, the most frequent first; the others do no one thing.

    tokens: the tokens that [CLS] and [SEP] stand for in this text. short: too few queries have a choice to count
    anything. alone: none has. by_chance: no head gives a key more than random weights would. untrained: as of
    `chance.untrained`.
    """

    heads: int
    counts: Mapping[str, int]
    tokens: Mapping[str, str]
    short: bool = False
    alone: bool = False
    by_chance: bool = False
    untrained: Literal["random", "looks untrained", ""] = ""


def grid(chosen: pd.DataFrame, trace: Trace, *, stream: str, by_chance: bool = False) -> Grid:
    """Count what the heads of a stream do; chosen: of `heads.with_choice`; by_chance: whether none is beyond chance."""
    table = chosen[chosen["stream"] == stream]
    counts = table["label"].value_counts()
    site = trace.sites_of(stream)[0]
    alone = bool(table["entropy"].isna().all())
    short = alone or len(site.queries) - heads.first_query_is_alone(trace, site) < FEWEST
    done = {str(name): int(count) for name, count in counts.items() if name != "other" and not short}
    tokens = {name: named[0] for name in ("[CLS]", "[SEP]") if (named := _special(site.keys, name))}
    return Grid(len(table), done, tokens, short, alone, by_chance, chance.untrained(trace))


def head(chosen: pd.DataFrame, trace: Trace, site: AttentionSite, number: int) -> HeadReading:
    """Read one head; chosen: of `heads.with_choice`.

    A head with random weights, or of a model that looks untrained, or one that does what such weights would do, has no
    role but that. Else the first fact
    told is the head's label of `heads.with_choice`, where it has one. Else punctuation or one key that takes GATHERS of
    the weight. Else the strongest link between two words, if it is STRONG. Else the largest share, though it reaches no
    threshold. Beside a role that says how every token looks (previous, broad, ...) no link is told, and a map of more
    than READ_CELLS is not looked at.
    """
    table = chosen[(chosen["stream"] == site.stream) & (chosen["layer"] == site.layer) & (chosen["head"] == number)]
    table = table[table["call"] == site.call] if "call" in table else table
    row, left_out = table.iloc[0], heads.first_query_is_alone(trace, site)
    choosing = 0 if np.isnan(row["entropy"]) else len(site.queries) - left_out
    if not choosing:
        role = Role("alone", 1.0, site.keys if len(site.keys) == 1 else ())
        return HeadReading(site.stream, site.layer, site.call, number, role, None, first_left_out=False, short=True)
    short = choosing < FEWEST
    label = "other" if short else str(row["label"])
    record = trace.record_of_head(site.layer, number, site.stream, call=site.call)
    strongest, map_ = Strongest(trace, site), _Map(record, skipped=int(left_out))
    untrained, looked = chance.untrained(trace), len(site.queries) * len(site.keys) <= READ_CELLS
    links = label in ("other", *RESTS) and not untrained
    for block in recompute.bands(record) if looked else ():
        map_.see(block)
        if links:
            strongest.see(block)
    special = (trace.encoding if site.stream == "cross" else trace.read_by(site.stream)).special
    if looked and not short and (untrained or not map_.beyond_chance):
        role = Role(untrained or "chance", max(map_.largest))
    else:
        role = _role(row, label, site, map_ if looked else None, special)
    return HeadReading(
        site.stream,
        site.layer,
        site.call,
        number,
        replace(role, leads=role.leads and not short),
        strongest.result(trace, number),
        left_out,
        short,
    )


def telling_cell(trace: Trace, site: AttentionSite, reading: HeadReading) -> tuple[int, int] | None:
    """Find the query and the key in which a head does most what its role says; None in a map over READ_CELLS.

    Of the key that the role is about the largest share; of an induction head, and of a head that stays within the word,
    the largest among what the role speaks of; else the largest between two words. A query of one key is left out.
    """
    if len(site.queries) * len(site.keys) > READ_CELLS:
        return None
    role, read = reading.role, trace.read_by(site.stream)
    source = trace.encoding if site.stream == "cross" else read
    queries, keys = (
        np.array([is_word(name) and not special for name, special in zip(names, side.special, strict=True)])
        for names, side in ((site.queries, read), (site.keys, source))
    )
    target = None
    if role.kind in _TARGETS:
        target = heads.targets(site.keys, read.words, known=read.known)[_TARGETS[role.kind]]
    largest, cell = 0.0, None
    for block in recompute.bands(trace.record_of_head(site.layer, reading.head, site.stream, call=site.call)):
        shares = block.shares[0]
        allowed = queries[block.queries, None] & (np.count_nonzero(shares, axis=1) > 1)[:, None]
        if role.at is not None:
            allowed = allowed & (np.arange(block.keys.start, block.keys.stop) == role.at)
        else:
            allowed = allowed & (keys[block.keys] if target is None else target.pairs(block.queries, block.keys))
        told = np.where(allowed, shares, 0)
        row, column = (int(place) for place in np.unravel_index(int(told.argmax()), told.shape))
        if told[row, column] > largest:
            largest, cell = float(told[row, column]), (block.queries.start + row, block.keys.start + column)
    return cell


class _Map:
    """Sums over a head's map, from its blocks: what each key receives, and the largest weight of each query.

    skipped: the first queries, which do not count. beyond_chance: whether some query gives a key more than random
    weights would.
    """

    def __init__(self, record: AttentionRecord, *, skipped: int) -> None:
        self.beyond_chance = False
        self._width = record.query.shape[-1]
        self.received = np.zeros(len(record.site.keys))
        self.largest: list[float] = []
        self.peaks: list[int] = []
        self._skipped = skipped

    def see(self, block: WeightBlock) -> None:
        """Look at a block of the head (H = 1)."""
        rows = block.shares[0, max(0, self._skipped - block.queries.start) :]
        self.beyond_chance |= bool(chance.beyond(rows, width=self._width).any())
        self.received[block.keys] += rows.sum(axis=0, dtype=np.float64)
        self.largest += rows.max(axis=1).tolist()
        self.peaks += (rows.argmax(axis=1) + block.keys.start).tolist()


def _role(row: pd.Series, label: str, site: AttentionSite, map_: _Map | None, special: Sequence[bool]) -> Role:
    count = len(site.keys)
    if label == "broad":
        return Role("broad", float(np.exp(row["entropy"])), keys=count)
    if label != "other":
        return _of_label(label, float(row[_MEASURED[label]]), site)
    marks = [key for key in site.keys if heads.is_punctuation(key)]
    if row["punctuation"] > max(GATHERS, TIMES_EVEN * len(marks) / count):
        return Role("punctuation", float(row["punctuation"]), tuple(dict.fromkeys(marks)))
    if map_ is not None:
        shares = np.where(special, 0.0, map_.received) / len(map_.peaks)
        if shares.max() > max(GATHERS, TIMES_EVEN / count):
            at = int(shares.argmax())
            return Role("one key", float(shares.max()), key=named(site.keys, at), at=at)
        copies = {name: [at for at, key in enumerate(site.keys) if key == name] for name in dict.fromkeys(site.keys)}
        name = max(copies, key=lambda name: float(shares[copies[name]].sum()))
        share = float(shares[copies[name]].sum())
        if share > max(GATHERS, TIMES_EVEN * len(copies[name]) / count):
            return Role("one token", share, (name,))
        different, largest = len(set(map_.peaks)), float(np.mean(map_.largest))
        if site.stream == "cross" and largest > POINTS and 2 * different >= len(map_.peaks) > 1:
            return Role("points", largest, keys=different, leads=False)
    most = {kind: float(row[name]) for kind, name in _SHARES.items() if not np.isnan(row[name])}
    kind = max(most, key=most.__getitem__)
    return replace(_of_label(kind, most[kind], site), leads=False)


def _of_label(label: str, share: float, site: AttentionSite) -> Role:
    if label == "first":
        return Role(label, share, key=named(site.keys, 0), at=0)
    tokens = _special(site.keys, label)
    places = [at for at, key in enumerate(site.keys) if key in tokens]
    return Role(label, share, tokens, at=places[0] if len(places) == 1 else None)


def _special(keys: tuple[str, ...], name: str) -> tuple[str, ...]:
    names = {"[CLS]": heads.START_TOKENS, "[SEP]": heads.END_TOKENS}.get(name, ())
    return tuple(dict.fromkeys(key for key in keys if key in names))
