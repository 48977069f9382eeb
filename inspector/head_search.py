"""A search for heads: a stream's heads by how well each does what a reader wishes for, on this text.

```python
chosen = heads.with_choice(heads.measure(trace), trace)
find.fitting(chosen, "previous", stream="encoder")[0]  # the head that looks one token back the most
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector import one_token

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import Trace

WISHES = {
    "previous": "previous",
    "next": "next",
    "self": "self",
    "same token": "duplicate",
    "repeats": "induction",
    "own word": "word",
    "punctuation": "punctuation",
    "first": "first",
    "start": "cls",
    "end": "sep",
    "broad": "relative_entropy",
    "sharp": "confidence",
}
"""The wishes: name -> the measure of `heads.measure` that says how well a head fits."""


@dataclass(frozen=True)
class FittingHead:
    """A head, and how well it fits: a share 0..1 of the weight; of "broad" the share of the most entropy.

    others: of a link between two tokens, what the other queries that see the key give it on average; None where there
    are none.
    """

    layer: int
    call: int
    head: int
    share: float
    others: float | None = None

    @property
    def singled_out(self) -> float:
        """The share that the link's query gives to the key above what the other queries give it."""
        return self.share - (self.others or 0.0)


def fitting(chosen: pd.DataFrame, wish: str, *, stream: str) -> tuple[FittingHead, ...]:
    """Sort the heads of a stream by a wish, the best first; chosen: of `heads.with_choice`.

    Empty where the measure means nothing on this text (no word in pieces, no token twice, no punctuation).
    """
    table = chosen[chosen["stream"] == stream].dropna(subset=[WISHES[wish]])
    table = table.sort_values(WISHES[wish], ascending=False, kind="stable")
    calls = table["call"] if "call" in table else [0] * len(table)
    every = zip(table["layer"], calls, table["head"], table[WISHES[wish]], strict=True)
    return tuple(FittingHead(int(layer), int(call), int(head), float(share)) for layer, call, head, share in every)


def possible(chosen: pd.DataFrame, *, stream: str) -> tuple[str, ...]:
    """Name the wishes that some head fulfils at all on this text; "first" is left out where it says "start" again.

    A decoder gives nothing to the next token, and a text may have no punctuation.
    """
    table = chosen[chosen["stream"] == stream]
    wishes = [wish for wish, measure in WISHES.items() if (table[measure] > 0).any()]
    again = "start" in wishes and table["first"].equals(table["cls"])
    return tuple(wish for wish in wishes if wish != "first" or not again)


def linking(trace: Trace, *, stream: str, query: int, key: int) -> tuple[FittingHead, ...]:
    """Sort the heads of a stream by how much more one query gives to a key than the other queries give it on average.

    A head in which all queries look at the key links no two tokens, however large the weight.
    """
    links = []
    for site, columns in zip(trace.sites_of(stream), one_token.gets(trace, key, stream=stream), strict=True):
        for head, column in enumerate(columns):  # [Q]
            rest = np.delete(column, query)
            seeing = rest[rest > 0]
            others = float(seeing.mean()) if seeing.size else None
            links.append(FittingHead(site.layer, site.call, head, float(column[query]), others))
    return tuple(sorted(links, key=lambda link: -link.singled_out))
