"""Links between two tokens of a text: the strong ones of a head, and what every head gives to one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector import chance
from inspector.heads import END_TOKENS, START_TOKENS, is_punctuation
from inspector.text import Named, named
from inspector.trace import recompute

if TYPE_CHECKING:
    from inspector.trace import Array, AttentionSite, Trace, WeightBlock

STRONG = 0.25  # weight: a weaker link between two tokens is told after others
_TRIED = 5  # of a head's strongest links, to find one in which no other head is stronger
_MORE = 1e-5  # weight: heads nearer than this are told as equal


@dataclass(frozen=True)
class TokenLink:
    """The share of its attention that a query gives to a key, see `WeightBlock.shares`.

    query, key: their tokens; between two texts the query is the token that is to be written. at: their positions.
    others: the largest weight that another head of the stream gives to the same link; None where there is no other.
    """

    query: Named
    key: Named
    at: tuple[int, int]
    weight: float
    others: float | None

    @property
    def most(self) -> bool:
        """True if no other head of the stream gives as much."""
        return self.others is not None and self.weight > self.others + _MORE


def of_every_head(trace: Trace, *, stream: str, query: int, key: int) -> Mapping[tuple[int, int], Array]:
    """Compute the share that each head gives from a query to a key: (layer, call) -> float32 [H]."""
    shares = {}
    for site in trace.sites_of(stream):
        record = trace.record_of(site.layer, stream, call=site.call)
        row, column = slice(query, query + 1), slice(key, key + 1)
        shares[site.layer, site.call] = recompute.window(record, "shares", queries=row, keys=column)[:, 0, 0]
    return shares


class Strongest:
    """Collects the strongest links between two different words of a text, from a head's blocks as they come.

    Special tokens, punctuation, the query itself and the pieces of its own word are no links, nor is a share that
    random weights would give too (`inspector.chance`). Within a text a link that reaches beyond the neighbours goes
    before one that does not, where it is STRONG: every head has some of the second kind.
    """

    def __init__(self, trace: Trace, site: AttentionSite) -> None:
        self._site = site
        self._width = trace.record_of(site.layer, site.stream, call=site.call).query.shape[-1]
        self._between = site.stream == "cross"
        read = trace.read_by(site.stream)
        source = trace.encoding if self._between else read
        # Between two texts a query stands for the token that it has to write.
        self._query_words = np.array([-1 if word is None else word for word in read.words])
        self._key_words = np.array([-1 if word is None else word for word in source.words])
        names = site.predicted if self._between and site.predicted is not None else site.queries
        of_text = (True,) * len(names) if self._between else [not special for special in read.special]
        self._names = names
        self._queries = np.array([is_word(name) and inside for name, inside in zip(names, of_text, strict=True)])
        self._keys = np.array(
            [is_word(name) and not special for name, special in zip(site.keys, source.special, strict=True)]
        )
        self._links: dict[bool, list[tuple[float, int, int]]] = {True: [], False: []}

    def see(self, block: WeightBlock) -> None:
        """Look at a block of the head (H = 1)."""
        rows, columns = (np.arange(side.start, side.stop) for side in (block.queries, block.keys))
        allowed = self._queries[rows][:, None] & self._keys[columns] & chance.beyond(block.shares[0], width=self._width)
        apart = allowed
        if not self._between:
            allowed = allowed & (self._query_words[rows][:, None] != self._key_words[columns])
            apart = allowed & (np.abs(rows[:, None] - columns) > 1)
        for far, mask in ((True, apart), (False, allowed)):
            weights, strongest = np.where(mask, block.shares[0], np.float32(0)).ravel(), self._links[far]
            stronger = np.flatnonzero(weights > (strongest[-1][0] if len(strongest) == _TRIED else 0))
            if len(stronger) > _TRIED:
                stronger = stronger[np.argpartition(weights[stronger], -_TRIED)[-_TRIED:]]
            for place in stronger.tolist():
                row, column = divmod(place, len(columns))
                strongest.append((float(weights[place]), int(rows[row]), int(columns[column])))
            self._links[far] = sorted(strongest, key=lambda link: (-link[0], *link[1:]))[:_TRIED]

    def result(self, trace: Trace, head: int) -> TokenLink | None:
        """Choose the link to tell: of the strongest, the first in which no other head is stronger, if it is STRONG.

        Else the strongest; None where no link between two words is beyond chance.
        """
        far, every = self._links[True], self._links[False]
        chosen = far if far and far[0][0] >= STRONG else every
        first = None
        for weight, *at in chosen[:1] + [link for link in chosen[1:] if link[0] >= STRONG]:
            link = self._link(trace, head, weight, at)
            if link.most:
                return link
            first = first or link
        return first

    def _link(self, trace: Trace, head: int, weight: float, at: list[int]) -> TokenLink:
        site, (query, key) = self._site, at
        given = of_every_head(trace, stream=site.stream, query=query, key=key)
        place_of_head = (site.layer, site.call)
        rest = np.concatenate(
            [np.delete(shares, head) if place == place_of_head else shares for place, shares in given.items()]
        )
        others = float(rest.max()) if rest.size else None
        return TokenLink(named(self._names, query), named(site.keys, key), (query, key), weight, others)


def is_word(token: str) -> bool:
    """Return True for a token with letters or digits that no tokenizer adds: no mark, no special token."""
    blank = not token.strip("▁ĠĊ")  # the mark of a space or of a new line, with nothing behind it
    return not blank and token not in (*START_TOKENS, *END_TOKENS) and not is_punctuation(token)
