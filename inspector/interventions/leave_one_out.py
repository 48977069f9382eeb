"""Each token of a text left out in turn: how far the output moves without it, and which heads attend accordingly.

A token is left out as padding is: the attention mask hides it as a key from every query of every layer, so that each
row shares its weight among the others. Positions stay, and no other token takes its place, as [MASK] would. Special
tokens are never left out.

```python
left = leave_out(loaded, trace, query=6)
table = correlations(left)  # a row per head: Spearman's rho of its attention with what leaving out changes
```

Jain & Wallace (2019) compare attention so; Wiegreffe & Pinter (2019) say what such a comparison can show.

Shapes: B texts at once, T tokens, Q tokens whose states come out, D width, V vocabulary, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.heads import with_call
from inspector.interventions.change import hidden_in, recorded
from inspector.interventions.masking import maskable
from inspector.scores.ranks import spearman
from inspector.trace import AttentionSite, Trace, recompute
from models import LoadedModel

Float64Array = NDArray[np.float64]
Measure = Literal["divergence", "turned"]

LEAST = 4  # tokens: fewer have no ranks to speak of
_AT_ONCE = 4096  # tokens of a batch
_LEAK = 1e-4  # of the largest entry: more of a hidden token than rounding


@dataclass(frozen=True, eq=False)
class LeftOutTokens:
    """A text whose tokens at `positions` were left out, one at a time.

    trace: the recording of the whole text, from which attention is read; of a masked language model that is to guess
    the token at `query`, with that token hidden. query: the position whose output is looked at, of the decoder where
    there are two texts; None for all.
    measure: "divergence", KL(p || p') of the predictions at the query in bits; "turned", 1 - cosine of the last hidden
    state before and after, at the query or as the mean over the other tokens that can see the one left out. changes:
    of each position. variation: the total variation of the predictions, 0..1, for "divergence"; empty for "turned".
    """

    trace: Trace
    query: int | None
    measure: Measure
    positions: tuple[int, ...]
    changes: tuple[float, ...]
    variation: tuple[float, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens that were left out."""
        return tuple(self.trace.tokens[position] for position in self.positions)

    @property
    def table(self) -> pd.DataFrame:
        """The change by each token's absence: columns position, token, the measure, and variation for "divergence"."""
        table = pd.DataFrame({"position": self.positions, "token": self.tokens, self.measure: self.changes})
        return table.assign(variation=self.variation) if self.variation else table

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams whose keys are the tokens that were left out."""
        return tuple(stream for stream in self.trace.streams if self.trace.target is None or stream != "decoder")


def candidates(loaded: LoadedModel, trace: Trace, *, query: int | None) -> tuple[int, ...]:
    """List the positions that are left out in turn: the text's tokens that the query sees.

    Without a query they are the tokens that any other token sees. Raises ValueError for a query out of range.
    """
    places = maskable(trace.encoding)
    read = trace.encoding if trace.target is None else trace.target
    if query is not None and not 0 <= query < len(read):
        raise ValueError(f"position {query} is out of range: the text has positions 0 to {len(read) - 1}")
    if loaded.shape == "decoder":
        last = len(read) - 1 if query is None else query
        return tuple(place for place in places if place < last)
    if loaded.shape == "encoder":
        return tuple(place for place in places if place != query)
    return places


def leave_out(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    query: int | None = None,
    text_pair: str | None = None,
    target: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> LeftOutTokens:
    """Run the model once for each token without it, in batches, and measure what that changes; see `LeftOutTokens`.

    A masked language model is asked to guess the token at `query`, which is hidden before and after. on_progress: told
    how many tokens are done; what it raises ends the work.

    Raises ValueError for fewer than LEAST tokens to leave out, for a query out of range, and for a model in which a
    token that is hidden as padding still changes the others.
    """
    whole = recorded(loaded, text, text_pair=text_pair, target=target)
    places = candidates(loaded, whole, query=query)
    if len(places) < LEAST:
        raise ValueError(f"{len(places)} tokens can be left out here, and ranks need {LEAST} or more; write more words")
    trace = hidden_in(loaded, whole, [query]) if query is not None and loaded.fills_masks else whole
    guesses = query is not None and loaded.predict is not None
    _check_hides(loaded, trace, places[len(places) // 2])
    changes: list[tuple[float, float]] = []
    for some in _batches(places, length=len(trace.encoding)):
        if on_progress is not None:
            on_progress(len(changes), len(places))
        after = _without(loaded, trace, some)
        if guesses:
            assert query is not None
            changes += _predictions(loaded, trace.hidden[query], after[:, query])
        else:
            changes += [(turn, 0.0) for turn in _turned(loaded, trace, after, places=some, query=query)]
    first, second = zip(*changes, strict=True)
    return LeftOutTokens(trace, query, "divergence" if guesses else "turned", places, first, second if guesses else ())


def received(left: LeftOutTokens, site: AttentionSite) -> Float64Array:
    """The attention of every head of a call to each token that was left out: [H, positions].

    From the query where the call has it; else the mean over the queries that see the token, the token itself left out.
    """
    record = left.trace.record_of(site.layer, site.stream, call=site.call)
    places = list(left.positions)
    if left.query is not None and site.stream == left.trace.sites[-1].stream:
        row, keys = slice(left.query, left.query + 1), slice(0, len(site.keys))
        return recompute.window(record, "weights", queries=row, keys=keys)[:, 0, places].astype(np.float64)
    sums = np.zeros((site.heads, len(site.keys)))
    for block in recompute.bands(record):
        weights = block.weights.astype(np.float64)
        if site.stream != "cross":
            rows, columns = (np.arange(part.start, part.stop) for part in (block.queries, block.keys))
            weights[:, rows[:, None] == columns] = 0
        sums[:, block.keys] += weights.sum(axis=1)
    seen_by = np.full(len(site.keys), len(site.queries) - (site.stream != "cross"), dtype=np.float64)
    if site.stream == "decoder":
        seen_by = np.arange(len(site.keys))[::-1].astype(np.float64)  # later tokens alone
    return sums[:, places] / np.maximum(seen_by[places], 1)


def correlations(left: LeftOutTokens) -> pd.DataFrame:
    """Spearman's rho of each head's attention to the tokens with what leaving them out changes, a row per head.

    rho is Pearson's correlation of the ranks, ties sharing their mean rank; NaN for a head that attends to all alike.
    Columns: stream, layer, (call,) head, rho.
    """
    tables = []
    sites = [site for site in left.trace.sites if site.stream in left.streams]
    for site in sites:
        attention = received(left, site)
        rhos = spearman(attention, np.broadcast_to(np.array(left.changes), attention.shape))
        table = pd.DataFrame(
            {"stream": site.stream, "layer": site.layer, "head": range(site.heads), "rho": rhos},
        )
        tables.append(with_call(table, site, sites))
    return pd.concat(tables, ignore_index=True)


def chance(count: int, *, heads: int) -> tuple[float, float]:
    """Draw orders at random: the |rho| of `count` tokens that 5 % of unrelated heads exceed, and the rho that the best
    of `heads` unrelated, independent heads reaches in half of all texts."""
    generator = np.random.default_rng(0)
    order = np.arange(count)
    orders = generator.permuted(np.tile(order, (20_000, 1)), axis=1)
    rhos = 1 - 6 * np.square(orders - order).sum(axis=1) / (count * (count**2 - 1))
    return float(np.quantile(np.abs(rhos), 0.95)), float(np.quantile(rhos, 0.5 ** (1 / heads)))


def seconds(loaded: LoadedModel, trace: Trace) -> float:
    """Time a run of the model on the text: the shorter of two, for the first may wake the model."""
    times = []
    for _ in range(2):
        began = perf_counter()
        _without(loaded, trace, [len(trace.encoding) - 1])
        times.append(perf_counter() - began)
    return min(times)


# --- running without a token -------------------------------------------------------------------------------------


def _batches(places: Sequence[int], *, length: int) -> Iterator[list[int]]:
    """Split the positions into batches; the first token is left out alone, for a text that begins with padding may be
    counted from its first real token."""
    size = max(1, _AT_ONCE // length)
    if places[0] == 0:
        yield [0]
        places = places[1:]
    for start in range(0, len(places), size):
        yield list(places[start : start + size])


@torch.inference_mode()
def _without(loaded: LoadedModel, trace: Trace, places: Sequence[int], *, ids: Tensor | None = None) -> Tensor:
    """Run the text once for each position, its token hidden: last hidden states [B, Q, D]."""
    encoding, count = trace.encoding, len(places)
    given = torch.tensor([encoding.ids] * count) if ids is None else ids
    keep = torch.ones_like(given, dtype=torch.bool)
    keep[torch.arange(count), list(places)] = False
    if loaded.run_pair is not None and trace.target is not None:
        return loaded.run_pair(given, keep, torch.tensor([trace.target.ids] * count))
    return loaded.run(given, keep, torch.tensor([encoding.segments] * count))


def _check_hides(loaded: LoadedModel, trace: Trace, place: int) -> None:
    """Raise ValueError where another token in a hidden place gives the others other states."""
    other = next((id for id in trace.encoding.ids if id != trace.encoding.ids[place]), trace.encoding.ids[place])
    ids = torch.tensor([trace.encoding.ids] * 2)
    ids[1, place] = other
    original, swapped = _without(loaded, trace, [place] * 2, ids=ids).double()
    difference = (original - swapped).abs()
    if trace.target is None:
        difference[place] = 0
    largest = float(difference.max())
    if largest > _LEAK * max(1.0, float(original.abs().max())):
        raise ValueError(
            f"a token that is hidden from {loaded.card.id} as padding still changes the others, by up to "
            f"{largest:.2g}, so none can be left out; choose a model that masks its padding"
        )


def _turned(
    loaded: LoadedModel, trace: Trace, after: Tensor, *, places: Sequence[int], query: int | None
) -> Iterator[float]:
    before = trace.hidden.double()
    for place, states in zip(places, after.double(), strict=True):
        turned = 1 - torch.cosine_similarity(before, states, dim=-1)  # [Q]
        if query is not None:
            yield max(float(turned[query]), 0.0)
            continue
        seeing = torch.ones(len(turned), dtype=torch.bool)
        if trace.target is None:
            seeing[place] = False
        if loaded.shape == "decoder":
            seeing[:place] = False
        yield max(float(turned[seeing].mean()), 0.0)


def _predictions(loaded: LoadedModel, before: Tensor, after: Tensor) -> list[tuple[float, float]]:
    """Divergence in bits and total variation of the predictions: states [D] before, [B, D] after."""
    assert loaded.predict is not None
    with torch.inference_mode():
        logs = loaded.predict(torch.cat([before[None].to(after), after])[None])[0].double().log_softmax(dim=-1)
    p, q = logs[0], logs[1:]
    bits = (p.exp() * (p - q)).sum(dim=-1) / np.log(2)
    variation = (p.exp() - q.exp()).abs().sum(dim=-1) / 2
    return list(zip(bits.clamp(min=0).tolist(), variation.tolist(), strict=True))
