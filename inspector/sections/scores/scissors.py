"""Scissors: a path is cut, and its promised effect stands beside the real one; the page What if shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from inspector.plots import patching as draw
from inspector.plots.chart import Chart
from inspector.sections.picks import ClickedWords, Line, Named, Option
from inspector.sections.scores.two_texts import AGAINST, ANSWER, NEED, hidden
from inspector.sections.section import (
    Ask,
    Block,
    Choice,
    Choices,
    Figure,
    File,
    Files,
    Note,
    Number,
    Numbers,
    Paragraph,
    Section,
    Sentence,
    Table,
)
from inspector.text import named, signed, token_name
from inspector.wording import patching as words
from models import failures

if TYPE_CHECKING:
    from inspector.patching import Cut, Uncut
    from inspector.plots.theme import Mode
    from inspector.sections.subject import Subject

AT_ONCE = 1.0  # seconds: heads that take longer are cut when asked for
MOST = 20  # kept cuts


def answer(subject: Subject, **chosen: Any) -> Iterator[Block]:
    """Yield what a cut takes beside what was promised, the cuts that were kept, and each head cut alone."""
    try:
        yield from _answer(subject, **chosen)
    except ValueError as error:
        raise ValueError(words.refused(str(error))) from None


def _answer(
    subject: Subject,
    *,
    answer: str,
    against: str,
    writer: str,
    reader: str,
    norms: str,
    instead: str,
    cuts: str,
) -> Iterator[Block]:
    from inspector import patching

    loaded = subject.model
    uncut = _uncut(subject, answer, against)
    one = _cut(uncut, writer, reader, norms)
    other = _other(subject, uncut, instead)
    notation = patching.write(one, stream=uncut.runs.last)
    with failures.told(words.CUTTING, instead=words.ANOTHER):
        row = _measured(subject, uncut, one, other).iloc[0]
    measured = words.asked(*uncut.answer.named(loaded.tokenizer))
    named = words.cut(str(row["writer"]), str(row["reader"]), str(row["cut"]))
    effect, promised = float(row["effect"]), float(row["promise"])
    told = words.cut_took(named, measured, effect=effect, promise=promised, patched=other is not None)
    yield Sentence(told, ("logit",))
    yield _numbers(row)
    score = _score(subject, uncut, one) if other is None else ""
    if score:
        yield Paragraph(score)
    lines = [line for line in cuts.split(";") if line]
    chosen = ";".join(dict.fromkeys([*lines, notation]))
    more = [Choice("keep-cut", words.KEEP, {"cuts": chosen})] if notation not in lines and len(lines) < MOST else []
    yield Choices((*more, *([Choice("forget-cuts", words.EMPTY, {"cuts": None})] if lines else [])))
    code = _code(subject, answer, against)
    if lines:
        yield from _kept(subject, uncut, lines, code, other)
    yield replace(EACH, answer=partial(_each, uncut=uncut, asked=(answer, against), code=code))
    yield Note(words.SCISSORS_NOTE)


def _uncut(subject: Subject, answer: str, against: str) -> Uncut:
    from inspector import patching

    def make() -> Uncut:
        trace, less = subject.trace, against or None
        return patching.read(subject.model, trace, answer=answer or None, against=less, hidden=hidden(subject))

    return subject.of_text(("uncut", answer, against), make)


def _cut(uncut: Uncut, writer: str, reader: str, norms: str) -> Cut:
    """The cut that the controls say."""
    from inspector import patching

    line = f"{writer} {reader}" if reader.startswith("without") else f"{writer} -> {reader}"
    reads = reader not in ("zero", "mean") and not reader.startswith("without")
    return patching.parse(line + (", norms held" if reads and norms == "held" else ""), stream=uncut.runs.last)


def _other(subject: Subject, uncut: Uncut, instead: str) -> Uncut | None:
    """The text whose writes stand on cut edges; None where nothing does."""
    from inspector import patching

    if not instead.strip():
        return None
    asked, lengths = uncut.answer, [len(uncut.trace.encoding), len(subject.model.encode(instead))]
    if lengths[0] != lengths[1]:
        raise ValueError(words.not_as_long(*lengths))

    def make() -> Uncut:
        target, against = uncut.trace.target_text, asked.against
        return patching.read(
            subject.model,
            instead,
            answer=asked.token,
            against=against,
            position=asked.position,
            target=target,
            hidden=hidden(subject),
        )

    return subject.of_text(("instead", asked, instead), make)


def _measured(subject: Subject, uncut: Uncut, one: Cut, other: Uncut | None) -> pd.DataFrame:
    from inspector import patching

    text = None if other is None else other.trace.text
    return subject.of_text(("cut", uncut.answer, one, text), lambda: patching.measure_cuts(uncut, [one], instead=other))


def _numbers(row: pd.Series) -> Numbers:
    numbers = [
        Number(words.BEFORE, signed(row["before"]), words.ANSWER_BEFORE),
        Number(words.AFTER, signed(row["after"]), words.ANSWER_AFTER),
        Number(words.EFFECT, signed(row["effect"]), words.EFFECT_MEANS),
    ]
    if not isnan(row["promise"]):
        numbers.insert(2, Number(words.PROMISE, signed(row["promise"]), words.PROMISE_MEANS))
        numbers.append(Number(words.GAP, signed(row["effect"] - row["promise"]), words.GAP_MEANS))
    return Numbers(tuple(numbers))


def _score(subject: Subject, uncut: Uncut, one: Cut) -> str:
    """Say what an edge into a query or a key does to the score of the cell that the head weighs most."""
    from inspector import patching

    if not isinstance(one, patching.EdgeCut) or one.reader.part not in ("query", "key"):
        return ""
    reader = one.reader
    head = uncut.kv_heads(reader)[0]
    site = uncut.trace.record_of(reader.layer, reader.stream, call=reader.call).site
    query = min(uncut.answer.position, len(site.queries) - 1)
    weights = uncut.trace.attention(layer=reader.layer, head=head, stream=reader.stream, call=reader.call)[query]
    key = int(weights.argmax())
    change = subject.of_text(
        ("score cut", one, query, key),
        lambda: patching.score_change(uncut, one, head=head, query=query, key=key),
    )
    return words.score_took(
        head=words.head_named(reader.layer, head),
        query=named(site.queries, query),
        key=named(site.keys, key),
        before=change.before,
        after=change.after,
        promise=change.promise,
        weights=change.weights,
    )


def _kept(subject: Subject, uncut: Uncut, cuts: list[str], code: str, other: Uncut | None) -> Iterator[Block]:
    from inspector import patching

    stream = uncut.runs.last
    parsed = [patching.parse(line, stream=stream) for line in cuts]
    table = pd.concat([_measured(subject, uncut, one, other) for one in parsed], ignore_index=True)
    code = f"{code}cuts = [inspector.patching.parse(line, stream={stream!r}) for line in {cuts!r}]\n"
    if other is not None:
        asked = f"answer={other.answer.token}, against={other.answer.against}, position={other.answer.position}"
        code += f"other = inspector.patching.read(loaded, {other.trace.text!r}, {asked})\n"
    code += f"table = inspector.patching.measure_cuts(uncut, cuts{'' if other is None else ', instead=other'})"
    layers = len(uncut.runs.layers[stream])
    edges = [_edge(one, effect, layers=layers) for one, effect in zip(parsed, table["effect"], strict=True)]
    yield Figure(
        "kept-cuts",
        words.KEPT,
        partial(draw.cuts, edges, layers=layers),
        words.KEPT_ALT,
        code,
        table,
    )
    yield Table("kept-table", table, words=words.TABLE_WORDS, folded=False)

    def as_json(mode: Mode) -> str:
        rows = json.loads(table.to_json(orient="records"))
        for line, row in zip(cuts, rows, strict=True):
            row["notation"] = line
        answer, against = uncut.answer.named(subject.model.tokenizer)
        asked = {"answer": answer, "against": against, "position": uncut.answer.position}
        about = {"model": uncut.trace.model, "text": uncut.trace.text, **asked}
        return json.dumps(about | {"cuts": rows}, indent=2)

    yield Files((File("kept-cuts.json", as_json, words.KEPT_JSON, "JSON"),))


def _edge(one: Cut, effect: float, *, layers: int) -> draw.CutEdge:
    """A cut as an edge of the graph: readers stand a little below their layer's writers."""
    from inspector import patching

    name = patching.write(one)
    if isinstance(one, patching.EdgeCut):
        begins = -1 if one.writer.layer is None else one.writer.layer
        ends = layers if one.reader.layer < 0 else one.reader.layer - 0.25
        return draw.CutEdge(
            (begins, patching.written_by(one.writer)), (ends, patching.read_by(one.reader)), name, effect
        )
    head = f"head {one.head.layer}.{one.head.head}"
    taken = name.partition(head)[2].removeprefix(" ->").strip()
    return draw.CutEdge((one.head.layer, head), (layers, taken), name, effect)


