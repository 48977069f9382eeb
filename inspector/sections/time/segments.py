"""Memory over segments: a decoder reads the text piece by piece, and keeps what each layer read before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import segments
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections.picks import Count
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Mark,
    Need,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
)
from inspector.sections.time import steps
from inspector.wording import time as wording

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from inspector.segments import SegmentedText

words = wording.segments

USUAL = 8  # tokens of a segment
LINES = 16  # segments whose borders are drawn, at most
MEMORIES = {"chosen": "positions", "whole": "residual"}


def answer(subject: Subject, *, piece: int, kept: int) -> Iterator[Block]:
    """Yield a text in segments, with the choice of one of them."""
    found = _read(subject, segment=piece, memory=kept)
    last = found.count - 1
    shown = Count("shown", words.SHOWN, lambda subject: last, lambda subject: last if last < 2 else last - 1)
    yield replace(SHOWN, answer=partial(_shown, found=found), picks=(shown,))


def _shown(subject: Subject, *, shown: int, found: SegmentedText) -> Iterator[Block]:
    """Yield one segment, with the choice of a head: at first the one that takes most of the memory."""
    layer, head = found.remembering(shown)
    picks = (
        Count("piece_layer", words.LAYER, lambda subject: found.layers - 1, lambda subject: layer),
        Count("piece_head", words.HEAD, lambda subject: len(found.maps[0]) - 1, lambda subject: head),
    )
    yield replace(HEAD, answer=partial(_head, found=found, at=shown), picks=picks)


def _head(subject: Subject, *, piece_layer: int, piece_head: int, found: SegmentedText, at: int) -> Iterator[Block]:
    """Yield a head's map in a segment, and how far each token is from one pass."""
    trace = subject.trace
    table = segments.table(found, trace.encoding.tokens)
    chosen = table[table["memory"] == "chosen"]
    largest = int(chosen.loc[chosen["difference"].idxmax(), "position"])
    about = Mark("segments-apart", {"position": largest})
    yield Sentence(words.sentence(found), tuple(words.terms(found)), (about,))
    if len(trace.encoding.ids) > found.tokens:
        yield Note(words.cut(found.tokens, len(trace.encoding.ids)))
    code = (
        f"{subject.code}from inspector import segments\n\n"
        f"ids = trace.encoding.ids[:{found.tokens}]\n"
        f"found = segments.read(loaded, ids, segment={found.segment}, memory={found.memory})\n"
    )
    apart = Figure(
        "segments-apart",
        words.APART,
        _apart(found, table),
        words.APART_ALT,
        f"{code}table = segments.table(found, trace.encoding.tokens)",
        table,
    )
    yield Row((apart, _map(found, trace.encoding.tokens, code, at=at, layer=piece_layer, head=piece_head)))
    yield replace(MORE, answer=partial(_more, found=found))


def _more(subject: Subject, *, found: SegmentedText) -> Iterator[Block]:
    """Yield how far back a token reaches, what is kept, and the formulas."""
    yield Numbers(tuple(Number(*told) for told in words.cards(found)))
    yield Paragraph(words.reach(found))
    for formula in words.FORMULAS:
        yield Paragraph(f"${formula}$")
    yield Note(words.caption(found))


def _map(found: SegmentedText, tokens: Sequence[str], code: str, *, at: int, layer: int, head: int) -> Map:
    rows, start, first = found.place(at)
    panel = Panel(
        found.maps[layer][head][rows, first : rows.stop],
        rows=tokens[rows],
        columns=tokens[first : rows.stop],
        borders=(start - first,) if start > first else (),
    )
    return Map(
        "segment-map",
        words.map_title(at=at, layer=layer, head=head, share=found.of_memory(at, layer=layer, head=head)),
        (panel,),
        row_title="query",
        column_title="key",
        alt=words.MAP_ALT,
        top=1.0,
        code=f"{code}weights = found.maps[{layer}][{head}][{rows.start}:{rows.stop}, {first}:{rows.stop}]",
        name=f"segment-{at}-layer-{layer}-head-{head}",
    )


def _apart(found: SegmentedText, table: pd.DataFrame) -> Chart:
    """Lay out the difference of each token; a line stands where a segment begins, unless there are many.

    The largest difference with the chosen memory has its number.
    """
    few = found.count <= LINES
    chosen = table["memory"] == "chosen"
    told = chosen & (table.index == table["difference"].where(chosen).idxmax())
    return Chart(
        table.assign(told=table["difference"].map(lambda percent: words.largest(percent / 100)).where(told, "")),
        "position",
        "difference",
        points_at="told",
        by="memory",
        names={"chosen": words.memory(found.memory), "whole": words.WHOLE},
        parts=MEMORIES,
        styles={"whole": 2},
        tokens=list(table["token"].head(found.tokens)),
        x_title="token",
        y_title=words.DIFFERENCE,
        title=words.APART_TITLE,
        x_marks={str(number): float(found.starts[number]) - 0.5 for number in range(1, found.count) if few},
        y_range=(0, max(106 * float(found.changed.max()), 1.0)),
        height=400,
    )


def _read(subject: Subject, *, segment: int, memory: int) -> SegmentedText:
    def make() -> SegmentedText:
        with steps.told(subject.model, words.READING):
            ids = subject.trace.encoding.ids[: segments.MOST]
            return segments.read(subject.model, ids, segment=segment, memory=memory)

    return subject.of_text(("segments", segment, memory), make)


def _usual(subject: Subject) -> int:
    return max(1, min(USUAL, _length(subject) // 3))


def _length(subject: Subject) -> int:
    return min(segments.MOST, len(subject.trace.encoding))


MORE = Section("segments_more", wording.MORE, _more, folded=True)
HEAD = Section("head", "", _head)
SHOWN = Section("segment", "", _shown)
SECTION = Section(
    "segments",
    words.SEGMENTS,
    answer,
    (
        Count("piece", words.SEGMENT, _length, _usual, first_value=1),
        Count("kept", words.MEMORY, _length, _usual),
    ),
    needs_model=True,
    waits=words.READING,
    parts=(SHOWN, HEAD, MORE),
    behind=wording.SETTINGS,
    need=Need(words.CANNOT, lambda loaded: loaded.shape == "decoder", ("mini-gpt",)),
)
