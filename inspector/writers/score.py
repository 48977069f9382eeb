"""A score by its writers: q . k = sum over (who wrote the query's side) x (who wrote the key's side).

q = x A + b, and x is a sum of writers, so q is a sum of w A; k alike. A score is then a sum over pairs, exact but for
rounding: RoPE, q/k norms (their scales held), biases and the scale are inside A.

Shapes: N writers of the query's side, M of the key's, D width, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from inspector import block, explain
from inspector.probe.projections import Role
from inspector.trace import AttentionRecord, AttentionSite, Trace
from inspector.writers import residual
from inspector.writers.residual import Floats, Inside, Writer, look_inside
from models import LoadedModel
from models.attention.functions import ComposedAttention
from models.attention.relative import ShawScore, XlScore, clipped
from models.attention.scores import DotScore, GeneralScore

KINDS: dict[str, str] = {
    **{"embedding": "word", "positions": "place", "distance": "place", "head": "attention", "attention": "attention"},
    **{"ffn": "FFN", "bias": "constant", "beta": "constant"},
}
"""Kinds of writers by what they tell of a token: the word, where it stands, what layers below wrote, or nothing."""


@dataclass(frozen=True, eq=False)
class ScoreWriters:
    """One score as a sum over pairs of writers.

    queries, keys: who wrote each side, in the order of `matrix` [N, M], which holds what each pair gives, scale inside.
    added: what the function adds beside q . k: a bias for the distance, a sigmoid's -ln n, less the row's largest
    score. before: the score that the pairs and `added` sum up to, computed from the recorded query and key. recorded:
    the softmax's input in the map; where there is a soft-cap `cap`, it is `before` behind the cap.
    """

    layer: int
    head: int
    query: int
    key: int
    stream: str
    call: int
    queries: tuple[Writer, ...]
    keys: tuple[Writer, ...]
    matrix: Floats
    added: float
    before: float
    recorded: float
    cap: float | None

    @property
    def total(self) -> float:
        """The sum over all pairs, and of what the function adds."""
        return float(self.matrix.sum() + self.added)

    def pairs(self, *, most: int | None = None) -> pd.DataFrame:
        """List the pairs, the largest first: rank, query_ and key_ with each of `residual.table`, contribution.

        most: how many; None for all.
        """
        order = np.argsort(-np.abs(self.matrix), axis=None, kind="stable")[:most]
        of_query, of_key = np.unravel_index(order, self.matrix.shape)
        sides = (("query", self.queries, of_query), ("key", self.keys, of_key))
        tables = [
            residual.table([writers[place] for place in places]).add_prefix(f"{name}_")
            for name, writers, places in sides
        ]
        contribution = pd.Series(self.matrix.ravel()[order], name="contribution")
        return pd.concat([pd.Series(range(len(order)), name="rank"), *tables, contribution], axis=1)

    def by_kind(self) -> pd.DataFrame:
        """Sum the pairs by what wrote each side (KINDS), the largest first: query, key, contribution."""
        query, key = ([KINDS[writer.kind] for writer in side] for side in (self.queries, self.keys))
        pairs = {
            "query": np.repeat(query, len(key)),
            "key": np.tile(key, len(query)),
            "contribution": self.matrix.ravel(),
        }
        sums = pd.DataFrame(pairs).groupby(["query", "key"], as_index=False, sort=False).sum()
        return sums.sort_values("contribution", key=np.abs, ascending=False, ignore_index=True)

    def sources(self) -> pd.DataFrame:
        """Sum the opened head's pairs by the token that it read: source and contribution, a row a token."""
        sides = [self.side("query"), self.side("key")]
        return pd.concat(sides).dropna(subset="source")[["source", "contribution"]].reset_index(drop=True)

    def side(self, role: Role) -> pd.DataFrame:
        """List the writers of one side, "query" or "key": the columns of `residual.table` and contribution.

        contribution: the sum of a writer's pairs. What `added` is stands in no row.
        """
        writers, axis = (self.queries, 1) if role == "query" else (self.keys, 0)
        return residual.table(writers).assign(contribution=self.matrix.sum(axis=axis))


