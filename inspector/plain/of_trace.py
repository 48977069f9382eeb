"""Documents of a recorded text: what was read, what each head does, one head's map, one cell, norms, two heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from inspector import compare, explain, normalization
from inspector import heads as measuring
from inspector.plain.values import document, matrix, table

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, Trace

Quantity = Literal["weights", "scores"]


class HeadPlace(NamedTuple):
    """A head of a recorded text. stream: may be None where there is one."""

    trace: Trace
    layer: int
    head: int
    stream: str | None = None
    call: int = 0

    @property
    def site(self) -> AttentionSite:
        """The attention call of the head; ValueError where there is none."""
        return self.trace.record_of_head(self.layer, self.head, self.stream, call=self.call).site

    def about(self) -> dict[str, Any]:
        """Name the head."""
        site = self.site
        return {"stream": site.stream, "layer": site.layer, "call": site.call, "head": self.head}


def about(trace: Trace) -> dict[str, Any]:
    """Say what was read: the model's id, the texts, how many tokens, and what did not fit."""
    return {
        "model": trace.model,
        "text": trace.text,
        "text_pair": trace.text_pair,
        "target_text": trace.target_text,
        "tokens": len(trace.tokens),
        "unknown": trace.unknown,
        "cut": None if trace.cut is None else str(trace.cut),
    }


def recording(trace: Trace, *, file: str | None = None) -> dict[str, Any]:
    """Return what was recorded: tokens, every attention call, every other mixer, norms. file: where it was saved."""
    columns = ["stream", "layer", "call", "heads", "kv_heads", "queries", "keys", "window"]
    sites = [
        (site.stream, site.layer, site.call, site.heads, site.kv_heads, len(site.queries), len(site.keys), site.window)
        for site in trace.sites
    ]
    mixers = [(site.kind, site.stream, site.layer, site.heads, len(site.queries)) for site in trace.mixer_sites]
    return document(
        "recording",
        recording=about(trace),
        tokens=trace.tokens,
        special=trace.special,
        target_tokens=None if trace.target is None else trace.target.tokens,
        sites=table(pd.DataFrame(sites, columns=columns, dtype=object)),
        mixers=table(pd.DataFrame(mixers, columns=["kind", "stream", "layer", "heads", "queries"], dtype=object)),
        norms=len(trace.norms),
        refused=[{"what": refusal.what, "name": refusal.name, "reason": refusal.reason} for refusal in trace.refused],
        file=file,
    )


def heads(trace: Trace, *, by: str | None = None, most: int | None = None) -> dict[str, Any]:
    """Return the measures of every head, as `inspector.heads.measure` names them, and a label where a rule finds one.

    by: the measure by which heads are sorted, the largest first; most: rows that are kept. Raises ValueError for a
    measure that there is not, and for a model without softmax attention.
    """
    measures = measuring.measure(trace)
    labelled = measures.assign(label=measuring.with_choice(measures, trace)["label"])
    if by is not None:
        names = [str(name) for name in measures.columns.drop(["stream", "layer", "head", "call"], errors="ignore")]
        if by not in names:
            raise ValueError(f"there is no measure {by[:60]!a}; there are {', '.join(names)}")
        labelled = labelled.sort_values(by, ascending=False, kind="stable", na_position="last", ignore_index=True)
    return document("heads", recording=about(trace), heads=table(labelled, most=most))


def head_map(
    place: HeadPlace,
    quantity: Quantity = "weights",
    *,
    queries: slice = slice(None),
    keys: slice = slice(None),
    cells: int | None = None,
) -> dict[str, Any]:
    """Return a map of a head, [queries, keys], or a window of it, with the tokens' names.

    quantity: "weights" (behind the softmax) or "scores" (before it; masked ones are "-Infinity"). queries, keys:
    numpy's slices, without a step. cells: the most that may be given. Raises ValueError for more cells, for a window
    that holds nothing, and for a head that there is not.
    """
    site = place.site
    rows, columns = (range(len(tokens))[chosen] for tokens, chosen in ((site.queries, queries), (site.keys, keys)))
    if not rows or not columns:
        raise ValueError(f"the window holds no cell: the map has {len(site.queries)} queries and {len(site.keys)} keys")
    if cells is not None and len(rows) * len(columns) > cells:
        raise ValueError(
            f"the map has {len(site.queries):,} queries and {len(site.keys):,} keys, and at most {cells:,} cells are "
            "given at once: choose a window of queries and keys"
        )
    down, across = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    values = place.trace.window(
        layer=place.layer,
        head=place.head,
        stream=site.stream,
        call=place.call,
        kind=quantity,
        queries=down,
        keys=across,
    )
    return document(
        "map",
        recording=about(place.trace),
        **place.about(),
        quantity=quantity,
        shape=(len(site.queries), len(site.keys)),
        first_query=rows.start,
        first_key=columns.start,
        queries=site.queries[down],
        keys=site.keys[across],
        predicts=None if site.predicts is None else site.predicts[down],
        values=matrix(values),
    )


