"""One token changed: which tokens' states move, before it and after it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from inspector import batches
from inspector.batches.spreading import spreading
from inspector.plots import batches as draw
from inspector.sections.batch import together
from inspector.sections.batch.together import Together
from inspector.sections.picks import Count, Token
from inspector.sections.section import Block, Figure, Mark, Sentence
from inspector.wording import batch as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


def answer(read: Together) -> Iterator[Block]:
    """Yield the texts, with the choice of one of them."""
    last = len(read.texts) - 1
    text = Count("changed_text", words.TEXT, lambda subject: last, lambda subject: 0)
    yield together.part("batch-text", partial(_text, read=read), (text,))


def _text(subject: Subject, *, changed_text: int, read: Together) -> Iterator[Block]:
    """Yield one text, with the choice of a token."""
    trace = read.read("alone").row_of(changed_text).trace
    tokens = trace.read_by(trace.sites[-1].stream).tokens
    token = Token("changed", words.TO_CHANGE, lambda subject: tokens, len(tokens) // 2)
    moved = partial(_moved, read=read, text=changed_text, width=trace.hidden.shape[1])
    yield together.part("batch-token", moved, (token,))


def _moved(subject: Subject, *, changed: int, read: Together, text: int, width: int) -> Iterator[Block]:
    """Yield how far each token's state moves."""
    table, put = read.once(
        ("spread", text, changed), lambda: batches.spread(read.loaded, read.texts[text], token=changed)
    )
    said = words.spreading(spreading(table, token=changed, put=put))
    yield Sentence(said, words.TERMS["change"], (Mark("spread", {"position": changed}),))
    yield Figure(
        "spread",
        words.MOVES,
        draw.spread(table, changed=changed),
        words.MOVES_ALT,
        f"{read.code}table, put = batches.spread(loaded, texts[{text}], token={changed})",
        table,
        note=words.about_change(width=width),
        name=f"batch-changed-{changed}",
    )


CHANGED = Token("changed", words.TO_CHANGE, lambda subject: subject.tokens)
SECTION = together.section("change", words.CHANGE, answer, (), (together.part("batch-token", _moved, (CHANGED,)),))
