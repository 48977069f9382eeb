"""Readings of the page Attention: what one head does, and what all heads do.

Numbers are means over the queries that see more than one key (`heads.with_choice`): a decoder's first token can look
only at itself, which is no finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from inspector import heads
from inspector.readings.links import STRONG, Link, Named, Strongest, named
from inspector.trace import recompute

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import AttentionSite, Trace

GATHERS = 0.5  # share of all weight on one key, or on punctuation, that is told
TIMES_EVEN = 1.5  # and how many times the share of even attention it must be at least
POINTS = 0.5  # mean largest weight of a query between two texts, from which the head is said to point
FEWEST = 3  # queries with a choice, below which no habit can be told from a single look
_SHARES = {"[SEP]": "sep", "[CLS]": "cls", "previous": "previous", "next": "next", "self": "self", "first": "first"}
_MEASURED = {**_SHARES, "induction": "induction", "same word": "word"}


@dataclass(frozen=True)
class Role:
    """A description of a whole head by a number.

    kind: a label of `heads.label`; or "punctuation", "one key" (a token of the text that takes GATHERS of all weight),
    "alone" (every query sees one key). Where no such thing stands out, `leads` is False: the kind is then "points"
    (between two texts: each query has a key of its own), or the largest share of [SEP], [CLS], first, previous, next
    and self, which reaches no threshold or rests on fewer than FEWEST queries.
    share: 0..1 of the weight; of "broad" e^H, the keys that even attention of the mean entropy would have; of
    "points" the mean largest weight of a query. tokens: those that the kind is about, each once. key: that of "first"
    and "one key". keys: of "broad" how many there are, of "points" how many different keys are the largest of a query.
    """

    kind: str
    share: float
    tokens: tuple[str, ...] = ()
    key: Named | None = None
    keys: int = 0
    leads: bool = True


@dataclass(frozen=True)
class Head:
    """A head on a text: its role, and a link between two tokens.

    first_left_out: the numbers are without the first query, which sees itself alone. short: the text is too short for
    any role, as fewer than FEWEST queries have a choice.
    """

    stream: str
    layer: int
    call: int
    head: int
    role: Role
    link: Link | None
    first_left_out: bool
    short: bool

    @property
    def opens_with_link(self) -> bool:
        """True where the link says more than the role: no role stands out, and the link is STRONG."""
        return not self.role.leads and self.link is not None and self.link.weight >= STRONG


@dataclass(frozen=True)
class Grid:
    """counts: how many of `heads` heads do what, by label, the most frequent first; the others do no one thing.

    tokens: the tokens that [CLS] and [SEP] stand for in this text. short: too few queries have a choice to count
    anything. alone: none has.
    """

    heads: int
    counts: Mapping[str, int]
    tokens: Mapping[str, str]
    short: bool = False
    alone: bool = False


def grid(chosen: pd.DataFrame, trace: Trace, *, stream: str) -> Grid:
    """Count what the heads of a stream do; chosen: of `heads.with_choice`."""
    table = chosen[chosen["stream"] == stream]
    counts = heads.label(table).value_counts()
    site = trace.sites_of(stream)[0]
    short = _choosing(site) < FEWEST
    done = {str(name): int(count) for name, count in counts.items() if name != "other" and not short}
    tokens = {name: named[0] for name in ("[CLS]", "[SEP]") if (named := _special(site.keys, name))}
    return Grid(len(table), done, tokens, short, alone=bool(table["entropy"].isna().all()))


def head(chosen: pd.DataFrame, trace: Trace, site: AttentionSite, number: int) -> Head:
    """Read one head; chosen: of `heads.with_choice`.

    What is told first, by this rule: the head's label (`heads.label`), where it has one. Else punctuation or one key
    that takes GATHERS of the weight. Else the strongest link between two words, if it is STRONG. Else the largest
    share, though it reaches no threshold.
    """
    table = chosen[(chosen["stream"] == site.stream) & (chosen["layer"] == site.layer) & (chosen["head"] == number)]
    row = (table[table["call"] == site.call] if "call" in table else table).iloc[0]
    strongest, map_ = Strongest(trace, site), _Map(site)
    for block in recompute.bands(trace.record_of_head(site.layer, number, site.stream, call=site.call)):
        strongest.see(block)
        map_.see(block.queries, block.keys, block.weights[0])
    role = _role(row, heads.label(row.to_frame().T.infer_objects()).iloc[0], site, map_, trace)
    link = None if role.kind == "alone" else strongest.result(trace, number)
    left_out = map_.first_alone and role.kind != "alone"
    short = _choosing(site) < FEWEST
    return Head(
        site.stream,
        site.layer,
        site.call,
        number,
        replace(role, leads=role.leads and not (short and role.kind != "alone")),
        link,
        left_out,
        short,
    )


def _choosing(site: AttentionSite) -> int:
    """Count the queries that see more than one key; in a decoder the first sees itself alone."""
    if len(site.keys) == 1 or site.window == 1:
        return 0
    return len(site.queries) - (site.stream != "cross" and site.predicts is not None)


class _Map:
    """Sums over a head's map, from its blocks: what each key receives, and the largest weight of each query."""

    def __init__(self, site: AttentionSite) -> None:
        self.received = np.zeros(len(site.keys))
        self.largest: list[float] = []
        self.peaks: list[int] = []
        self.first_alone = False
        self._may_be_alone = site.stream != "cross" and site.predicts is not None and len(site.keys) > 1
        self.queries = 0

    def see(self, queries: slice, keys: slice, weights: np.ndarray) -> None:
        rows = weights.astype(np.float64)
        if queries.start == 0 and self._may_be_alone and not keys.start and not rows[0, 1:].any():
            self.first_alone = True
            rows = rows[1:]
        self.received[keys] += rows.sum(axis=0)
        self.queries += len(rows)
        if len(rows):
            self.largest += rows.max(axis=1).tolist()
            self.peaks += (rows.argmax(axis=1) + keys.start).tolist()

    def share(self, position: int) -> float:
        """The share of all weight that a key receives."""
        return float(self.received[position]) / self.queries


