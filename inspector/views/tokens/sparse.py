"""The section Sparse masks: Longformer's and BigBird's masks, their cells and costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.plots.tokens import sparse as draw
from inspector.readings.tokens import sparse as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, link, sentence, session, widgets
from inspector.wording.english.tokens import sparse as words

if TYPE_CHECKING:
    from inspector.costs.clock import LayerShape
    from inspector.long_texts import Pattern
    from inspector.views.shell.session import Inspected

LONGEST, FIRST = 256, 64  # tokens of the picture
LENGTHS = tuple(2**power for power in range(5, 17))  # whole blocks, so that BigBird's line has no steps
QUANTITIES: dict[draw.Quantity, str] = {"pairs": "Scores and mix", "flops": "A layer", "cells": "Cells"}


def show(inspected: Inspected) -> None:
    """Draw the section: the rule beside full attention, its numbers, and its cost by length."""
    trace, place = inspected.trace, st.container()
    rule = widgets.bar("Rule", list(words.RULES), "rule", default="longformer", words=words.RULES.__getitem__)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        tokens, labels = _length(list(trace.tokens))
        patterns = _patterns(rule)
    pattern = patterns[rule]
    shape, problem = _shape(inspected)
    found = session.cached(("masked", pattern, tokens), lambda: read.masked(pattern, tokens))
    worth = None
    if shape is not None:
        worth = session.cached(("worth", pattern, shape, tokens), lambda: read.worth(pattern, shape, tokens=tokens))
    name = available_models.name(trace.model)
    layers = len(trace.sites_of(trace.streams[0]))
    with place:
        sentence.show(words.shown(found, worth, rule=rule, model=name, layers=layers), words.TERMS)
    _maps(pattern, tokens=tokens, labels=labels, rule=rule)
    widgets.numbers(words.numbers(found, worth, pattern=pattern, shape=shape))
    st.markdown(words.formula(pattern, tokens))
    st.caption(words.about(rule))
    _growth(patterns, rule, shape, problem, tokens=tokens, inspected=inspected)


def _length(texts: list[str]) -> tuple[int, list[str] | range]:
    """Let the reader choose n: a number, or the tokens of the sidebar's text."""
    own = st.toggle(
        "My text's tokens",
        key="own_tokens",
        bind=link.bind_switch("own_tokens"),
        help=f"The mask over the sidebar's text, {LONGEST} tokens of it at most.",
    )
    if own:
        return min(len(texts), LONGEST), texts[:LONGEST]
    number = widgets.number("Tokens (n)", "n", default=FIRST, first=2, last=LONGEST, width=104)
    return number, range(number)


def _patterns(rule: str) -> dict[str, Pattern]:
    """Draw the rule's controls, and give every rule, the others with what was set last."""
    from inspector.long_texts import BigBird, Causal, Chunks, Dilated, Full, Longformer, Window

    side = step = count = size = chunk = drawn = seed = None
    if rule in ("window", "dilated", "longformer"):
        side = _number("To each side (s)", "side", 8, first=0, last=LONGEST)
    if rule == "dilated":
        step = _number("Every d-th", "step", 3, first=1, last=32)
    if rule == "longformer":
        count = _number("Global tokens (g)", "globals", 1, first=0, last=32)
    if rule == "chunks":
        chunk = _number("Chunk (c)", "chunk", 8, first=1, last=LONGEST)
    if rule == "bigbird":
        size = _number("Block (b)", "block", 4, first=1, last=LONGEST)
        drawn = _number("Random blocks (r)", "random_blocks", 1, first=0, last=16)
        seed = _number("Seed", "mask_seed", 0, first=0, last=999)
    side = _held(side, 8)
    return {
        "full": Full(),
        "causal": Causal(),
        "window": Window(side),
        "dilated": Dilated(side, _held(step, 3)),
        "longformer": Longformer(side, _held(count, 1)),
        "bigbird": BigBird(_held(size, 4), _held(drawn, 1), _held(seed, 0)),
        "chunks": Chunks(_held(chunk, 8)),
    }


def _number(label: str, name: str, default: int, *, first: int, last: int) -> int:
    return widgets.number(label, name, default=default, first=first, last=last, width=118)


def _held(value: int | None, default: int) -> int:
    return default if value is None else value


def _shape(inspected: Inspected) -> tuple[LayerShape | None, str]:
    """Read a layer's sizes; None and the reason where FLOPs of a layer cannot be counted."""
    from inspector.costs import clock

    try:
        loaded = inspected.loaded
        if loaded is None:
            return None, "The model of this saved trace is not at hand, so only cells are counted."
        return clock.layer_shape(loaded.config), ""
    except ValueError as error:
        return None, f"Only cells are counted here: {error}."


def _maps(pattern: Pattern, *, tokens: int, labels: list[str] | range, rule: str) -> None:
    from inspector.long_texts import Causal, Full, reasons

    beside = (Causal(), "Causal mask") if rule == "full" else (Full(), "Full attention")

    panels = [
        matrix.Panel(reasons(one, tokens).astype(np.float32), rows=labels, columns=labels, title=title)
        for one, title in ((pattern, words.RULES[rule]), beside)
    ]
    matrix.show(
        *panels,
        row_title="query",
        column_title="key",
        quantity="reason (3 near, 2 global, 1 random)",
        top=3.0,
        name=f"mask-{rule}",
        key="sparse-mask",
        python=f"from inspector.long_texts import *\n\nmask = seen({pattern!r}, {tokens})",
    )
    st.caption(
        "3: seen as near (window, block or chunk); 2: seen by a global token, or as one; "
        "1: a random block; 0: not seen, and never multiplied."
    )


def _growth(
    patterns: dict[str, Pattern],
    rule: str,
    shape: LayerShape | None,
    problem: str,
    *,
    tokens: int,
    inspected: Inspected,
) -> None:
    from inspector.costs.clock import LayerShape
    from inspector.long_texts import growth

    st.subheader("Cost by length", anchor=False)
    known: list[draw.Quantity] = list(QUANTITIES) if shape is not None else ["cells"]
    counted: draw.Quantity = widgets.bar("What to count", known, "counted", words=QUANTITIES.__getitem__)
    lengths = sorted({*LENGTHS, tokens})
    # Cells need no sizes of a layer.
    sizes = shape or LayerShape(width=1, heads=1, kv_heads=1, head_width=1, ffn_width=1, gated=False)
    table = growth(sizes, patterns, lengths)
    loaded = inspected.loaded if shape is not None else None
    chart.show(
        partial(
            draw.growth,
            table,
            names=words.RULES,
            chosen=rule,
            quantity=counted,
            here=tokens,
            most=None if loaded is None else loaded.max_tokens,
        ),
        alt="Cost of each rule by the length of the text, on log axes",
        key="sparse-growth",
        table=table if shape is not None else table[["pattern", "tokens", "cells", "share"]],
        python=(
            "import models\nfrom inspector.costs.clock import layer_shape\nfrom inspector.long_texts import *\n\n"
            f"shape = layer_shape(models.load({inspected.trace.model!r}).config)\n"
            f"table = growth(shape, {patterns!r}, {lengths!r})"
        ),
    )
    st.caption(problem or words.COUNTED)
