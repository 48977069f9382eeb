"""A section asked without a page: by a notebook, a command, or a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.sections import registry
from inspector.sections.section import Ask, Block, Paragraph, Section, flat
from inspector.sections.subject import Subject
from inspector.wording import report as words

if TYPE_CHECKING:
    from torch import nn

    import models
    from inspector.trace import Trace


def ask(
    path: str,
    trace: Trace | None = None,
    *,
    loaded: models.LoadedModel | nn.Module | None = None,
    chosen: Mapping[str, Any],
    long: bool = True,
) -> Iterator[Block]:
    """Yield the blocks of a section about a recorded text, or of a course that needs none, in reading order.

    path: the page's address and the section's id, "block/added". loaded: the trace's model, for sections that run it or
    read its weights. chosen: by the ids of the section's picks, and `stream`. long: go on behind an `Ask`, which stands
    before long work. Raises ValueError for what is not there, and where a section needs the model and has none, or has
    one that cannot do what the section shows.
    """
    from models import of  # torch, only now

    loaded = None if loaded is None else of(loaded)
    page, section = registry.sections(path.partition("/")[0]), registry.section(path)
    subject = Subject(trace, loaded, "" if trace is None else trace.streams[0])
    if section.needs_model:
        subject.model  # noqa: B018  says how to give it
    need = page.need_of(section)
    if need is not None and loaded is not None and not need.can(loaded):
        raise ValueError(words.cannot(loaded.card.id, need.cannot, instead=need.instead))
    picked = dict(chosen)
    if streams := page.streams(subject):
        if (stream := picked.pop("stream", streams[0])) not in streams:
            raise ValueError(
                f"{str(stream)[:60]!a} is no stream that this section shows; it shows {', '.join(streams)}."
            )
        subject = replace(subject, stream=stream)
    yield from _parts(section.blocks(subject, **picked), subject, long=long)


def _parts(blocks: Iterator[Block], subject: Subject, *, long: bool) -> Iterator[Block]:
    """Yield blocks in reading order, those of parts too, but for a part that the reader starts."""
    for block in flat(blocks):
        if isinstance(block, Section):
            if block.title:
                yield Paragraph("", block.title)
            if not block.starts:
                yield from _parts(block.blocks(subject), subject, long=long)
        else:
            yield block
            if isinstance(block, Ask) and not long:
                return
