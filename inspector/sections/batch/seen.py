"""Sight of each token: the mask and the weights of one head, in the row of one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from inspector import batches
from inspector.batches.layouts import PADDING
from inspector.components.matrix import Panel
from inspector.sections.batch import together
from inspector.sections.batch.head import STREAM, Head, ask
from inspector.sections.batch.together import Together
from inspector.sections.picks import Listed, Option
from inspector.sections.section import Block, Map, Mark, Note, Number, Numbers, Row, Sentence
from inspector.text import named
from inspector.wording import batch as words

if TYPE_CHECKING:
    from inspector.batches import Batch, HeadView, Layout
    from inspector.sections.subject import Subject
    from inspector.trace import Array


def answer(read: Together, *, layout: Layout) -> Iterator[Block]:
    """Yield a layout of the texts, with the choice of one of them."""
    names = [words.numbered(at, text) for at, text in enumerate(read.texts)]
    row = replace(ROW, options=lambda subject: names)
    yield together.part("batch-row", partial(_row, read=read, layout=layout), (row, STREAM))


def _row(subject: Subject, *, row: int, batch_stream: str, read: Together, layout: Layout) -> Iterator[Block]:
    yield ask(subject, batch_stream, partial(_seen, read, layout, row))


def _seen(read: Together, layout: Layout, text: int, head: Head) -> Iterator[Block]:
    """Yield what a text's tokens see in a head."""
    batch, site = read.read(layout), head.site
    seen = batch.seen(text, layer=site.layer, head=head.head, stream=site.stream, call=site.call)
    shown = Shown.of(seen)
    cell = shown.leaking
    marks = () if cell is None else (Mark("batch-weights", {"row": cell[0], "column": cell[1]}),)
    yield Sentence(seeing(batch, seen, shown, head=head.name), words.TERMS["seen"], marks)
    code = (
        f"{read.code}batch = batches.read(loaded, texts, layout={layout!r})\n"
        f"seen = batch.seen({text}, {head.code})\nseen.mask, seen.weights"
    )
    mask = Map(
        "batch-mask",
        words.MASK,
        (shown.panel(shown.mask),),
        row_title="query",
        column_title="key",
        alt=words.MASK_ALT,
        quantity=words.SEES,
        kinds=words.MASK_KINDS,
        code=code,
        name=f"batch-{layout}-mask",
    )
    weights = Map(
        "batch-weights",
        words.weights(head.name),
        (replace(shown.panel(shown.weights), named=cell),),
        row_title="query",
        column_title="key",
        alt=words.WEIGHTS_ALT,
        code=code,
        name=f"batch-{layout}-weights",
    )
    yield Row((mask, weights))
    yield _numbers(batch, seen)
    if unknown := sum(row.trace.unknown for row in batch.rows):
        yield Note(words.unknown(unknown, of=sum(batch.lengths)))
    yield Note(" ".join(_about(read, batch, seen, head)))


def seeing(batch: Batch, seen: HeadView, shown: Shown, *, head: str) -> str:
    """Say how much of a batch is padding, and what one text's tokens see in a head; shown: of `seen`."""
    leaking = None
    if shown.leaking is not None:
        row, column = shown.leaking
        leaking = named(shown.rows, row), float(shown.weights[row, column])
    return words.seeing(
        layout=batch.layout,
        texts=len(batch.texts),
        rows=len(batch.rows),
        cells=batch.cells,
        padding=batch.padding,
        sources="cross" in batch.rows[0].trace.streams,
        keys=seen.keys_seen,
        hidden=int((seen.key_owner == PADDING).sum()),
        leaking=leaking,
        to_padding=seen.to_padding,
        to_others=seen.to_others,
        head=head,
    )


@dataclass(frozen=True, eq=False)
class Shown:
    """The queries that are text, and the keys, of which all padding is one column: its weights added up.

    rows, columns: their names. weights, mask: float32 [rows, columns]; the mask is 1 where the query sees the key.
    padding: the column of padding, None where there is none.
    """

    rows: list[str]
    columns: list[str]
    weights: Array
    mask: Array
    padding: int | None

    @classmethod
    def of(cls, seen: HeadView) -> Shown:
        """Take the padding of a head's row together."""
        real, padded = seen.query_owner >= 0, seen.key_owner < 0
        rows = _names(seen.queries, seen.query_owner, seen.text)
        columns = _names(seen.keys, seen.key_owner, seen.text)
        weights, mask = seen.weights[real], seen.mask[real].astype(np.float32)
        first = int(padded.argmax()) if padded.any() else None
        if first is not None:
            columns[first] = words.padding_of(int(padded.sum()))
            weights, mask = weights.copy(), mask.copy()
            weights[:, first], mask[:, first] = weights[:, padded].sum(axis=1), mask[:, padded].max(axis=1)
        kept = [at for at in range(len(columns)) if not padded[at] or at == first]
        return cls(
            [name for name, is_text in zip(rows, real, strict=True) if is_text],
            [columns[at] for at in kept],
            weights[:, kept],
            mask[:, kept],
            None if first is None else kept.index(first),
        )

    def panel(self, values: Array) -> Panel:
        """Lay out values with the names of rows and columns, and a line beside the padding."""
        beside = () if self.padding is None else (max(self.padding, 1),)
        return Panel(values, rows=self.rows, columns=self.columns, borders=beside if len(self.columns) > 1 else ())

    @property
    def leaking(self) -> tuple[int, int] | None:
        """The cell of the query that gives padding most; None where none gives any."""
        if self.padding is None or not (given := self.weights[:, self.padding]).max() > words.ROUNDING:
            return None
        return int(given.argmax()), self.padding


def _names(tokens: Sequence[str], owner: np.ndarray, text: int) -> list[str]:
    """Name the tokens of a row: those of other texts are told."""
    return [
        token if whose in (text, PADDING) else words.of_text(token, whose)
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
    if batch.layout == "alone":
        yield words.ALONE
    elif batch.layout == "packed":
        yield words.packed_columns(batch.lengths)
        yield masked
        if not read.own:
            yield words.OWN_TRANSFORMER
    else:
        yield masked
        if (seen.key_owner == PADDING).any():
            yield words.PADDING_COMPUTES
        if batch.layout == "left" and not read.own:
            yield words.LEFT


LAYOUT = Option("layout", words.LAYOUT, lambda subject: words.LAYOUTS, look="list", width=150)
ROW = Listed("row", words.TEXT, lambda subject: (), width=220)
PARTS = (together.part("batch-row", lambda subject, **chosen: iter(()), (ROW,)),)
SECTION = together.section("seen", words.SEEN, answer, (LAYOUT,), PARTS)
