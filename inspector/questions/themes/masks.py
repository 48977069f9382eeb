"""Masks: padding, the future, and texts of several lengths. Questions 67 to 73."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from inspector import batches
from inspector.batches.leaks import RAISES
from inspector.questions.record.both import Both
from inspector.questions.record.kinds import ENCODER
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import Measure, Measurement
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import changed, read_of, sentences
from inspector.trace import Array

MOST_HEADS = 12  # of the first layer, over which a leak is averaged
BILLION = -1e9
NAMES = {"-inf": "−∞", "-1e9": "−1e9", "-1e4": "−1e4", "-20": "−20", "-10": "−10", "x 0": "× 0"}


def _three(subject: Subject) -> tuple[str, ...]:
    """The reader's text, a long sentence and a very short one, so that some text is padded."""
    beside = sentences(subject)
    return read_of(subject), beside[-1], beside[0]


def _side(subject: Subject) -> batches.Layout:
    """The side of the padding: left for a decoder, whose causal mask hides padding on the right anyway."""
    return "left" if subject.loaded.shape == "decoder" else "right"


def _padded(subject: Subject) -> batches.Batch:
    return subject.once("padded batch", lambda: batches.read(subject.loaded, _three(subject), layout=_side(subject)))


def _leaks(subject: Subject, *, before_scale: bool = False, added: bool = False) -> pd.DataFrame:
    """The leaks of the first layer's heads, mean over heads, by fill and dtype; raises: whether torch refuses."""

    def make() -> pd.DataFrame:
        batch = _padded(subject)
        site = batch.rows[0].trace.sites[0]
        tables = [
            batches.leaks(
                batch,
                layer=site.layer,
                head=head,
                stream=site.stream,
                call=site.call,
                before_scale=before_scale,
                added=added,
            )
            for head in range(min(site.heads, MOST_HEADS))
        ]
        table = pd.concat(tables).assign(raises=lambda each: each["problem"] == RAISES)
        return table.groupby(["fill", "dtype"])[["leak", "change", "raises"]].mean()

    return subject.once(f"leaks {before_scale} {added}", make)


def _padding_mask(subject: Subject) -> Measurement:
    table = _leaks(subject)["leak"].xs("float32", level="dtype")
    whole = subject.once(
        "padding through the model",
        lambda: batches.drift(subject.loaded, _three(subject), layout=_side(subject), refilled=False),
    )
    shares = whole.set_index("fill")["relative"]
    fills = ["-inf", "x 0", "no mask"]
    return Measurement(
        {
            "infinite": float(table["-inf"]),
            "zero": float(table["x 0"]),
            "none": float(table["no mask"]),
            "moved": float(shares[batches.OWN_MASK]),
            "moved_without": float(shares[batches.UNTOLD]),
        },
        Bars(
            [Both("−∞", "−∞"), Both("× 0", "× 0"), Both("no mask", "不加掩码")],
            [100 * float(table[fill]) for fill in fills],
            Both("weight on padding, %", "落在填充上的权重，%"),
            parts=["attention"] * 3,
        ),
    )


def _no_number(scores: Array) -> float:
    """Add BILLION, cast to float16, to all scores of a query: the share of its weights that are NaN."""
    masked = torch.tensor(scores[scores > -1e30]).half() + torch.tensor(BILLION).half()
    return float(masked.softmax(dim=-1).isnan().float().mean())


def _large(subject: Subject) -> Measurement:
    table = _leaks(subject)
    batch = _padded(subject)
    longest = batch.row_of(max(range(len(batch.texts)), key=batch.lengths.__getitem__)).trace
    site = longest.sites[0]
    scores = longest.scores(layer=site.layer, head=0, stream=site.stream, call=site.call)[-1]
    nothing = batches.nothing_to_see(scores[scores > -1e30]).set_index("mask")["sum"]
    fills = ["-1e9", "-1e4", "-20", "-10", "x 0"]
    return Measurement(
        {
            "float32": float(table["leak"]["-1e9", "float32"]),
            "bfloat16": float(table["leak"]["-1e9", "bfloat16"]),
            "raises": float(table["raises"]["-1e9", "float16"]),
            "added": float(_leaks(subject, added=True)["leak"]["-1e9", "float16"]),
            "no_number": _no_number(scores),
            "ten": float(table["leak"]["-10", "float32"]),
            "nothing": float(nothing["filled with -1e9"]),
        },
        Bars(
            [NAMES[fill] for fill in fills],
            [100 * float(table["leak"][fill, "float32"]) for fill in fills],
            Both("weight on padding in float32, %", "float32 下落在填充上的权重，%"),
            parts=["attention"] * len(fills),
        ),
    )


