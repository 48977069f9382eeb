"""Milliseconds beside FLOPs: the clock, which runs only when it is asked, and the roofline of any device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from inspector.costs import clock, clocked
from inspector.plots import costs as draw
from inspector.sections.costs import counts
from inspector.sections.picks import Count
from inspector.sections.section import Block, Figure, Paragraph, Section, Table
from inspector.wording import costs as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs.clock import LayerTimes
    from inspector.sections.subject import Subject

LENGTHS = (64, 128, 256, 512, 1024)


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the clock on this machine, and what a device of the reader's could reach."""
    counts.layer_shape(subject)  # says why there is none to time
    yield CLOCK
    yield DEVICE


def _clock(subject: Subject) -> Iterator[Block]:
    yield counts.measurement(subject, LENGTHS, id="measure-lengths", answer=partial(_lengths, subject))


def _lengths(subject: Subject, measured: LayerTimes) -> Iterator[Block]:
    """Yield milliseconds against the length of the text, and what was achieved."""
    yield Paragraph(words.measured(measured))
    times = clocked.by_length(measured)
    yield Figure(
        "clock",
        "",
        counts.milliseconds(times, "tokens", x_title=words.TEXT_LENGTH, title=words.OF_A_LAYER),
        words.BY_CLOCK_ALT,
        f"{counts.measure_code(subject, LENGTHS)}table = measured.table",
        measured.table,
        note=words.medians(measured),
    )
    yield Paragraph(words.rates(measured))
    yield Table("clock-rates", rates(measured.table), words.RATES, words.RATE_HEADS)


def _device(subject: Subject, *, peak: int, bandwidth: int) -> Iterator[Block]:
    tokens = subject.configuration.tokens
    work = clock.work(counts.layer_shape(subject), tokens)
    held = work[work["flops"] / work["bytes"] < peak / bandwidth]["part"]
    yield Figure(
        "roofline",
        "",
        draw.roofline(work, peak=1e9 * peak, bandwidth=1e9 * bandwidth),
        words.ROOFLINE_ALT,
        f"{counts.code(subject)}from inspector.costs import clock\n\n"
        f"table = clock.work(clock.layer_shape(config), {tokens})",
        work,
        note=words.held_by_memory(list(held), ridge=peak / bandwidth, tokens=tokens),
    )


def rates(times: pd.DataFrame) -> pd.DataFrame:
    """Give the rates of each part in milliseconds, GFLOP/s and GB/s; times: of `Measured`."""
    found = times.assign(
        milliseconds=1000 * times["seconds"],
        gflops=times["flops"] / times["seconds"] / 1e9,
        gbytes=times["bytes"] / times["seconds"] / 1e9,
    )
    return found[["tokens", "part", "milliseconds", "gflops", "gbytes"]]


def _rate(id: str, label: str, default: int, last: int, help: str) -> Count:
    return Count(id, label, lambda subject: last, lambda subject: default, first_value=1, help=help)


CLOCK = Section("clock", words.ON_CLOCK, _clock, about="configuration")
DEVICE = Section(
    "device",
    words.ON_DEVICE,
    _device,
    (
        _rate("peak", words.PEAK, 1000, 10**7, words.PEAK_HELP),
        _rate("bandwidth", words.BANDWIDTH, 50, 10**6, words.BANDWIDTH_HELP),
    ),
    about="configuration",
)
SECTION = Section("time", words.TIME, answer, about="configuration", waits=words.COUNTING, parts=(CLOCK, DEVICE))
