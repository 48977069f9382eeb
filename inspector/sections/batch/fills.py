"""Leaks of a mask: the weight on padding for every fill and dtype, before and after the scale."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector import batches
from inspector.plots.chart import Chart
from inspector.sections.batch import together
from inspector.sections.batch.head import STREAM, Head, ask
from inspector.sections.batch.together import Together
from inspector.sections.picks import Option
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Sentence, Table
from inspector.text import number
from inspector.wording import batch as words

if TYPE_CHECKING:
    from inspector.batches import Batch, Layout

PADDED: tuple[Layout, ...] = ("right", "left", "packed")
MOST_PARAMETERS = 20_000_000  # of a model that is built anew for each fill
MUCH = 0.01  # of the weight: a fill that leaves so much is worth telling
UNNAMED = 0.45  # opacity of the bars of the others
SHADES = {"float32": "q", "bfloat16": "scores", "float16": "out"}
PATTERNS = {"bfloat16": 1, "float16": 3}


def answer(read: Together, *, padded: Layout, mask_order: str, mask_way: str, batch_stream: str) -> Iterator[Block]:
    """Yield what each fill leaves where a text's tokens must not look, with the choice of a head."""
    leaks = partial(_leaks, read, padded, before=mask_order == "before", added=mask_way == "added")
    yield ask(read.subject, batch_stream, leaks)


def _leaks(read: Together, layout: Layout, head: Head, *, before: bool, added: bool) -> Iterator[Block]:
    """Yield what each fill leaves in a head, and what it does to the whole model."""
    site, batch = head.site, read.read(layout)
    leaks = partial(
        batches.leaks,
        layer=site.layer,
        head=head.head,
        stream=site.stream,
        call=site.call,
        before_scale=before,
        added=added,
    )
    table = read.once((layout, "leaks", site, head.head, before, added), lambda: leaks(batch))
    where = words.where(packed=layout == "packed")
    yield Sentence(filling(table, batch=batch, before_scale=before), words.TERMS["fills"], _marks(table))
    yield Figure(
        "batch-leaks",
        words.weight_on(where, head.name),
        _chart(table, where),
        words.leaks_alt(where),
        f"{read.code}batch = batches.read(loaded, texts, layout={layout!r})\n"
        f"table = batches.leaks(batch, {head.code}, before_scale={before}, added={added})",
        table,
        name=f"batch-leaks-{layout}",
    )
    yield Note(_formula(batch, head, before=before, added=added))
    yield Table("leaks", _named(table), words=words.LEAK_HEADS, folded=False)
    if layout != "packed":
        yield Paragraph("", words.WHOLE)
        yield from _whole(read, layout)
    yield Paragraph("", words.NOTHING)
    yield from _nothing(batch, head)


def filling(table: pd.DataFrame, *, batch: Batch, before_scale: bool) -> str:
    """Say what each fill leaves on padding, or on other texts; table: of `batches.leaks`."""
    packed = batch.layout == "packed"
    if batch.layout == "alone" or len(batch.texts) == 1 or not (packed or batch.padding):
        return words.NOTHING_LEAKS
    wrong = table[table["problem"] != ""]
    return words.filling(
        left=told(table),
        problems=list(zip(wrong["fill"], wrong["dtype"], wrong["problem"], strict=True)),
        where=words.where(packed=packed),
        before_scale=before_scale,
    )


def told(table: pd.DataFrame) -> dict[str, float]:
    """Choose the fills that the sentence tells: the one that leaves nothing, and one that leaves much, in float32."""
    plain = table[(table["dtype"] == "float32") & (table["problem"] == "")].set_index("fill")["leak"]
    leaky = "x 0" if plain.get("x 0", 0.0) >= MUCH else "no mask"
    return {fill: float(plain[fill]) for fill in ("-inf", leaky) if fill in plain}


def drifting(table: pd.DataFrame, *, layout: Layout) -> str:
    """Say how far real tokens move; table: of `batches.drift`, whose first row is the model's own mask."""
    by_fill = table.set_index("fill")["drift"]
    between = by_fill.drop([batches.OWN_MASK, batches.UNTOLD])
    return words.drifting(
        masked=float(by_fill[batches.OWN_MASK]),
        unmasked=float(by_fill[batches.UNTOLD]),
        worst=None if between.empty else (str(between.idxmax()), float(between.max())),
        to_padding=float(table["to_padding"].iloc[0]),
        padding_states=float(table["padding_states"].iloc[0]),
        left=layout == "left",
    )