def _order(subject: Subject) -> Measurement:
    before, after = (
        _leaks(subject, before_scale=first, added=True).xs("float32", level="dtype") for first in (True, False)
    )
    fills = ["-inf", "-1e9", "-20", "-10"]
    apart = (before["leak"] - after["leak"]).abs()
    return Measurement(
        {
            "infinite": float(apart["-inf"]),
            "billion": float(apart["-1e9"]),
            "twenty": float(apart["-20"]),
            "before": float(before["leak"]["-20"]),
            "after": float(after["leak"]["-20"]),
        },
        Bars(
            [NAMES[fill] for fill in fills],
            [100 * float(before["leak"][fill]) for fill in fills],
            Both("weight on padding, mask before the scale, %", "先加掩码再缩放时落在填充上的权重，%"),
            parts=["attention"] * len(fills),
        ),
    )


def _name(subject: Subject) -> Measurement:
    batch = _padded(subject)
    site = batch.rows[0].trace.sites[0]
    seen = [
        batch.seen(text, layer=site.layer, head=0, stream=site.stream, call=site.call)
        for text in range(len(batch.texts))
    ]
    longest, shortest = (pick(range(len(seen)), key=batch.lengths.__getitem__) for pick in (max, min))
    of_longest = seen[longest].query_owner == longest
    full, short = seen[longest].mask[of_longest][:, of_longest], seen[shortest]
    real = short.query_owner == shortest
    return Measurement(
        {
            "later": float((~full).sum()),
            "tokens": float(of_longest.sum()),
            "padding": float((~short.mask[real][:, short.key_owner < 0]).sum()),
            "weight": max(text.to_masked for text in seen),
        },
        Heatmap(
            short.mask.astype(np.float32),
            rows=short.queries,
            columns=short.keys,
            row_title=Both("query", "查询"),
            column_title=Both("key", "键"),
            quantity=Both("1: may be seen, 0: masked", "1：可见，0：被遮住"),
            title=Both("the mask of a padded text", "有填充的文本的掩码"),
        ),
    )


def _moves(table: pd.DataFrame) -> Lines:
    return Lines(
        (
            Series(
                Both("change of the token's state", "token 隐藏状态的变化"),
                table["position"].tolist(),
                table["largest"].tolist(),
            ),
        ),
        x_title=Both("token, by its place; the line is the changed one", "token 的位置；竖线处为被改动的 token"),
        y_title=Both("largest change of a number", "数值的最大变化"),
        mark_x=float((len(table) - 1) // 2),
    )


def _future(subject: Subject) -> Measurement:
    before, after, table = changed(subject)
    encoder, *_ = changed(subject.of(ENCODER.stand_in(subject.at_hand)))
    return Measurement({"before": before, "after": after, "encoder": encoder}, _moves(table))


def _bert(subject: Subject) -> Measurement:
    before, _, table = changed(subject)
    crossed = subject.of("translator").trace
    records = [crossed.record_of(site.layer, site.stream) for site in crossed.sites if site.stream == "cross"]
    sizes = [(len(record.site.queries), len(record.site.keys)) for record in records]
    hidden = sum(
        int((~record.mask.rows(0, queries).expand(1, 1, queries, keys)).sum())
        for record, (queries, keys) in zip(records, sizes, strict=True)
        if record.mask is not None
    )
    cells = sum(queries * keys for queries, keys in sizes)
    cross_calls = sum(site.stream == "cross" for site in subject.trace.sites)
    return Measurement(
        {"cross": float(cross_calls), "before": before, "hidden": float(hidden), "cells": float(cells)},
        _moves(table),
    )


def _lengths(subject: Subject) -> Measurement:
    beside = sentences(subject)
    texts = (read_of(subject), beside[1], beside[0])
    alone, padded, packed = (batches.read(subject.loaded, texts, layout=way) for way in ("alone", "right", "packed"))
    differences = batches.compare(packed, alone)
    widths = {row.trace.output.shape[1] for row in alone.rows}
    return Measurement(
        {
            "padding": float(padded.padding),
            "packed": float(packed.padding),
            "difference": float(differences["relative"].max()),
            "widths": float(len(widths)),
        },
        Bars(
            [Both("padded", "填充"), Both("packed in one row", "拼成一行"), Both("one by one", "逐个读取")],
            [float(batch.cells) for batch in (padded, packed, alone)],
            Both("cells computed", "要计算的位置数"),
            parts=["attention"] * 3,
        ),
    )


MEASURES: dict[int, Measure] = {
    67: _padding_mask,
    68: _large,
    69: _order,
    70: _name,
    71: _future,
    72: _bert,
    73: _lengths,
}
