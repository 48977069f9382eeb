"""The sentences of the clock and of old keys and the chart of teacher forcing, on tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inspector import stepwise
from inspector.sections.time import clock, forcing
from inspector.stepwise import RUNS, SerialTimes, flops
from inspector.wording.english.time import clock as clock_words
from inspector.wording.english.time import past as past_words


def timed(attention: dict[int, float]) -> SerialTimes:
    """The LSTM takes 1 ms in one call, the same FLOPs half of it, attention as told."""
    rows = [
        (tokens, run, {"lstm": 1e-3, "lstm_apart": 5e-4, "attention": seconds}.get(run, 2e-2), 1, 1)
        for tokens, seconds in attention.items()
        for run in RUNS
    ]
    table = pd.DataFrame(rows, columns=["tokens", "run", "seconds", "flops", "waiting"])
    return SerialTimes(table, width=64, repeats=3, clock="wall time", threads=2, difference=0.0)


@pytest.mark.parametrize(
    ("attention", "slower"),
    [
        *(({8: 5e-4, 16: 2e-3, 32: 4e-3}, 16), ({8: 2e-3, 16: 5e-4}, None)),
        *(({8: 2e-3, 16: 3e-3}, 8), ({128: 5e-4, 256: 2e-3}, 256)),
    ],
)
def test_attention_is_slower_from_a_length_up_to_the_longest(attention: dict[int, float], slower: int | None) -> None:
    said = clock.timing(timed(attention))
    assert said.startswith(f"At {max(attention)} tokens the LSTM takes 20.0 ms token by token and 1.00 ms in one call")
    assert "so waiting multiplies the time by 2.00 here" in said
    assert (f"From {slower} tokens on" in said) == (slower is not None)
    assert ("Attention is faster" in said) == (slower is None)
    if slower is not None:  # n² explains no length at which attention has no more FLOPs
        lstm, attended = (flops(layer, tokens=slower, width=64) for layer in ("lstm", "attention"))
        assert ("besides FLOPs" in said) == (attended <= lstm)


def counted(tokens: int) -> str:
    lstm, attention = (flops(layer, tokens=tokens, width=64) for layer in ("lstm", "attention"))
    return clock_words.counting(tokens=tokens, lstm=lstm, attention=attention)


def test_one_token_is_one_step() -> None:
    assert counted(1).startswith(
        "Waiting makes an RNN serial, not work: for 1 token an LSTM takes one step, self-attention"
    )
    assert "for 128 tokens an LSTM takes as many steps in a row" in counted(128)
    assert "one step with as many FLOPs" in counted(128)  # n = 2d


def moved(keys: list[float], largest: float) -> pd.DataFrame:
    rows = [(layer, tensor, 5, share, largest) for layer, share in enumerate(keys) for tensor in ("key", "value")]
    return pd.DataFrame(rows, columns=["layer", "tensor", "old", "relative", "largest"])


def test_old_keys_that_stay_and_that_move() -> None:
    still = stepwise.moving(moved([0, 2e-7], 3e-7), name="GPT")
    moving = stepwise.moving(moved([0, 0.021, 0.032], 0.5), name="BERT")
    assert (still.stays, moving.stays) == (True, False)
    assert (moving.old, moving.first, moving.most, moving.layer) == (5, 0, 0.032, 2)
    assert past_words.moving(still, moving, new=1) == (
        "A causal mask lets keys be cached: when one more token comes, no old key of GPT moves (by 3.00e-07 at most, "
        "rounding). In BERT, which reads both ways, those of layer 2 move by 3.2\u00a0%."
    )
    assert past_words.moving(moving, still, new=2) == (
        "A cache would hold wrong keys, for every token sees every token: when 2 more tokens come, BERT's old keys of "
        "layer 2 change by 3.2\u00a0% on average. In GPT none changes (by 3.00e-07 at most, rounding)."
    )
    one_layer = stepwise.moving(moved([0], 0.0), name="one layer")
    assert "no old key of one layer moves (by exactly 0), for its keys" in past_words.moving(one_layer, None, new=1)


def test_a_difference_of_0_stands_at_the_edge_with_its_number() -> None:
    table = pd.DataFrame(
        {
            "position": [0, 1],
            "token": ["a", "b"],
            "cached": [0.0, 3e-6],
            "uncached": [1e-6, 0.0],
            "exact": [np.nan] * 2,
        }
    )
    found = stepwise.ForcedReading(table, size=1.0, flops=1, cache_bytes=8, dtype="float32")
    figure = forcing.differences(found)(mode="light")
    assert [line.name for line in figure.data[:2]] == ["with the cache, float32", "without, float32"]
    assert [(dot.x, dot.y, dot.text) for dot in figure.data[2:]] == [((1,), (3e-6,), ("3.00e-06",))]
    assert figure.data[0].y[0] > 0  # a logarithmic axis loses no zero
    assert [tuple(told) for told in figure.data[0].customdata] == [("0 a", 0.0), ("1 b", 3e-6)]
    figure = forcing.differences(stepwise.ForcedReading(table, size=1.0, flops=1, cache_bytes=0, dtype="float32"))(
        mode="light"
    )
    assert [line.name for line in figure.data if line.name] == ["without, float32"]