def _marks(table: pd.DataFrame) -> tuple[Mark, ...]:
    """Mark the fills that the sentence names, in float32."""
    return tuple(Mark("batch-leaks", {"fill": fill, "dtype": "float32"}) for fill in told(table))


def _chart(table: pd.DataFrame, where: str) -> Chart:
    """Lay out the leaks, a group of bars for each fill; what cannot be is named at its place: NaN, or an error."""
    fills = list(dict.fromkeys(table["fill"]))
    named = told(table)
    numbers = [
        number(leak) if not problem else problem.split(":")[0]
        for leak, problem in zip(table["leak"], table["problem"], strict=True)
    ]
    largest = max(float(table["leak"].max(skipna=True)), 1e-3)
    return Chart(
        table.assign(
            place=[fills.index(fill) for fill in table["fill"]],
            leak=table["leak"].fillna(0),
            told=numbers,
            opacity=[1.0 if fill in named else UNNAMED for fill in table["fill"]],
        ),
        "place",
        "leak",
        "bars",
        by="dtype",
        parts=SHADES,
        styles=PATTERNS,
        opacity="opacity",
        places=[words.FILLS[fill] for fill in fills],
        over="told",
        y_title=words.leaks_axis(where),
        title=words.leaks_title(where),
        y_range=(0, 1.12 * largest),
        sideways=True,
        height=150 + 54 * len(fills),
    )


def _formula(batch: Batch, head: Head, *, before: bool, added: bool) -> str:
    row = min(batch.rows, key=lambda row: int((row.owner >= 0).sum()))
    real = int((row.owner >= 0).sum())
    function = row.trace.record_of(head.site.layer, head.site.stream, call=head.site.call).function
    dot, factor = batches.own_score(function)
    return words.formula(
        dot=dot,
        factor=factor,
        added=added,
        before_scale=before,
        real=real,
        padding=len(row.owner) - real,
        causal=head.site.stream == "decoder",
    )


def _whole(read: Together, layout: Layout) -> Iterator[Block]:
    """Yield what other fills do to the whole model."""
    size = sum(tensor.numel() for tensor in read.loaded.network.parameters())
    small = read.own and size <= MOST_PARAMETERS
    table = read.once(
        (layout, "drift", small),
        lambda: batches.drift(read.loaded, read.texts, layout=layout, refilled=small),
    )
    yield Paragraph(drifting(table, layout=layout))
    yield Table("drift", _named(table), words=words.DRIFT_HEADS, folded=False)
    if not small:
        yield Note(words.not_refilled(size, of_project=read.own, most=MOST_PARAMETERS))


def _nothing(batch: Batch, head: Head) -> Iterator[Block]:
    """Yield what becomes of a row that may look at nothing."""
    site, row = head.site, batch.rows[0]
    scores = row.trace.scores(layer=site.layer, head=head.head, stream=site.stream, call=site.call)
    queries, _ = row.owners(site.stream)
    last = scores[queries >= 0][-1]
    found = batches.nothing_to_see(last[last > -1e30])
    named = found.assign(mask=[words.NOTHING_NAMES.get(mask, mask) for mask in found["mask"]])
    yield Table("nothing", named, words=words.NOTHING_HEADS, folded=False)
    yield Note(words.EVERY_KEY)


def _named(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(fill=[words.FILLS.get(fill, fill) for fill in table["fill"]])


SECTION = together.section(
    "fills",
    words.LEAKS,
    answer,
    (
        Option(
            "padded",
            words.LAYOUT,
            lambda subject: {layout: words.LAYOUTS[layout] for layout in PADDED},
            look="list",
            width=150,
        ),
        Option("mask_order", words.ORDER, lambda subject: words.ORDERS, look="list", width=210),
        Option("mask_way", words.WAY, lambda subject: words.WAYS, look="list", width=110),
        STREAM,
    ),
)
