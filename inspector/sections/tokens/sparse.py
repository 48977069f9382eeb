"""Sparse masks: Longformer's and BigBird's masks, their cells and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from inspector.components.matrix import Panel
from inspector.costs import clock
from inspector.long_texts import (
    BigBird,
    Causal,
    Chunks,
    Dilated,
    Full,
    Longformer,
    Window,
    growth,
    layer_flops,
    layers_between,
    pays_off,
    reasons,
    saving,
    seen,
)
from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Count, Option, Switch
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Mark,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
)
from inspector.text import plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.costs.clock import LayerShape
    from inspector.long_texts import Pattern
    from inspector.sections.subject import Subject

words = wording.sparse

Quantity = Literal["cells", "pairs", "flops"]
LONGEST, FIRST = 256, 64  # tokens of the picture
LENGTHS = tuple(2**power for power in range(5, 17))  # whole blocks, so that BigBird's line has no steps
TENTH, HALF = 0.1, 0.5
NO_SIZES = clock.LayerShape(width=1, heads=1, kv_heads=1, head_width=1, ffn_width=1, gated=False)
"""The layer of which cells are counted, which need no sizes."""


def _count(id: str, label: str, default: int, *, first: int, last: int) -> Count:
    return Count(id, label, lambda subject: last, lambda subject: default, first_value=first, width=118)


SIDE = _count("side", words.SIDE, 8, first=0, last=LONGEST)
STEP = _count("step", words.STEP, 3, first=1, last=32)
GLOBALS = _count("globals", words.GLOBALS, 1, first=0, last=32)
CHUNK = _count("chunk", words.CHUNK, 8, first=1, last=LONGEST)
BLOCK = _count("block", words.BLOCK, 4, first=1, last=LONGEST)
RANDOM = _count("random_blocks", words.RANDOM, 1, first=0, last=16)
SEED = _count("mask_seed", words.SEED, 0, first=0, last=999)
LENGTH = replace(_count("n", words.TOKENS, FIRST, first=2, last=LONGEST), width=104)
CHOICES = {
    "window": (SIDE,),
    "dilated": (SIDE, STEP),
    "longformer": (SIDE, GLOBALS),
    "chunks": (CHUNK,),
    "bigbird": (BLOCK, RANDOM, SEED),
}


@dataclass(frozen=True)
class Sizes:
    """A layer's sizes, and the tokens that the model reads; None and the reason where FLOPs cannot be counted."""

    shape: LayerShape | None
    reads: int | None
    why_not: str = ""


def answer(subject: Subject, *, rule: str, own_tokens: bool) -> Iterator[Block]:
    """Yield the part with the choices of the rule."""
    own_tokens &= subject.recording is not None
    picks = (*(() if own_tokens else (LENGTH,)), *CHOICES.get(rule, ()))
    yield replace(MASK, answer=partial(_masked, rule=rule), picks=picks)


def _masked(subject: Subject, *, rule: str, n: int | None = None, **set_to: int) -> Iterator[Block]:
    """Yield a rule beside full attention, its numbers, and its cost by length."""
    labels = subject.trace.tokens[:LONGEST] if n is None else range(n)
    tokens = len(labels)
    patterns = of_rules(subject, set_to)
    pattern, sizes = patterns[rule], _sizes(subject)
    name = "" if subject.loaded is None else plain(names.name(subject.loaded))
    cells = pattern.cells(tokens)
    shown = subject.of_all(("sparse", pattern, tokens), lambda: seen(pattern, tokens))
    between = subject.of_all(("layers between", pattern, tokens), lambda: layers_between(shown))
    needed = None if np.isnan(between).any() else int(between.max())
    said = words.shown(
        rule=rule,
        tokens=tokens,
        cells=cells,
        needed=needed,
        layers=None if subject.loaded is None else len(subject.trace.sites_of(subject.trace.streams[0])),
        model=name,
    )
    by_query = shown.sum(axis=1)
    numbers = words.numbers(
        tokens=tokens,
        cells=cells,
        causal=int((shown & seen(Causal(), tokens)).sum()),
        fewest=int(by_query.min()),
        most=int(by_query.max()),
        needed=needed,
    )
    if (shape := sizes.shape) is not None:
        tenth, half = subject.of_all(
            ("pays off", pattern, shape), lambda: [pays_off(shape, pattern, share=share) for share in (TENTH, HALF)]
        )
        saved = saving(shape, pattern, tokens)
        said = f"{said} {words.worth(saved=saved, tenth=tenth, half=half, model=name)}"
        sparse, full = (layer_flops(shape, one, tokens) for one in (pattern, Full()))
        numbers += words.savings(sparse=sparse, full=full, saved=saved, tenth=tenth)
    marks = [Mark("sparse-growth", {"pattern": rule, "tokens": tokens})]
    farthest = None
    if needed is not None:
        farthest = divmod(int(between.argmax()), tokens)
        marks.append(Mark("sparse-reach", dict(zip(("row", "column"), farthest, strict=True))))
    yield Sentence(said, words.TERMS, tuple(marks))
    yield Row((_map(pattern, rule, tokens=tokens, labels=labels), _reach(pattern, between, farthest, labels=labels)))
    yield Numbers(tuple(Number(*one) for one in numbers))
    yield Paragraph(words.formula(pattern, tokens))
    yield Note(words.about(rule))
    known = words.QUANTITIES if sizes.shape is not None else {"cells": words.QUANTITIES["cells"]}
    counted = replace(COUNTED, options=lambda subject: known)
    grown = partial(_grown, patterns=patterns, rule=rule, sizes=sizes, tokens=tokens)
    yield replace(GROWTH, answer=grown, picks=(counted,))


