"""Sight of each token: the mask and the weights of one head, in the row of one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from inspector import batches
from inspector.components.matrix import Panel
from inspector.sections.batch import together
from inspector.sections.batch.head import STREAM, WIDTH, Head, ask
from inspector.sections.batch.together import Together
from inspector.sections.picks import Count, Option
from inspector.sections.section import Block, Map, Note, Number, Numbers, Row, Sentence
from inspector.wording import batch as words

if TYPE_CHECKING:
    from inspector.batches import Batch, HeadView, Layout
    from inspector.sections.subject import Subject


def answer(read: Together, *, layout: Layout) -> Iterator[Block]:
    """Yield a layout of the texts, with the choice of one of them."""
    last = len(read.texts) - 1
    row = Count("row", words.TEXT, lambda subject: last, lambda subject: min(1, last), width=WIDTH)
    yield together.part("batch-row", partial(_row, read=read, layout=layout), (row, STREAM))


def _row(subject: Subject, *, row: int, batch_stream: str, read: Together, layout: Layout) -> Iterator[Block]:
    yield ask(subject, batch_stream, partial(_seen, read, layout, row))


def _seen(read: Together, layout: Layout, text: int, head: Head) -> Iterator[Block]:
    """Yield what a text's tokens see in a head."""
    batch, site = read.read(layout), head.site
    seen = batch.seen(text, layer=site.layer, head=head.head, stream=site.stream, call=site.call)
    yield Sentence(seeing(batch, seen, head=head.name), words.TERMS["seen"])
    code = (
        f"{read.code}batch = batches.read(loaded, texts, layout={layout!r})\n"
        f"seen = batch.seen({text}, {head.code})\nseen.mask, seen.weights"
    )
    rows, columns = _marked(seen.queries, seen.query_owner, text), _marked(seen.keys, seen.key_owner, text)
    shown = (
        ("mask", words.MASK, seen.mask.astype(np.float32), words.MASK_ALT, "sees"),
        ("weights", words.weights(head.name), seen.weights, words.WEIGHTS_ALT, "weight"),
    )
    yield Row(
        tuple(
            Map(
                f"batch-{key}",
                heading,
                (Panel(values, rows=rows, columns=columns),),
                row_title="query",
                column_title="key",
                alt=alt,
                quantity=quantity,
                top=1.0 if key == "mask" else None,
                code=code,
                name=f"batch-{layout}-{key}",
            )
            for key, heading, values, alt, quantity in shown
        )
    )
    yield _numbers(batch, seen)
    if unknown := sum(row.trace.unknown for row in batch.rows):
        yield Note(words.unknown(unknown, of=sum(batch.lengths)))
    yield Note(" ".join(_about(read, batch, seen, head)))


def seeing(batch: Batch, seen: HeadView, *, head: str) -> str:
    """Say how much of a batch is padding, and what one text's tokens see in a head."""
    return words.seeing(
        layout=batch.layout,
        texts=len(batch.texts),
        rows=len(batch.rows),
        cells=batch.cells,
        padding=batch.padding,
        sources="cross" in batch.rows[0].trace.streams,
        text=seen.text,
        keys=seen.keys_seen,
        to_padding=seen.to_padding,
        to_others=seen.to_others,
        head=head,
    )


def _marked(tokens: Sequence[str], owner: np.ndarray, text: int) -> list[str]:
    """Name the tokens of a row: padding and other texts are said."""
    return [
        token if whose == text else words.PADDING if whose < 0 else words.of_text(token, whose)
        for token, whose in zip(tokens, owner, strict=True)
    ]


def _numbers(batch: Batch, seen: HeadView) -> Numbers:
    own = seen.weights[seen.query_owner == seen.text][:, seen.key_owner == seen.text].astype(np.float64)
    found = words.numbers(
        cells=batch.cells,
        padding=batch.padding,
        keys=seen.keys_seen,
        to_itself=float(own.sum(axis=1).mean()),
        to_padding=seen.to_padding,
        to_others=seen.to_others,
        to_masked=seen.to_masked,
    )
    return Numbers(tuple(Number(*number) for number in found))


def _about(read: Together, batch: Batch, seen: HeadView, head: Head) -> Iterator[str]:
    site = head.site
    function = batch.row_of(seen.text).trace.record_of(site.layer, site.stream, call=site.call).function
    masked = words.masking(batches.own_fill(function), causal=site.stream == "decoder", softmax=function.normalised)
    yield words.MAP
    if batch.layout == "alone":
        yield words.ALONE
    elif batch.layout == "packed":
        yield words.packed_columns(batch.lengths)
        yield masked
        if not read.own:
            yield words.OWN_TRANSFORMER
    else:
        yield words.padded_columns(len(seen.keys), padding=int((seen.key_owner < 0).sum()))
        yield masked
        yield words.PADDING_COMPUTES
        if batch.layout == "left" and not read.own:
            yield words.LEFT


SECTION = together.section("seen", words.SEEN, answer, (Option("layout", words.LAYOUT, lambda subject: words.LAYOUTS),))
