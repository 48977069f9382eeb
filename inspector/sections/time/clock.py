"""Serial or parallel: n steps of an LSTM beside one pass of attention, counted and on the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import stepwise
from inspector.plots.chart import Chart
from inspector.sections.picks import Count, Option
from inspector.sections.section import (
    Block,
    Figure,
    Mark,
    Measurement,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
)
from inspector.wording import time as wording

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from inspector.stepwise import Layer

words = wording.clock

COUNTED = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
TIMED = (32, 128, 512, 1024, 2048)
WIDTHS = {width: width for width in ("64", "128", "256", "512")}
PARTS = {
    "lstm": "residual",
    "lstm_steps": "residual",
    "lstm_apart": "residual",
    "attention": "attention",
    "block": "ffn",
}
STYLES = {"lstm_steps": 1, "lstm_apart": 2, "block": 3}


def answer(subject: Subject, *, serial_width: str, serial_tokens: int) -> Iterator[Block]:
    """Yield the work and the waiting of a layer by length, and the clock; nothing is asked of the text."""
    width, tokens = int(serial_width), serial_tokens
    flops = {layer: stepwise.flops(layer, tokens=tokens, width=width) for layer in stepwise.LAYERS}
    said = words.counting(tokens=tokens, lstm=flops["lstm"], attention=flops["attention"])
    about = (Mark("clock-flops", {"tokens": tokens}),) if tokens in COUNTED else ()
    yield Sentence(said, words.TERMS, about)
    table = stepwise.table(COUNTED, width=width)
    code = f"from inspector import stepwise\n\ntable = stepwise.table({list(COUNTED)}, width={width})"
    here = {words.chosen(tokens): float(tokens)}
    work = replace(
        _by_length(table, "flops", of="layer"),
        y_title=words.FLOPS_TITLE,
        title=words.flops_title(width),
        x_marks=here,
    )
    waiting = replace(work, y="waiting", y_title=words.WAITING_TITLE, title=words.WAITING_NAME)
    yield Row(
        (
            Figure("clock-flops", words.FLOPS, work, words.FLOPS_ALT, code, table),
            Figure("clock-waiting", words.WAITING, waiting, words.WAITING_ALT, code, table),
        )
    )
    yield Numbers(tuple(Number(*cost) for cost in words.costs(tokens=tokens, flops=flops)), of=words.at(tokens))
    yield Paragraph("", words.TIME)
    yield _clock(width)
    yield replace(MORE, answer=partial(_more, width=width, tokens=tokens, flops=flops))


def _more(subject: Subject, *, width: int, tokens: int, flops: Mapping[Layer, int]) -> Iterator[Block]:
    """Yield the formulas of the work, and where the common sentences hold."""
    yield Note(words.formulas(tokens=tokens, width=width, flops=flops))
    yield Paragraph(words.conditions(stepwise.crossing(width=width)))


def _clock(width: int) -> Measurement:
    def work(
        on_progress: Callable[[int, int], object], so_far: Callable[[stepwise.SerialTimes], object]
    ) -> stepwise.SerialTimes:
        return stepwise.measure(TIMED, width=width, on_progress=on_progress, on_turn=so_far)

    about = words.measuring(width=width, first=TIMED[0], last=TIMED[-1])
    return Measurement("measure-serial", ("serial or parallel", width), work, about, _timed)


def _timed(timed: stepwise.SerialTimes) -> Iterator[Block]:
    """Yield what the clock found."""
    width = timed.width
    chart = replace(
        _by_length(timed.table.assign(milliseconds=1000 * timed.table["seconds"]), "milliseconds", of="run"),
        y_title=words.TIME_TITLE,
        title=words.time_title(width),
    )
    code = f"from inspector import stepwise\n\ntable = stepwise.measure({list(TIMED)}, width={width}).table"
    yield Figure(
        "clock-time",
        "",
        chart,
        words.TIME_ALT,
        code,
        timed.table,
        sentence=timing(timed),
        note=words.measured(timed),
    )


def timing(timed: stepwise.SerialTimes) -> str:
    """Say what the clock found at its longest length, and from which length on attention is slower."""
    seconds = timed.table.pivot_table(index="tokens", columns="run", values="seconds")
    longest = int(seconds.index.max())
    slower = None
    for tokens, ratio in sorted(timed.ratios("attention", "lstm").items(), reverse=True):
        if ratio <= 1:
            break
        slower = tokens
    return words.timing(
        tokens=longest,
        seconds={str(run): float(value) for run, value in seconds.loc[longest].items()},
        slower=slower,
        crossing=stepwise.crossing(width=timed.width),
        waiting=timed.ratios("lstm", "lstm_apart")[longest],
        threads=timed.threads,
    )


def _by_length(table: pd.DataFrame, column: str, *, of: str) -> Chart:
    """Lay out a column by length, a line for each layer or run: recurrence is grey, an FFN amber."""
    return Chart(
        table,
        "tokens",
        column,
        by=of,
        names=words.LAYERS if of == "layer" else words.RUNS,
        parts=PARTS,
        styles=STYLES,
        x_title=words.LENGTHS,
        x_log=True,
        y_log=True,
        height=380,
    )


MORE = Section("clock_more", wording.MORE, _more, about="course", folded=True)
SECTION = Section(
    "clock",
    words.CLOCK,
    answer,
    (
        Option("serial_width", words.WIDTH, lambda subject: WIDTHS, lambda subject: "128", named=True),
        Count("serial_tokens", words.TOKENS, lambda subject: COUNTED[-1], lambda subject: 512, first_value=1),
    ),
    about="course",
    waits=words.COUNTING,
    parts=(MORE,),
)