def _each(subject: Subject, *, uncut: Uncut, asked: tuple[str, str], code: str) -> Iterator[Block]:
    """Yield every head's promise beside its effect."""
    from inspector import patching

    runs = uncut.runs
    heads = sum(mixed.shape[1] for mixed in runs.mixed.values())
    seconds = runs.seconds * heads / (2 if runs.resumes else 1)
    if seconds > AT_ONCE:
        yield Ask("cut-each-start", words.CUT_EACH, words.long_heads(heads, seconds=seconds), asked)
    layers = sorted({place[1] for place in runs.mixed})
    tables = []
    with subject.progress(words.CUTTING_HEADS, unit=words.RUNS) as on_progress:
        for number, layer in enumerate(layers):
            on_progress(number, len(layers))
            make = partial(patching.cut_heads, uncut, layers=[layer])
            tables.append(subject.of_text(("each head cut", uncut.answer, layer), make))
    order = {place: number for number, place in enumerate(runs.mixed)}  # as `cut_heads` gives them
    table = pd.concat(tables, ignore_index=True)
    places = [order[place] for place in zip(table["stream"], table["layer"], table["call"], strict=True)]
    table = table.iloc[sorted(range(len(table)), key=places.__getitem__)].reset_index(drop=True)
    told = table.dropna(subset=["promise"])
    if len(told) > 2:
        rho = float(told["promise"].corr(told["effect"], method="spearman"))
        yield Paragraph(words.heads_agree(rho, heads=len(told)))
        yield Figure(
            "promise-and-effect",
            "",
            Chart(
                told.assign(name=[f"{layer}.{head}" for layer, head in zip(told["layer"], told["head"], strict=True)]),
                "promise",
                "effect",
                "points",
                parts={"effect": "attention"},
                hover={"name": words.HEAD},
                x_title=words.PROMISED_AXIS,
                y_title=words.EFFECT_AXIS,
                title=words.EACH,
                height=360,
            ),
            words.EACH_ALT,
            f"{code}table = inspector.patching.cut_heads(uncut).dropna(subset=['promise'])",
            told,
        )
    yield Table("each-head-table", table, words.ALL_HEADS, height=320)


