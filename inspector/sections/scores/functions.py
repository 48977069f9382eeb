"""Score functions side by side: what each costs at the reader's sizes, and what kind of function it is."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector.costs import score_functions
from inspector.costs.score_functions import BYTES, FUNCTIONS, FunctionTimes, Sizes, cost
from inspector.plots.chart import Chart
from inspector.scores import functions
from inspector.sections.picks import Count, Option
from inspector.sections.scores.open_head import OPEN, OpenHead
from inspector.sections.section import Block, Figure, Mark, Measurement, Note, Paragraph, Row, Section, Sentence, Table
from inspector.text import quantity
from inspector.wording import phrases, scores
from inspector.wording import score_functions as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject

Amount = Literal["flops", "largest_bytes"]
UNITS: dict[Amount, tuple[str, str]] = {"flops": ("FLOPs", "FLOP"), "largest_bytes": ("bytes", "B")}
COLOURS = {"dot": "heads 0", "general": "heads 2", "additive": "heads 1", "additive_naive": "heads 1"}
COLOURS |= {"linear": "heads 3"}
WIDTHS = (8, 32, 128, 512)
LONGEST = 100_000


def answer(
    subject: Subject,
    *,
    head: tuple[int, int, int],
    race_tokens: int,
    race_width: int,
    race_heads: int,
    race_amount: Amount,
) -> Iterator[Block]:
    """Yield bars and curves, the clock, the table with formulas, and what kind of functions they are."""
    sizes, amount = Sizes(race_tokens, race_width, race_heads), race_amount
    about = (Mark(f"race-{race_amount}", {"function": function}) for function in ("additive", "linear"))
    yield Sentence(race(sizes), words.TERMS, tuple(about))
    given = (
        "from inspector.costs import score_functions\n\n"
        f"sizes = score_functions.Sizes({sizes.tokens}, {sizes.width}, heads={sizes.heads})\n"
    )
    table, lengths = score_functions.table(sizes), _lengths(sizes.tokens)
    by_length = score_functions.by_length(sizes, lengths)
    yield Row(
        (
            Figure(
                f"race-{amount}",
                "",
                _bars(table, amount),
                words.amount_alt(amount, tokens=sizes.tokens),
                f"{given}table = score_functions.table(sizes)",
                table,
            ),
            Figure(
                f"race-{amount}-by-length",
                "",
                _by_length(by_length, amount, tokens=sizes.tokens),
                words.by_length_alt(amount),
                f"{given}table = score_functions.by_length(sizes, {lengths})",
                by_length,
            ),
        )
    )
    additive, dot = (BYTES * cost(function, sizes).largest for function in ("additive", "dot"))
    yield Paragraph(words.largest(additive=additive, dot=dot))
    key = ("score functions", sizes)
    yield Measurement(
        "measure-scores",
        key,
        lambda on_progress, so_far: score_functions.measure(sizes, on_progress=on_progress, on_turn=so_far),
        words.about_clock(score_functions.left_out(sizes)),
        lambda timed: iter([Paragraph(words.timed(timed))]),
    )
    shown = _written(table, sizes, subject.measured(key))
    yield Table("score-functions", shown, words=words.TABLE_HEADS, folded=False)
    yield Note(words.ABOUT_TABLE)
    yield from _properties(OpenHead.of(subject, head))


def _bars(table: pd.DataFrame, amount: Amount) -> Chart:
    """Draw a bar for each function, its number behind it; table: of `score_functions.table`."""
    values, (axis, unit) = table[amount], UNITS[amount]
    low, high = (log10(max(value, 1)) for value in (values.min(), values.max()))
    return Chart(
        table.assign(name=table["function"].map(words.NAMES), text=[quantity(value, unit) for value in values]),
        "name",
        amount,
        "bars",
        each="function",
        parts=COLOURS,
        text="text",
        y_title=f"{axis}, logarithmic",
        title=words.DRAWN[amount],
        y_log=True,
        y_range=(low - 1, high + 1.2),
        y_format="~s",
        sideways=True,
        height=320,
    )


def _by_length(table: pd.DataFrame, amount: Amount, *, tokens: int) -> Chart:
    """Draw a line for each function, with the reader's length marked; table: of `score_functions.by_length`."""
    return Chart(
        table,
        "tokens",
        amount,
        "curves",
        by="function",
        names=words.NAMES,
        parts=COLOURS,
        styles={"additive_naive": 1, "linear": 2},
        x_title=words.TEXT_LENGTH,
        y_title=UNITS[amount][0],
        title=f"{words.DRAWN[amount]} by length",
        x_marks={"": tokens},
        x_log=True,
        y_log=True,
        x_format="~s",
        y_format="~s",
        below=True,
        height=400,
    )