def of_score(
    trace: Trace,
    loaded: LoadedModel,
    *,
    layer: int,
    head: int,
    query: int,
    key: int,
    stream: str | None = None,
    call: int = 0,
    opened: tuple[Role, Writer] | None = None,
    inside: Inside | None = None,
) -> ScoreWriters:
    """Tell who wrote the score of a query and a key.

    opened: ("query" or "key", a head among that side's writers) splits this head by the tokens that it read. inside:
    what `look_inside` gave, where several questions are asked about a text.

    Raises ValueError for what is out of range or hidden from the query; where a block, a projection or a score function
    is not followed; and where the pairs do not sum up to the score.
    """
    record = trace.record_of_head(layer, head, stream, call=call)
    site = record.site
    if not record.query.shape[-1]:
        raise ValueError(f"the queries and keys of {trace.model}'s attention were not seen: {block.UNSEEN}")
    inside = look_inside(trace, loaded) if inside is None else inside
    cell = explain.why(trace, layer=layer, head=head, query=query, key=key, stream=site.stream, call=call)
    if cell.hidden is not None:
        raise ValueError(f"query {query} does not see key {key}: it is {cell.hidden}, so nobody wrote a score")
    form = _form(record, query, key, model=trace.model)
    of, writer = ("", None) if opened is None else opened
    of_query, of_key = (writer if of == role else None for role in ("query", "key"))
    q = side(inside, site, head=head, position=query, role="query", opened=of_query)
    k = side(inside, site, head=head, position=key, role="key", opened=of_key)
    if writer is not None and not any(each.source is not None for each in (*q.writers, *k.writers)):
        raise ValueError(f"{writer} is no head among the writers of the {of}'s side")
    (queries, left), (keys, right) = form.query(q), form.key(k)
    matrix = form.factor * left @ right.T
    values = {step.name: step for step in cell.steps}
    added = sum(step.operand or 0.0 for name in ("bias", "keys") if (step := values.get(name)) is not None)
    shift = _shift(trace, cell)
    added += shift
    cap = values["soft-cap"].operand if "soft-cap" in values else None
    before = values["scale"].value + added
    made = ScoreWriters(
        *(layer, head, query, key, site.stream, call),
        *(queries, keys, matrix, added, before),
        recorded=cell.score + shift,
        cap=cap,
    )
    row = cell.row[-3]  # the scores of the query's keys
    largest = max(float(np.abs(row[np.isfinite(row)]).max()), float(np.linalg.norm(cell.q) * np.linalg.norm(cell.k)))
    if abs(made.total - before) > inside.allowed * largest:
        raise ValueError(
            f"the writers of {trace.model}'s {site.stream} {site.name}, head {head}, sum up to {made.total:.6g}, and "
            f"the score is {before:.6g}: more happens to it than is followed"
        )
    return made


def _shift(trace: Trace, cell: explain.Explanation) -> float:
    """Compute what a function adds to all scores of a row alike, which moves no weight: less the largest (gpt-oss).

    Raises ValueError where the row is rebuilt in no such way.
    """
    site, row = cell.site, cell.row[-3]
    rows = slice(cell.query, cell.query + 1)
    place = {"layer": site.layer, "head": cell.head, "stream": site.stream, "call": site.call}
    recorded = trace.window(**place, queries=rows, keys=slice(None), kind="scores")[0]  # type: ignore[arg-type]
    seen = np.isfinite(row) & np.isfinite(recorded)
    apart = recorded[seen] - row[seen]
    largest = max(float(np.abs(row[seen]).max()), 1e-30)
    digits = torch.finfo(trace.record_of(site.layer, site.stream, call=site.call).query.dtype).eps
    allowed = max(residual.TOLERANCE, 8 * digits if digits > 1e-5 else 0.0) * largest
    if np.abs(apart - apart.mean()).max() > allowed:
        raise ValueError(
            f"the scores of {trace.model}'s {site.stream} {site.name}, head {cell.head}, are not those of its queries "
            f"and keys: they differ by {np.abs(apart).max():.2g}, so they do not split into their writers"
        )
    return float(apart.mean()) if abs(apart.mean()) > allowed else 0.0


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a score: its writers, and what each of them writes into the head's query or key, float64 [N, E]."""

    writers: tuple[Writer, ...]
    into: Floats