def _code(subject: Subject, answer: str, against: str) -> str:
    more = "".join(f", {name}={value!r}" for name, value in (("answer", answer), ("against", against)) if value)
    more += f", hidden={hidden(subject)}" if hidden(subject) else ""
    return f"{subject.code}uncut = inspector.patching.read(loaded, trace{more})\n"


# --- what is chosen ---------------------------------------------------------------------------------------------------


def _writers(subject: Subject) -> Mapping[str, str]:
    """Every writer of the answer's stream: heads, FFNs, the embedding."""
    trace = subject.trace
    last = "decoder" if "decoder" in trace.streams else trace.streams[0]
    layers = sorted({site.layer for site in trace.sites_of(last)})
    lines = ["embedding"]
    for layer in layers:
        for site in trace.sites:
            if site.layer == layer and site.call == 0 and site.stream in (last, "cross"):
                prefix = "cross " if site.stream == "cross" else ""
                lines += [f"{prefix}head {layer}.{head}" for head in range(site.heads)]
        lines.append(f"ffn {layer}")
    return {line: line.capitalize().replace("Ffn", "FFN") for line in lines}


def _first_writer(subject: Subject) -> str:
    """The head that wrote most of the answer."""

    def make() -> str:
        from inspector import patching

        uncut = _uncut(subject, "", "")
        heads = [
            (abs(float(share)), writer)
            for writer, share in zip(uncut.split.writers, uncut.split.contributions, strict=True)
            if writer.kind == "head" and writer.call == 0
        ]
        if not heads:
            return "embedding"
        return patching.written_by(max(heads, key=lambda each: each[0])[1], stream=uncut.runs.last)

    return subject.of_text("first writer", make)


def _readers(subject: Subject) -> Mapping[str, str]:
    """List what can be cut: an edge into the logit, an FFN, a query, key or value; a head whole, or a column."""
    trace = subject.trace
    last = "decoder" if "decoder" in trace.streams else trace.streams[0]
    options = {"logit": words.INTO_LOGIT, "zero": words.TO_ZERO, "mean": words.TO_MEAN}
    for place, token in enumerate(trace.encoding.tokens):
        options[f"without {place}"] = words.column(token_name(token), place)
    for site in trace.sites_of(last):
        if site.call:
            continue
        for head in range(site.heads):
            options[f"query {site.layer}.{head}"] = words.into(f"query {site.layer}.{head}")
        kv_heads = site.kv_heads or site.heads
        group = site.heads // kv_heads
        for part in ("key", "value"):
            for head in range(kv_heads):
                heads = tuple(range(head * group, (head + 1) * group))
                options[f"{part} {site.layer}.{head}"] = words.into(
                    words.kv_readers(f"{part} {site.layer}.{head}", heads)
                )
        options[f"ffn {site.layer}"] = words.into(f"FFN {site.layer}")
    return options


WRITER = Named("writer", words.WRITER, _writers, _first_writer, width=180)
READER = Named("reader", words.READER, _readers, lambda subject: "logit", width=260)
NORMS = Option("norms", words.NORMS, lambda subject: words.LIVE, look="list", width=140)
INSTEAD = Line("instead", words.INSTEAD, lambda subject: "", 400, help=words.INSTEAD_HELP, width=400)
KEPT = ClickedWords("cuts", words.KEPT, r"[a-z0-9 .,;>-]{0,2000}")
EACH = Section("each-head-cut", words.EACH, _each, long=True)
SECTION = Section(
    "scissors",
    words.SCISSORS,
    answer,
    (WRITER, READER, NORMS, ANSWER, AGAINST, INSTEAD, KEPT),
    needs_model=True,
    long=True,
    parts=(EACH,),
    need=NEED,
)
