"""A score by its writers: which parts of the model wrote the query's side and the key's side, one step behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from inspector import probe, writers
from inspector.plots.chart import Chart
from inspector.plots.writers import PairLines
from inspector.sections.picks import Named, Token
from inspector.sections.scores.open_head import HEAD, OpenHead
from inspector.sections.section import Block, Check, Choice, Choices, Figure, Mark, Note, Row, Section, Sentence, Table
from inspector.text import named, plain
from inspector.wording import writers as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject
    from inspector.trace import AttentionSite
    from inspector.writers import ScoreWriters, Writer

SHOWN, LISTED, LEADING = 10, 100, 6  # pairs as lines, pairs in the table, heads with a button
PARTS = {
    **{"head": "attention", "attention": "attention", "ffn": "ffn", "beta": "norm", "bias": "muted"},
    **{"embedding": "residual", "positions": "positions", "distance": "positions"},
}


def answer(subject: Subject, *, head: tuple[int, int, int], wrote_query: int, wrote_key: int) -> Iterator[Block]:
    """Yield the strongest pairs of writers of a score, and the heads behind which the reader can look."""
    opened = OpenHead.of(subject, head)
    site, trace = opened.site, subject.trace
    query, key = min(wrote_query, len(site.queries) - 1), min(wrote_key, len(site.keys) - 1)
    inside = look_inside(subject)
    place: dict[str, Any] = {
        **{"layer": site.layer, "head": opened.number, "query": query, "key": key},
        **{"stream": site.stream, "call": site.call},
    }
    score = subject.once(
        ("wrote", *place.values()), lambda: writers.of_score(trace, subject.model, **place, inside=inside)
    )
    pairs = score.pairs(most=LISTED)
    yield Sentence(said(score, pairs, site), ("residual stream", "q · k"), (Mark("wrote-pairs", {"rank": 0}),))
    call = f"score = inspector.writers.of_score(trace, loaded, {_arguments(place)}"
    code = f"{subject.code}{call})\ntable = score.pairs(most={SHOWN})"
    shown = pairs.head(SHOWN)
    heads = {_id(*head): head for head in _heads(score, pairs)}
    figure = Figure("wrote-pairs", words.PAIRS, lines(score, shown), words.PAIRS_ALT, code, shown)
    names = {id: _name(*head) for id, head in heads.items()}
    sources = replace(
        SOURCES,
        picks=(replace(OPENED, options=lambda subject: names),),
        answer=partial(_sources, heads=heads, score=score, site=site, place=place, call=call),
    )
    yield Row((figure, sources)) if heads else figure
    off = abs(score.total - score.before)
    scale = max(float(np.abs(score.matrix).max()), abs(score.before))
    count = score.matrix.size
    told = words.sums(pairs=count, total=score.total, score=score.before, cap=score.cap, recorded=score.recorded)
    yield Check(told, off <= inside.allowed * scale)
    buttons = tuple(_buttons(subject, score, pairs, site))
    if buttons:
        yield Choices((Choice("wrote-open", words.OPEN), *buttons))
    yield Note(words.HELD)
    if whole := next((writer.whole for writer in (*score.queries, *score.keys) if writer.whole), ""):
        yield Note(plain(f"{words.whole(1)}: {whole}."))
    yield Table("wrote-all-pairs", pairs)


def look_inside(subject: Subject) -> writers.Inside:
    """Record the inside of the layers, once for the text."""

    def make() -> writers.Inside:
        blocks = subject.of_text("blocks", lambda: probe.record_blocks(subject.model, subject.trace))
        return writers.look_inside(subject.trace, subject.model, blocks=blocks)

    return subject.of_text("writers", make)


def said(score: ScoreWriters, pairs: pd.DataFrame, site: AttentionSite) -> str:
    """Say what kinds of writers give most of the score, and which pair is the largest."""
    table, first = score.by_kind(), pairs.iloc[0]
    most = table.loc[(np.sign(score.before) * table["contribution"]).idxmax()]
    kinds = words.kinds(
        score=score.before,
        strongest=float(most["contribution"]),
        of_query=str(most["query"]),
        of_key=str(most["key"]),
        query=named(site.queries, score.query),
        key=named(site.keys, score.key),
    )
    largest = words.pair(
        strongest=float(first["contribution"]),
        of_query=words.writer(**_named(first, "query_")),
        of_key=words.writer(**_named(first, "key_")),
    )
    return f"{kinds} {largest}"


def lines(score: ScoreWriters, shown: pd.DataFrame) -> PairLines:
    """Draw the strongest pairs, and below them what the function adds and the sum of all other pairs."""
    names = {
        side: [words.short(**_named(row, f"{side}_"), stream=row[f"{side}_stream"]) for _, row in shown.iterrows()]
        for side in ("query", "key")
    }
    others = score.matrix.size - len(shown)
    rest = {words.rest(others): float(score.matrix.sum() - shown["contribution"].sum())} if others else {}
    if score.added:
        rest[words.ADDED] = score.added
    return PairLines(
        shown[["rank", "query_kind", "key_kind", "contribution"]].assign(**names),
        (words.QUERY_SIDE, words.KEY_SIDE),
        PARTS,
        rest,
        quantity=words.CONTRIBUTION,
        title=words.PAIRS,
    )


def _named(row: pd.Series, prefix: str = "") -> dict[str, Any]:
    layer, head = (None if pd.isna(row[prefix + name]) else int(row[prefix + name]) for name in ("layer", "head"))
    return {"kind": row[f"{prefix}kind"], "layer": layer, "head": head, "name": row[f"{prefix}name"]}


def _heads(score: ScoreWriters, pairs: pd.DataFrame) -> Iterator[tuple[str, Writer]]:
    """Yield the heads of the strongest pairs, each side's in the order of the pairs, each once."""
    known = {
        (role, writer.stream, writer.layer, writer.head, writer.call): writer
        for role, side in (("query", score.queries), ("key", score.keys))
        for writer in side
        if writer.kind == "head"
    }
    for _, row in pairs.iterrows():
        for role in ("key", "query"):
            if row[f"{role}_kind"] == "head":
                at = (role, *(row[f"{role}_{name}"] for name in ("stream", "layer", "head", "call")))
                writer = known.pop(at, None)
                if writer is not None:
                    yield role, writer