def side(
    inside: Inside, site: AttentionSite, *, head: int, position: int, role: Role, opened: Writer | None = None
) -> Side:
    """Tell who wrote a head's query, key or value at a token. Raises ValueError as `of_score` does."""
    layer, stream, call = site.layer, site.stream, site.call
    projection = inside.projections(layer=layer, stream=stream, call=call).of(role, head=head, position=position)
    reads = "decoder" if stream == "cross" else stream
    part = "cross" if stream == "cross" else "attention"
    if stream == "cross" and role != "query":
        state = residual.written(inside, stream="encoder", position=position, opened=opened)
        placed = [norm for norm in inside.trace.norms if norm.stream == "encoder" and norm.placement == "final"]
    else:
        state = residual.written(inside, stream=reads, position=position, before=(layer, part, call), opened=opened)
        placed = [norm for norm in inside.trace.norms if (norm.stream, norm.layer) == (reads, layer)]
        placed = [norm for norm in placed if norm.placement == "pre"]
    what = f"what the attention of the {stream} projects"
    written = residual.entered(inside, state, placed, projection.input, position, what=what)
    biases = [Writer("bias", stream, layer, call=call, name=name) for name, _ in projection.biases]
    into = [written.vectors @ projection.weight, *(vector[None] for _, vector in projection.biases)]
    return Side((*written.writers, *biases), np.concatenate(into))


# --- how a function compares ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """The way in which a score compares: factor * (sum of columns of query(side) * key(side)).

    between: W of Luong's score. distance: what a key has added (Shaw). ends: u, v and r of Transformer-XL, whose score
    is (q + u) . k + (q + v) . r.
    """

    factor: float
    between: Floats | None = None
    distance: Floats | None = None
    ends: tuple[Floats, Floats, Floats] | None = None

    def query(self, side: Side) -> tuple[tuple[Writer, ...], Floats]:
        """Give the writers of the query's side and what each brings to the product, [N, columns]."""
        into = side.into if self.between is None else side.into @ self.between
        if self.ends is None:
            return side.writers, into
        u, v, _ = self.ends
        both = np.concatenate([into, into], axis=1)
        nothing = np.zeros_like(u)
        added = [np.concatenate([u, nothing]), np.concatenate([nothing, v])]
        return (*side.writers, _distance(side, "u"), _distance(side, "v")), np.concatenate([both, added])

    def key(self, side: Side) -> tuple[tuple[Writer, ...], Floats]:
        """Give the writers of the key's side and what each brings to the product, [M, columns]."""
        if self.distance is not None:
            return (*side.writers, _distance(side, "a")), np.concatenate([side.into, self.distance[None]])
        if self.ends is None:
            return side.writers, side.into
        r = self.ends[2]
        padded = np.concatenate([side.into, np.zeros_like(side.into)], axis=1)
        far = np.concatenate([np.zeros_like(r), r])
        return (*side.writers, _distance(side, "r")), np.concatenate([padded, far[None]])


def _distance(side: Side, name: str) -> Writer:
    return Writer("distance", side.writers[0].stream, name=name)


def _form(record: AttentionRecord, query: int, key: int, *, model: str) -> _Form:
    """Read how a head's function compares. Raises ValueError for a score that is no product of query and key."""
    function = record.function
    score = function.score if isinstance(function, ComposedAttention) else DotScore()
    factor = function.factor if isinstance(function, ComposedAttention) else explain.scale_of(record)
    if factor is not None:
        match score:
            case DotScore():
                return _Form(factor)
            case GeneralScore():
                return _Form(factor, between=_numbers(score.weight[0]))
            case ShawScore():
                rows = slice(query, query + 1)
                apart = clipped(rows, key + 1, offset=score.offset, table=score.table)[0, key]
                return _Form(factor, distance=_numbers(score.table[apart]))
            case XlScore():
                behind = max(score.offset + query - key - score.first, 0)
                u, v, r = score.content[0], score.place[0], score.far[0, behind]
                return _Form(factor, ends=(_numbers(u), _numbers(v), _numbers(r)))
    raise ValueError(
        f"the score of {model}'s {record.site.stream} {record.site.name} is no product of a query and a key that is "
        "known, so it does not split into their writers"
    )


def _numbers(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().double().cpu().numpy()
    return array