def _lengths(tokens: int) -> list[int]:
    return sorted({*np.geomspace(8, 32_768, 25).round().astype(int).tolist(), tokens})


def _written(table: pd.DataFrame, sizes: Sizes, timed: FunctionTimes | None) -> pd.DataFrame:
    """Return the numbers with the formula of each, and milliseconds where they were measured."""
    formulas = [
        words.formula(one, tokens=sizes.tokens, d_k=sizes.width, heads=sizes.heads) for one in table["function"]
    ]
    shown = table.assign(function=[words.NAMES[one] for one in FUNCTIONS])
    shown["score"] = [words.WRITTEN[one] for one in FUNCTIONS]
    shown["formula"], shown["with numbers"] = zip(*formulas, strict=True)
    alone = table["scores_flops"] / table["scores_flops"].iloc[0]
    shown["scores_times_dot"] = alone.where(alone > 0)  # linear attention makes no scores
    if timed is not None:
        shown["milliseconds"] = [1000 * timed.seconds.get(one, nan) for one in FUNCTIONS]
    return shown[[name for name in words.TABLE_HEADS if name in shown]]


def _properties(opened: OpenHead) -> Iterator[Block]:
    """Yield what kind of functions these are, on the open head and before training."""
    subject, record, lines = opened.subject, opened.record, list[str]()
    try:
        found = subject.once(("score functions", opened.at), lambda: functions.on_head(record))
    except ValueError as error:
        lines.append(f"{str(error).capitalize()}.")
    else:
        lines += words.properties(found, width=record.query.shape[-1])
    spread = subject.of_all(("score functions before training", WIDTHS), lambda: functions.variances(WIDTHS))
    yield Paragraph(phrases.bullets([*lines, words.spread(spread)]), words.KIND)
    yield Note(words.about_properties(opened.name))
    yield Table("score-functions-spread", spread, words.SPREAD)


def race(sizes: Sizes) -> str:
    """Say what additive scores and linear attention cost beside dot products."""
    dot = cost("dot", sizes).flops
    return words.race(
        additive=cost("additive", sizes).flops / dot,
        linear=cost("linear", sizes).flops / dot,
        cheaper=floor(sizes.width + 0.5) + 1,  # 4 n d^2 + 2 n d < 4 n^2 d where n > d + 1/2
    )


def _open(subject: Subject) -> OpenHead:
    """Find the head that opens first."""
    return OpenHead.of(subject, OPEN.first(subject))


RACE = (
    Count("race_tokens", words.TOKENS, lambda subject: LONGEST, lambda subject: len(_open(subject).site.keys), 1),
    Count("race_width", words.WIDTH, lambda subject: 8192, lambda subject: _open(subject).width or 64, 1),
    Count("race_heads", words.HEADS, lambda subject: 512, lambda subject: _open(subject).site.heads, 1),
    Option("race_amount", words.COMPARED, lambda subject: words.AMOUNTS),
)
SECTION = Section("race", scores.FUNCTIONS, answer, (OPEN, *RACE), long=True)