def of_rules(subject: Subject, set_to: Mapping[str, int]) -> dict[str, Pattern]:
    """Make every rule's pattern, with what is chosen and the defaults of what is not."""
    value = {pick.id: pick.first(subject) for picks in CHOICES.values() for pick in picks} | dict(set_to)
    return {
        "full": Full(),
        "causal": Causal(),
        "window": Window(value["side"]),
        "dilated": Dilated(value["side"], value["step"]),
        "longformer": Longformer(value["side"], value["globals"]),
        "bigbird": BigBird(value["block"], value["random_blocks"], value["mask_seed"]),
        "chunks": Chunks(value["chunk"]),
    }


def _sizes(subject: Subject) -> Sizes:
    if subject.loaded is None:
        return Sizes(None, None, words.NO_TEXT if subject.recording is None else words.NO_MODEL)
    try:
        return Sizes(clock.layer_shape(subject.loaded.config), subject.loaded.max_tokens)
    except ValueError as error:
        return Sizes(None, None, plain(words.not_counted(str(error))))


def _map(pattern: Pattern, rule: str, *, tokens: int, labels: Sequence[Any]) -> Map:
    """Draw the cells of a rule, each by the reason why it is seen."""
    return Map(
        "sparse-mask",
        words.RULES[rule],
        (Panel(reasons(pattern, tokens).astype(np.float32), rows=labels, columns=labels),),
        row_title="query",
        column_title="key",
        alt=words.MASK_ALT,
        quantity=words.REASON,
        kinds=words.KINDS,
        code=f"from inspector.long_texts import *\n\ntable = reasons({pattern!r}, {tokens})",
        note=words.REASONS,
        name=f"mask-{rule}",
    )


def _reach(
    pattern: Pattern, between: NDArray[np.float32], farthest: tuple[int, int] | None, *, labels: Sequence[Any]
) -> Map:
    """Draw how many layers each query needs to hear of each key."""
    return Map(
        "sparse-reach",
        words.REACH,
        (Panel(between, rows=labels, columns=labels, named=farthest),),
        row_title="query",
        column_title="key",
        alt=words.REACH_ALT,
        quantity=words.LAYERS,
        code=f"from inspector.long_texts import *\n\ntable = layers_between(seen({pattern!r}, {len(between)}))",
        note=words.REACHED,
        name="layers-to-reach",
    )


def _grown(
    subject: Subject, *, counted: Quantity, patterns: Mapping[str, Pattern], rule: str, sizes: Sizes, tokens: int
) -> Iterator[Block]:
    """Yield what each rule costs by the length of the text."""
    lengths = sorted({*LENGTHS, tokens})
    table = growth(sizes.shape or NO_SIZES, patterns, lengths)
    chart = by_length(table, chosen=rule, quantity=counted, here=tokens, most=sizes.reads)
    shape = (
        f"from inspector.costs.clock import LayerShape\n\nshape = {NO_SIZES!r}"
        if sizes.shape is None
        else "from inspector.costs.clock import layer_shape\n\n"
        f"shape = layer_shape(models.load({subject.trace.model!r}).config)"
    )
    yield Figure(
        "sparse-growth",
        "",
        chart,
        words.GROWTH_ALT,
        f"import models\nfrom inspector.long_texts import *\n{shape}\ntable = growth(shape, {patterns!r}, {lengths!r})",
        table if sizes.shape is not None else table[["pattern", "tokens", "cells", "share"]],
        note=sizes.why_not or words.COUNTED,
    )


def by_length(table: pd.DataFrame, *, chosen: str, quantity: Quantity, here: int, most: int | None) -> Chart:
    """Draw what each pattern costs by length, the chosen one thick; table: of `long_texts.growth`.

    here: the length in the picture above, marked on the chosen line. most: the longest text that the model reads.
    """
    point = table[(table["pattern"] == chosen) & (table["tokens"] == here)]
    colours = {rule: f"heads {at}" for at, rule in enumerate(rule for rule in words.RULES if rule != "full")}
    colours["full"] = "muted"
    return Chart(
        pd.concat([table, point.assign(pattern="here")]),
        "tokens",
        quantity,
        "curves",
        by="pattern",
        names={**words.RULES, "here": ""},
        parts={**colours, "here": colours[chosen]},
        styles={"full": 1},
        marks={"here": "points"},
        sizes={**dict.fromkeys(colours, 1.8), chosen: 4, "here": 10},
        hover={"share": words.SHARE},
        x_title=words.LENGTH,
        y_title=words.AXES[quantity],
        title=words.BY_LENGTH,
        x_marks={} if most is None else {words.reads(most): most},
        x_log=True,
        y_log=True,
        x_format=",d",
        below=True,
        height=430,
    )


COUNTED = Option("counted", words.COUNT, lambda subject: words.QUANTITIES)
GROWTH = Section("growth", words.BY_LENGTH, _grown, (COUNTED,))
MASK = Section("mask", "", _masked, (LENGTH, *dict.fromkeys(pick for picks in CHOICES.values() for pick in picks)))
SECTION = Section(
    "sparse",
    words.SPARSE,
    answer,
    (
        Option("rule", words.RULE, lambda subject: words.RULES, lambda subject: "longformer", look="list", width=180),
        Switch("own_tokens", words.OWN, help=words.own_help(LONGEST)),
    ),
    about="course",
    parts=(MASK, GROWTH),
)