def cell(place: HeadPlace, *, query: int, key: int) -> dict[str, Any]:
    """Return why one query gives one key its weight: each step from q . k to the weight, in float64.

    difference: the rebuilt weight less the recorded one. Raises ValueError for a query or a key out of range.
    """
    site = place.site
    explanation = explain.why(
        place.trace, layer=place.layer, head=place.head, query=query, key=key, stream=site.stream, call=place.call
    )
    return document(
        "cell",
        recording=about(place.trace),
        **place.about(),
        query={"position": query, "token": site.queries[query]},
        key={"position": key, "token": site.keys[key]},
        steps=table(explain.way(explanation)),
        score=explanation.score,
        weight=explanation.weight,
        recorded=explanation.recorded,
        difference=explanation.difference,
        rank=explanation.rank,
        seen=explanation.seen,
        hidden=explanation.hidden,
    )


def norms(trace: Trace, *, most: int | None = None) -> dict[str, Any]:
    """Return each norm's statistics as means over the tokens, as `inspector.normalization.statistics` names them."""
    every = normalization.statistics(trace)
    places = every.groupby("norm")[["name", "stream", "layer", "part"]].first()
    numbers = every.groupby("norm")[[name for name in every if str(name).rpartition("_")[2] in ("before", "after")]]
    return document("norms", recording=about(trace), norms=table(places.join(numbers.mean()), most=most))


def comparison(a: HeadPlace, b: HeadPlace) -> dict[str, Any]:
    """Return how far two heads' maps differ between the tokens that both texts have, in order.

    Numbers are those of `inspector.compare.Difference`, means over the queries. Raises ValueError where no token is
    shared.
    """
    pairs = [
        np.array(compare.shared(of_a, of_b), dtype=np.intp).reshape(-1, 2)
        for of_a, of_b in ((a.site.queries, b.site.queries), (a.site.keys, b.site.keys))
    ]
    if not all(map(len, pairs)):
        raise ValueError("the two texts have no token in common, so no cell of their maps can be compared")
    maps = [
        place.trace.attention(place.layer, place.head, stream=place.site.stream, call=place.call)[
            np.ix_(*(shared[:, side] for shared in pairs))
        ]
        for side, place in enumerate((a, b))
    ]
    queries, keys = (
        tuple(tokens[at] for at in shared[:, 0])
        for tokens, shared in zip((a.site.queries, a.site.keys), pairs, strict=True)
    )
    apart = compare.subtract(*maps, queries=queries, keys=keys)
    row, column = (int(at) for at in np.unravel_index(np.abs(apart.values).argmax(), apart.values.shape))
    return document(
        "comparison",
        a={"recording": about(a.trace), **a.about()},
        b={"recording": about(b.trace), **b.about()},
        shared={"queries": len(queries), "keys": len(keys)},
        jensen_shannon=apart.jensen_shannon,
        spearman=apart.spearman,
        entropy_change=apart.entropy_change,
        largest={
            "difference": apart.values[row, column],
            "query": queries[row],
            "key": keys[column],
            "a": maps[0][row, column],
            "b": maps[1][row, column],
        },
    )


def changed_heads(before: Trace, after: Trace, *, most: int | None = None) -> dict[str, Any]:
    """Return how far every head changed from one text to another of as many tokens, the most changed head first.

    Columns are those of `inspector.compare.changed_heads`, which raises ValueError for texts of two lengths.
    """
    changed = compare.changed_heads(before, after)
    return document("changed_heads", before=about(before), after=about(after), heads=table(changed, most=most))
