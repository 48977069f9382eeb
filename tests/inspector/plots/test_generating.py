from __future__ import annotations

import pandas as pd
import pytest

from inspector.generating import WrittenToken
from inspector.generating.writing import TokenCandidate
from inspector.plots import generating as generation
from inspector.plots import theme

HOSTILE = "<b>$x$</b>"


def step(*, rank: int = 1, drawn: bool = False) -> WrittenToken:
    likely = tuple(
        TokenCandidate(token, p, p / 0.8 if drawn else None, id)
        for id, (token, p) in enumerate([("cat", 0.5), (HOSTILE, 0.3)])
    )
    chosen = likely[rank - 1] if rank <= 2 else TokenCandidate("dog", 0.01, 0.0 if drawn else None, 7)
    return WrittenToken(chosen, rank, likely, 100, 1)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_bars_are_the_probabilities_and_the_chosen_stands_out(mode: theme.Mode) -> None:
    bars = generation.candidates(step(rank=2), mode=mode).data[0]
    assert list(bars.x) == [0.5, 0.3]
    assert list(bars.y) == ["0 cat", "1 &lt;b&gt;&#36;x&#36;&lt;/b&gt;"]
    assert bars.marker.color == theme.PART[mode]["prediction"]
    assert bars.marker.opacity[1] == 1 > bars.marker.opacity[0]
    assert [text.strip() for text in bars.text] == ["0.500", "0.300"]
    assert list(bars.customdata) == [0, 1]


def test_a_chosen_token_that_is_not_likely_has_a_bar_too() -> None:
    figure = generation.candidates(step(rank=7, drawn=True))
    assert list(figure.data[0].x) == [0.5, 0.3, 0.01]
    assert figure.data[0].marker.opacity[2] == 1
    assert list(figure.data[1].x) == [0.5 / 0.8, 0.3 / 0.8, 0.0]


def test_marks_that_look_alike_are_told_by_their_names() -> None:
    likely = tuple(TokenCandidate(token, 0.2, None, id) for id, token in enumerate("。.”▁"))
    assert list(generation.candidates(WrittenToken(likely[0], 1, likely, 1, 1)).data[0].text) == [
        "0.200 ideographic full stop",
        "0.200 full stop",
        "0.200 right double quotation mark",
        "0.200 ",
    ]


def test_two_candidates_of_one_name_are_told_apart_by_their_place() -> None:
    """Two ids can have one name; only the chosen one is in full colour."""
    one = TokenCandidate("x", 0.4, None, 1)
    other = TokenCandidate("x", 0.2, None, 2)
    bars = generation.candidates(WrittenToken(other, 2, (one, other), 1, 1)).data[0]
    assert bars.marker.opacity == (0.4, 1.0)
    assert list(bars.text) == ["0.400 id 1", "0.200 id 2"]


def test_costs_are_drawn_as_they_are() -> None:
    table = pd.DataFrame(
        {
            **{"step": [1, 2], "cache_bytes": [8, 16]},
            **{"flops_cached": [5, 6], "flops_uncached": [5, 12], "total_cached": [5, 11], "total_uncached": [5, 17]},
        }
    )
    (measured,) = generation.cache(table)(mode="light").data
    assert list(measured.y) == [8, 16]
    uncached, cached = generation.flops(table)(mode="light").data
    assert (list(uncached.y), list(cached.y)) == ([5, 12], [5, 6])
    uncached, cached, *ends = generation.flops(table, amount="total")(mode="dark").data
    assert [(*dot.x, *dot.y, *dot.text) for dot in ends] == [(2, 17, "17.0 FLOPs"), (2, 11, "11.0 FLOPs")]
    assert (list(uncached.y), list(cached.y)) == ([5, 17], [5, 11])
    assert uncached.line.dash != cached.line.dash