def _role(row: pd.Series, label: str, site: AttentionSite, map_: _Map, trace: Trace) -> Role:
    count = len(site.keys)
    if np.isnan(row["entropy"]):
        return Role("alone", 1.0, site.keys if count == 1 else (), keys=count)
    if label == "broad":
        return Role("broad", float(np.exp(row["entropy"])), keys=count)
    if label != "other":
        return _of_label(label, float(row[_MEASURED[label]]), site)
    marks = [position for position, key in enumerate(site.keys) if heads.is_punctuation(key)]
    if row["punctuation"] > max(GATHERS, TIMES_EVEN * len(marks) / count):
        return Role("punctuation", float(row["punctuation"]), tuple(dict.fromkeys(site.keys[at] for at in marks)))
    special = (trace.encoding if site.stream == "cross" else trace.read_by(site.stream)).special
    top = int(np.where(special, 0.0, map_.received).argmax())
    if map_.share(top) > max(GATHERS, TIMES_EVEN / count):
        return Role("one key", map_.share(top), key=named(site.keys, top))
    peaks = len(set(map_.peaks))
    if site.stream == "cross" and np.mean(map_.largest) > POINTS and 2 * peaks >= len(map_.peaks) > 1:
        return Role("points", float(np.mean(map_.largest)), keys=peaks, leads=False)
    shares = {kind: float(row[name]) for kind, name in _SHARES.items() if not np.isnan(row[name])}
    kind = max(shares, key=shares.__getitem__)
    return replace(_of_label(kind, shares[kind], site), leads=False)


def _of_label(label: str, share: float, site: AttentionSite) -> Role:
    return Role(label, share, _special(site.keys, label), key=named(site.keys, 0) if label == "first" else None)


def _special(keys: tuple[str, ...], name: str) -> tuple[str, ...]:
    names = {"[CLS]": heads.START_TOKENS, "[SEP]": heads.END_TOKENS}.get(name, ())
    return tuple(dict.fromkeys(key for key in keys if key in names))
