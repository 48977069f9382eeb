"""A prediction by its writers: what each layer's parts, each head and each head's tokens add to a logit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from inspector import writers
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections.block import inside
from inspector.sections.head_link import to_map
from inspector.sections.picks import Clicked, Line, Token
from inspector.sections.section import Block, Check, Figure, Map, Mark, Need, Note, Row, Section, Sentence, Table
from inspector.text import named, plain
from inspector.wording import writers as words
from models.cards import WRITERS
from models.tokenizers import token_names

if TYPE_CHECKING:
    from inspector.sections.subject import Subject
    from inspector.writers import Inside, LogitWriters, Writer

PARTS = {"embedding": "residual", "attention": "attention", "cross": "k", "ffn": "ffn", "head": "prediction"}


def answer(subject: Subject, *, token: int, guess: str, against: str, wrote_head: int) -> Iterator[Block]:
    """Yield who wrote the lead of a token over another, by layer and part, by head, and by the tokens of a head."""
    model = subject.model
    if subject.stream != ("decoder" if "decoder" in inside.streams(subject) else "encoder"):
        yield Note(words.OTHER_STREAM, words.PREDICTION)
        return
    chosen, other = _tokens(subject, token, guess, against)
    within: Inside = subject.of_text(
        "writers", lambda: writers.look_inside(subject.trace, model, blocks=inside.blocks(subject))
    )
    logit = _ask(subject, within, token, chosen, other)
    call = f"{subject.code}logit = inspector.writers.of_logit(trace, loaded, position={token}, token={chosen!r}"
    call += f", against={other!r}"
    parts = logit.by_part()
    heads = [writer for writer in logit.writers if writer.kind == "head"]
    yield from _by_part(subject, logit, parts, heads, f"{call})\n")
    scale = max(float(np.abs(logit.contributions).max()), abs(logit.recorded))
    told = words.logit_sums(writers=len(logit.writers), total=logit.total, logit=logit.recorded)
    yield Check(told, abs(logit.total - logit.recorded) <= within.allowed * scale)
    if heads and wrote_head <= len(heads):
        yield _by_head(subject, logit, heads, within, call, opened=wrote_head - 1)
    yield Note(words.HELD_LOGIT)
    if whole := next((writer.whole for writer in logit.writers if writer.whole), ""):
        yield Note(plain(f"{words.whole(1)}: {whole}."))
    yield Table("wrote-all", logit.table())


def _tokens(subject: Subject, position: int, guess: str, against: str) -> tuple[int | str, int | str]:
    """Choose the token and the token it is set against: as typed, else the likeliest and the second."""
    predict = subject.model.predict
    assert predict is not None
    with torch.inference_mode():
        logits = predict(subject.trace.hidden[None, position : position + 1])[0, 0].float()
    likeliest = logits.topk(min(2, len(logits))).indices.tolist()
    return guess or likeliest[0], against or likeliest[-1]


def _ask(
    subject: Subject,
    within: Inside,
    position: int,
    token: int | str,
    against: int | str | None,
    opened: Writer | None = None,
) -> LogitWriters:
    """Ask who wrote a logit, once for the text."""
    return subject.once(
        ("wrote logit", position, token, against, opened),
        lambda: writers.of_logit(
            subject.trace,
            subject.model,
            position=position,
            token=token,
            against=against,
            opened=opened,
            inside=within,
        ),
    )


def _by_part(
    subject: Subject, logit: LogitWriters, parts: pd.DataFrame, heads: list[Writer], call: str
) -> Iterator[Block]:
    assert logit.against is not None
    first, second = token_names(subject.model.tokenizer, [logit.token, logit.against])
    sign = np.sign(logit.total) or 1.0
    most = parts.loc[(sign * parts["contribution"]).idxmax()]
    layer = None if pd.isna(most["layer"]) else int(most["layer"])
    text = words.predicted(
        token=first,
        against=second,
        total=logit.total,
        part=str(most["part"]),
        layer=layer,
        contribution=float(most["contribution"]),
    )
    where = {"part": str(most["part"]), **({} if layer is None else {"layer": layer})}
    yield Sentence(text, ("residual stream", "FFN"), (Mark("wrote-parts", where),))
    places = [
        words.NAMES[part] if pd.isna(layer) else f"{layer} {words.NAMES[part]}"
        for layer, part in zip(parts["layer"], parts["part"], strict=True)
    ]
    chart = Chart(
        parts.assign(place=range(len(parts))),
        "place",
        "contribution",
        "bars",
        each="part",
        parts=PARTS,
        places=places,
        y_title=words.LOGIT,
        title=words.PARTS,
        height=320,
    )
    opens = _strongest(logit, parts, heads)
    yield Figure(
        "wrote-parts",
        words.PARTS,
        chart,
        words.PARTS_ALT,
        f"{call}table = logit.by_part()",
        parts,
        note=words.OPENS_HEAD if opens else "",
        chooses=lambda bar: {"wrote_head": opens[bar] + 1} if bar in opens else {},
    )


def _strongest(logit: LogitWriters, parts: pd.DataFrame, heads: list[Writer]) -> dict[int, int]:
    """Number the head that writes most of each part that has heads, by the part's row."""
    shares = dict(zip(logit.writers, np.abs(logit.contributions), strict=True))
    attentions = parts[parts["part"].isin(("attention", "cross"))]
    places = zip(attentions["stream"], attentions["layer"], strict=True)
    rows = dict(zip(places, attentions.index, strict=True))
    strongest: dict[int, int] = {}
    for number, head in enumerate(heads):
        row = rows[head.stream, head.layer]
        if row not in strongest or shares[head] > shares[heads[strongest[row]]]:
            strongest[row] = number
    return strongest


