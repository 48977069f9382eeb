"""Figures of a head over a corpus hold the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inspector.atlas.measures import BINS, find
from inspector.atlas.reading.distribution import MeasureDistribution
from inspector.plots.atlas import card, distribution, offsets, relations
from inspector.plots.atlas.units import even_ticks, root_ticks, written
from inspector.plots.scene import Text
from tests.closeness import assert_close


def found(name: str = "previous", **counts: int) -> MeasureDistribution:
    own = np.zeros(BINS, np.int64)
    for bin, count in counts.items():
        own[int(bin[1:])] = count
    edges = find(name).edges
    held = np.flatnonzero(own)
    ends = (float(edges[held[0]]), float(edges[held[-1] + 1])) if len(held) else (np.nan, np.nan)
    return MeasureDistribution(
        find(name), int(own.sum()), own, *ends, mean=sum(ends) / 2, deviation=0.1, correlation=-0.5
    )


def rows(count: int) -> pd.DataFrame:
    frame = pd.DataFrame({"relation": [f"r{number}" for number in range(count)], "direction": "governor"})
    numbers = {"share": 0.7, "low": 0.6, "high": 0.8, "baseline_share": 0.4, "baseline_low": 0.3, "baseline_high": 0.5}
    whole = {"correct": 70, "total": 100, "baseline_correct": 40, "baseline_offset": -1}
    return frame.assign(**numbers, **whole)


def test_a_histogram_draws_the_bins_that_hold_texts_as_shares() -> None:
    figure = distribution.histogram(found(b10=1, b12=3), title="t")
    bars = figure.data[0]
    assert_close(bars.y, [0.25, 0, 0.75], relative=1e-6)
    assert_close(bars.width, 1 / BINS, relative=1e-6)
    assert_close(bars.x, (np.arange(10, 13) + 0.5) / BINS, relative=1e-6)


def test_a_histogram_of_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="no text has the measure previous"):
        distribution.histogram(found(), title="t")


def test_offsets_are_drawn_from_16_back_to_16_ahead() -> None:
    weights = np.linspace(0, 0.03, 33)
    bars = offsets.bars(weights, title="t")(mode="light").data[0]
    assert list(bars.x) == list(range(-16, 17))
    np.testing.assert_array_equal(bars.y, weights)
    with pytest.raises(ValueError, match="mean nothing between two texts"):
        offsets.bars(np.full(33, np.nan), title="t")(mode="light")
    with pytest.raises(ValueError, match="33 offsets"):
        offsets.bars(weights[:5], title="t")(mode="light")


def test_relations_stand_beside_the_offset_with_their_intervals() -> None:
    figure = relations.beside_offsets(rows(2), title="t")(mode="light")
    baseline, head = figure.data
    assert_close(head.x - head.error_x.arrayminus, 0.6, relative=1e-6)
    assert_close(baseline.x + baseline.error_x.array, 0.5, relative=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["r0 → governor", "r1 → governor"]
    assert len(relations.beside_offsets(rows(40), title="t")(mode="light").data[0].y) == relations.MOST
    with pytest.raises(ValueError, match="on no relation"):
        relations.beside_offsets(rows(0), title="t")(mode="light")


def test_a_strangers_relation_is_drawn_letter_by_letter() -> None:
    named = rows(1).assign(relation="<b>$x$")
    assert "<b>" not in relations.beside_offsets(named, title="t")(mode="light").layout.yaxis.ticktext[0]


@pytest.mark.parametrize("has", [(True, True), (False, True), (True, False), (False, False)])
def test_a_card_draws_what_there_is(has: tuple[bool, bool]) -> None:
    scene = card.card(
        title="minilm: layer 2, head 0",
        sentence="It looks back. " * 60,
        chart="How much it looks at the token before",
        distribution=found(b10=1, b12=3),
        offsets=np.full(33, 0.03) if has[0] else np.full(33, np.nan),
        relations=rows(20) if has[1] else pd.DataFrame(),
        note="minilm over a corpus",
    )
    said = [mark.text for mark in scene.marks if isinstance(mark, Text)]
    assert ("Mean weight by offset" in said) is has[0]
    assert ("r0 → governor" in said) is has[1]
    assert scene.png().startswith(b"\x89PNG")
    assert all(0 <= mark.y <= scene.height for mark in scene.marks)


def test_lines_break_between_words() -> None:
    lines = card.wrapped("a bb ccc " * 30, 20, 300)
    assert " ".join(lines).split() == ["a", "bb", "ccc"] * 30
    assert len(lines) > 3


def test_numbers_keep_two_digits_where_they_are_small() -> None:
    assert [written(value, "share") for value in (0.31, 0.042, 0.00031, 1.0, 0.998)] == [
        *("31 %", "4.2 %", "0.031 %", "100 %", "99.8 %"),
    ]
    assert written(2.05, "nats") == "2.05 nats"
    assert_close(even_ticks(0.61, 1.0), [0.7, 0.8, 0.9, 1.0], relative=1e-12)
    assert_close(even_ticks(0.973, 1.0), [0.975, 0.98, 0.985, 0.99, 0.995, 1.0], relative=1e-12)
    assert even_ticks(0.5, 0.5) == [0.5, 0.5]
    ticks = root_ticks(0.4)
    assert ticks[0] == 0
    assert ticks[-1] == 0.2
