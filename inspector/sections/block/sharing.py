"""The tensors of the model that are one, what a tied head's choice means, and how heads come together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from inspector import block, probe, sharing
from inspector.plots import block as draw
from inspector.sections.block import inside
from inspector.sections.section import Block, Figure, Note, Paragraph, Row, Section, Sentence
from inspector.text import plain
from inspector.trace.blocks import HeadRecord
from inspector.wording import block as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject


def answer(subject: Subject) -> Iterator[Block]:
    """Yield which tensors are one, in a stream and at its ends, and how heads come together."""
    blocks, network = inside.blocks(subject), subject.model.network
    keys = subject.of_model(
        ("W_K and W_V", subject.stream),
        lambda: [sharing.keys_from_values(layer, network) for layer in blocks.of(subject.stream)],
    )
    yield Sentence(shared(sharing.storages(blocks, stream=subject.stream)), ("parameters",))
    head = _head(subject)
    name = head.matrix.name if isinstance(head, HeadRecord) else ""
    table = sharing.storages(blocks, stream=subject.stream, head=name)
    code = f"{inside.code(subject)}table = inspector.sharing.storages(blocks, stream={subject.stream!r}, head={name!r})"
    drawn = partial(draw.storages, table)
    yield Figure("block-storages", words.STORAGES, drawn, words.STORAGES_ALT, code, table, note=apart(keys))
    yield Row((_tied(subject, head), _side_by_side(subject)))


def _head(subject: Subject) -> HeadRecord | str:
    """Record the product that makes the logits; else the sentence that says why there is none to show."""
    if subject.model.predict is None:
        return words.NOTHING_TO_SHARE
    try:
        return subject.of_text("head", lambda: probe.record_head(subject.model, subject.trace))
    except ValueError as error:
        return f"{error}."


def _tied(subject: Subject, head: HeadRecord | str) -> Paragraph:
    """Say whether embedding and head are one, and what the head's choice has to do with the nearest row."""
    if isinstance(head, str):
        return Paragraph(plain(head), words.TIED)
    network = subject.model.network
    nearest = words.nearest(subject.of_text("nearest", lambda: sharing.nearest(head, network)))
    rows, columns = network.get_parameter(head.matrix.name).shape
    tied = words.tied(inside.blocks(subject).embedding, head.matrix.name)
    size = words.head_size(rows, columns, width=head.input.shape[-1])
    return Paragraph(f"{tied} {size} {nearest}", words.TIED)


def _side_by_side(subject: Subject) -> Paragraph | Note:
    first, last = inside.blocks(subject).of(subject.stream)[0], len(subject.tokens) - 1
    try:
        mixed = block.mixed(subject.trace, stream=subject.stream, layer=first.layer, position=last)
        heads = subject.once(
            "heads side by side", lambda: sharing.heads(subject.trace, first, subject.model.network, mixed=mixed)
        )
    except ValueError as error:
        return Note(plain(f"{error}."), words.SIDE_BY_SIDE)
    return Paragraph(words.at_last_token(subject.tokens[last], first.layer, words.heads(heads)), words.SIDE_BY_SIDE)


def shared(table: pd.DataFrame) -> str:
    """Say how many tensors a stream's matrices are; table: of `sharing.storages`."""
    sets = [frozenset(rows["storage"]) for _, rows in table.groupby("row", sort=False)]
    return words.shared(
        uses=len(table),
        storages=int(table["storage"].nunique()),
        layers=len(sets),
        alike=len(sets) > 1 and len(set(sets)) == 1,
    )


def apart(keys: Sequence[float | None]) -> str:
    """Say how far W_K and W_V are apart; keys: of `sharing.keys_from_values`, for every layer."""
    known = [distance for distance in keys if distance is not None]
    return words.apart(
        (min(known), max(known)) if known else None,
        same=bool(known) and len(known) == len(keys) and max(known) == 0,
    )


SECTION = Section("sharing", words.SHARING, answer, needs_model=True)