def _id(role: str, writer: Writer) -> str:
    """Write a head and the side that it wrote as the link has them: "key.decoder.3.2.0"."""
    return f"{role}.{writer.stream}.{writer.layer}.{writer.head}.{writer.call}"


def _name(role: str, writer: Writer) -> str:
    name = words.short(kind="head", layer=writer.layer, head=writer.head, name="", stream=writer.stream)
    return words.on_side(name, words.QUERY_SIDE if role == "query" else words.KEY_SIDE)


def _sources(
    subject: Subject,
    *,
    wrote_opened: str,
    heads: dict[str, tuple[str, Writer]],
    score: ScoreWriters,
    site: AttentionSite,
    place: dict[str, Any],
    call: str,
) -> Iterator[Block]:
    """Yield what a head gives, by the token that it read."""
    role, writer = heads[wrote_opened]
    inside = look_inside(subject)
    try:
        split = subject.once(
            ("wrote", *place.values(), role, writer),
            lambda: writers.of_score(
                subject.trace,
                subject.model,
                **place,
                opened=(role, writer),  # type: ignore[arg-type]
                inside=inside,
            ),
        )
    except ValueError as error:
        yield Note(plain(f"{error}."))
        return
    assert writer.layer is not None
    assert writer.head is not None
    at = score.query if role == "query" else score.key
    tokens = site.queries if role == "query" else site.keys
    table = split.sources()
    opened = f"inspector.writers.Writer('head', {writer.stream!r}, {writer.layer}, {writer.head}, {writer.call})"
    code = f"{subject.code}{call}, opened=({role!r}, {opened}))\ntable = score.sources()"
    read = inside.trace.record_of(writer.layer, writer.stream, call=writer.call).site.keys
    heading = words.source(layer=writer.layer, head=writer.head, token=named(tokens, at))
    chart = Chart(
        table.astype({"source": int}),
        "source",
        "contribution",
        "bars",
        tokens=read,
        y_title=words.CONTRIBUTION,
        title=heading,
        height=320,
    )
    yield Figure("wrote-sources", heading, chart, words.SOURCES_ALT, code, table)


def _buttons(subject: Subject, score: ScoreWriters, pairs: pd.DataFrame, site: AttentionSite) -> Iterator[Choice]:
    """Yield a button for each of the strongest heads, which opens the cell in which it read most."""
    for number, (role, writer) in enumerate(_heads(score, pairs)):
        if number == LEADING:
            return
        assert writer.layer is not None
        assert writer.head is not None
        query = score.query if role == "query" else score.key
        place = {"layer": writer.layer, "stream": writer.stream, "call": writer.call}
        rows = slice(query, query + 1)
        weights = subject.trace.window(head=writer.head, queries=rows, keys=slice(None), **place)[0]  # type: ignore[arg-type]
        key = int(weights.argmax())
        of = subject.trace.record_of(writer.layer, writer.stream, call=writer.call).site
        label = words.opens(layer=writer.layer, head=writer.head, query=of.queries[query], key=of.keys[key])
        chosen: dict[str, int | str | None] = {"layer": writer.layer, "call": writer.call or None, "head": writer.head}
        chosen |= {"wrote_query": query, "wrote_key": key}
        if writer.stream != site.stream:
            chosen["stream"] = writer.stream
        yield Choice(f"wrote-open-{number}", label, chosen)


def _arguments(place: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in place.items() if name != "call" or value)


def _queries(subject: Subject) -> tuple[str, ...]:
    return subject.trace.sites_of(subject.stream)[0].queries


def _keys(subject: Subject) -> tuple[str, ...]:
    return subject.trace.sites_of(subject.stream)[0].keys


OPENED = Named("wrote_opened", words.OPENED, lambda subject: {}, width=260)
SOURCES = Section("wrote-opened-head", "", lambda subject, **chosen: iter(()), (OPENED,))
SECTION = Section(
    "wrote",
    words.SCORE,
    answer,
    (
        HEAD,
        Token("wrote_query", words.QUERY, _queries, default=lambda subject: len(_queries(subject)) - 1),
        Token("wrote_key", words.KEY, _keys, default=0),
    ),
    needs_model=True,
    waits=words.WAITS,
    parts=(SOURCES,),
)