def _by_head(
    subject: Subject, logit: LogitWriters, heads: list[Writer], within: Inside, call: str, *, opened: int
) -> Row:
    """Lay out what each head writes, beside what one of them read; a click opens another."""
    shares = dict(zip(logit.writers, logit.contributions, strict=True))
    rows = list(dict.fromkeys((writer.stream, writer.layer, writer.call) for writer in heads))
    values = np.full((len(rows), 1 + max(writer.head or 0 for writer in heads)), np.nan)
    places = [(rows.index((writer.stream, writer.layer, writer.call)), writer.head or 0) for writer in heads]
    for place, writer in zip(places, heads, strict=True):
        values[place] = shares[writer]
    at = opened if opened >= 0 else int(np.argmax([abs(shares[writer]) for writer in heads]))
    names = [f"L{layer}{' cross' if stream == 'cross' else ''}" for stream, layer, _ in rows]
    columns = [f"H{head}" for head in range(values.shape[1])]
    numbers = {place: number for number, place in enumerate(places)}
    code = f"{call})\ntable = logit.table()\ntable = table[table['kind'] == 'head']"
    picture = Map(
        "wrote-heads",
        words.HEADS,
        (Panel(values, rows=names, columns=columns, named=places[at]),),
        words.LAYER,
        words.HEAD,
        words.HEADS_ALT,
        quantity=words.LOGIT,
        numbered="neither",
        diverging=True,
        code=code,
        chooses=lambda row, column: {"wrote_head": numbers[row, column] + 1} if (row, column) in numbers else {},
    ).lying()
    return Row((picture, _by_token(subject, logit, heads[at], within, call)))


def _by_token(subject: Subject, logit: LogitWriters, writer: Writer, within: Inside, call: str) -> tuple[Block, ...]:
    assert writer.layer is not None
    assert writer.head is not None
    try:
        split = _ask(subject, within, logit.position, logit.token, logit.against, opened=writer)
    except ValueError as error:
        return (Note(plain(f"{error}.")),)
    table = split.sources()
    site = subject.trace.record_of(writer.layer, writer.stream, call=writer.call).site
    heading = words.source(layer=writer.layer, head=writer.head, token=named(subject.tokens, logit.position))
    chart = Chart(
        table.astype({"source": int}),
        "source",
        "contribution",
        "bars",
        tokens=site.keys,
        y_title=words.LOGIT,
        title=heading,
        height=320,
    )
    opened = f"inspector.writers.Writer('head', {writer.stream!r}, {writer.layer}, {writer.head}, {writer.call})"
    code = f"{call}, opened={opened})\ntable = logit.sources()"
    best = int(table["contribution"].abs().idxmax())
    cell = logit.position, best
    link = to_map(subject, writer.layer, writer.head, writer.call, stream=writer.stream, cell=cell)
    return Figure("wrote-tokens", heading, chart, words.SOURCES_ALT, code, table), link


def _default(subject: Subject) -> int:
    """Take the hidden token of a masked text, else the last token that the tokenizer did not add."""
    encoding, stream = subject.trace.encoding, subject.stream
    mask = getattr(subject.model.tokenizer, "mask_token_id", None)
    if stream == "encoder" and mask in encoding.ids:
        return list(encoding.ids).index(mask)
    special = subject.trace.read_by(stream).special
    return next((at for at in reversed(range(len(special))) if not special[at]), len(special) - 1)


SECTION = Section(
    "wrote_prediction",
    words.PREDICTION,
    answer,
    (
        Token("token", words.TOKEN, lambda subject: subject.tokens, default=_default),
        Line("guess", words.GUESS, lambda subject: "", most=40, help=words.GUESS_HELP, width=180),
        Line("against", words.AGAINST, lambda subject: "", most=40, help=words.AGAINST_HELP, width=180),
        Clicked("wrote_head", words.HEAD, lambda subject: 100_000, default=lambda subject: 0),
    ),
    needs_model=True,
    waits=words.WAITS,
    need=Need(
        words.PREDICTS_NOTHING,
        lambda loaded: loaded.predict is not None and not inside.why_not(loaded),
        WRITERS,
        inside.why_not,
    ),
)
