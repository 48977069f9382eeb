"""Readings of the page Positions: what it says of made-up rows, turns and weights, against loops over them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import models
from inspector import interventions, positional, record
from inspector.sections.positions import distance, kinds, length, opening
from inspector.sections.positions import order as order_section
from inspector.wording.english import positions as words
from tests.inspector.wording.said import COUNT, NUMBER, claim, count, is_number


@pytest.mark.parametrize("tokens", [2, 3, 4, 13, 60])
def test_cosines_are_those_of_the_rows(tokens: int) -> None:
    table = np.random.default_rng(0).normal(size=(60, 8))
    said = opening.alike(table, tokens=tokens, own=True)

    def mean(apart: int) -> float:
        pairs = [(table[at], table[at + apart]) for at in range(tokens - apart)]
        return float(np.mean([a @ b / math.sqrt((a @ a) * (b @ b)) for a, b in pairs]))

    near, far, apart = claim(
        rf"On this text its vectors have a mean cosine of {NUMBER} between neighbours"
        rf"(?: and {NUMBER} between places {COUNT} apart)?\.",
        said,
    )
    assert is_number(near, mean(1), rough=1e-9)
    assert bool(far) == (tokens > 2)
    if far:
        assert count(apart) == max(2, tokens // 2)
        assert is_number(far, mean(count(apart)), rough=1e-9)


def test_one_token_has_no_neighbour() -> None:
    assert opening.alike(positional.sinusoidal(10, 8), tokens=1, own=True) == ""
    assert opening.alike(np.zeros((10, 8)), tokens=5, own=True) == ""


def test_a_text_longer_than_the_table_is_compared_as_far_as_it_goes() -> None:
    said = opening.alike(positional.sinusoidal(10, 8), tokens=11, own=True)
    assert said.startswith("On the first 10 places of this text its vectors have")


def test_ways_are_joined_and_none_is_said() -> None:
    assert words.ways(("learned", "t5")) == (
        "This model adds to each token a learned vector for its place and adds to each score a learned number for the "
        "distance of query and key (as T5 does)."
    )
    assert words.ways(()) == (
        "This model adds no vector for a token's place; if it knows the order, then in another way."
    )
    assert "only its causal mask tells the order" in words.ways((), none=True, causal=True)
    assert "cannot know their order" in words.ways((), none=True)
    assert words.alike(by_model=False, near=-0.5, far=0.25, apart=2, within=None) == (
        "On this text the vectors of the paper's table, for comparison, have a mean cosine of −0.500 between "
        "neighbours and 0.250 between places 2 apart."
    )


def turned(frequencies: list[float], factor: float = 1.0, variant: str = "default") -> positional.Rotation:
    angles = np.outer(np.arange(9), frequencies)
    cos, sin = (factor * one(angles).astype(np.float32) for one in (np.cos, np.sin))
    return positional.Rotation(cos.astype(np.float32), sin.astype(np.float32), variant)


def test_turns_are_counted_and_a_stretch_is_said() -> None:
    assert opening.turns(turned([1.0, 0.5, 0.01]), tokens=13) == (
        "Its pairs of dimensions turn once in 6.28 to 628 tokens: 2 of 3 turn whole within this text."
    )
    assert opening.turns(turned([0.01, 0.0]), tokens=1) == (
        "One pair of dimensions turns once in 628 tokens: it does not turn whole within this text's one token."
    )
    assert opening.turns(turned([0.0]), tokens=4) == "None of its pairs of dimensions is turned."
    assert words.stretches(1.25, variant="yarn") == (
        "It is no pure rotation: YaRN multiplies cosines and sines by 1.25, and so every score by 1.56."
    )


def order(order: interventions.Order = "reverse", **given: Any) -> str:
    found: dict[str, Any] = {"by": 0, "changed": 0.5, "without": 0.25, "blind": False, "causal": False}
    return words.ordered(order, **(found | {"ways": ("learned",)} | given))


def test_what_another_order_does_is_told_as_it_is() -> None:
    start = "Read backwards, each token's last hidden state changes by 50.0 % of its length on average"
    assert (
        order()
        == f"{start}. With its positions taken away it changes by 25.0 %: it knows the order in another way too."
    )
    assert order(causal=True).endswith("not blind to order, for its causal mask shows each token only those before it.")
    assert order(blind=True, without=0.0).endswith("by 0 %, which is rounding: without them it cannot tell the order.")
    assert order(without=None).endswith("cannot be taken away here to compare.")
    assert order(ways=(), causal=True).endswith("It adds no positions: its causal mask alone tells it the order.")
    assert order(ways=(), blind=True, changed=1e-7).endswith("nothing here tells this model the order.")
    assert order("shift", by=1, changed=1e-7).startswith("With every token 1 place later")
    assert order("shift", by=16).endswith("where a token stands, not only how far apart tokens are.")


def test_what_is_beyond_the_longest_text_is_told_by_its_kind() -> None:
    def told(*ways: positional.Way, **found: Any) -> str:
        return " ".join(length.beyond(ways, tokens=100, **found))

    tables = [positional.PositionTable(np.zeros((rows, 2), dtype=np.float32), "learned") for rows in (600, 512)]
    assert "ends with row 511: for position 512" in told("learned", tables=tables)
    assert "1 of its 2 pairs needs more than 100 tokens" in told("rope", rotations=[turned([1.0, 0.01])])
    assert "All 1 pairs" in told("rope", rotations=[turned([1.0])])
    assert "Its frequencies depend on the length" in told("rope", rotations=[turned([1.0], variant="dynamic")])
    biases = [
        positional.DistanceBias("alibi", "decoder", np.arange(-8, 1), np.outer([0.5, 0.25], np.arange(-8, 1))),
        positional.DistanceBias(
            *("t5", "decoder", np.arange(-8, 1), np.zeros((2, 9))),
            buckets=np.array([3, 3, 3, 3, 3, 2, 2, 1, 0]),
            table=np.zeros((4, 2)),
        ),
    ]
    assert length.beyond(("t5", "alibi"), tokens=100, biases=biases) == [
        "T5's buckets end: all keys 4 or more tokens back get the same number, at any length.",
        "ALiBi goes on as it began. From a key 100 tokens back 25.0 is taken off in the flattest head and 50.0 in the "
        "steepest, and twice that at twice the distance.",
    ]
    nearer = replace(biases[1], table=np.zeros((5, 2)))  # the last bucket is farther than was asked
    assert "buckets end" not in told("t5", biases=[nearer])
    values = np.minimum(np.abs(np.arange(-4, 5)), 3)[:, None]
    vectors = (positional.DistanceVectors("shaw", "queries", 1, np.arange(-4, 5), values.astype(np.float32)),)
    assert told("shaw", vectors=vectors) == "Distances of 3 tokens back or more share one vector, the table's last."
    assert told("profiles", vectors=vectors) == "Nothing is added to the score of a key 3 tokens back or more."
    assert told("shaw") == "Distances beyond the table's last share one vector, the table's last."
    assert told("xlnet") == "Its sines and cosines of the distance have a value at any distance."
    assert told() == "No positions are found in this model, so none of them ends."


def test_where_heads_look_and_how_far_vectors_move() -> None:
    weights = np.array([[0.1, 0.6, 0.3], [0.2, 0.2, 0.2]])
    assert distance.looks(weights, np.arange(-1, 2), [(0, 0), (0, 1)]) == (
        "Of distances up to 1 token, the mean of all heads is largest at the token itself. Layer 0, head 0 gives most "
        "to one of them: 60 % of its attention, on average, goes to the token itself."
    )
    assert distance.told(weights, np.arange(-1, 2)) == (0, 1)
    alone = distance.looks(np.ones((1, 1)), np.zeros(1, dtype=int), [(0, 0)])
    assert alone == "With one token there is one distance: every head looks at the token itself."
    content, position = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    zero = (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
    sizes = {"queries": zero, "keys": zero, "scale": 1.0, "stream": "encoder"}
    split = interventions.ScoreSplit(content=content, position=position, **sizes)
    assert order_section.moved(split) == (
        "Adding the position leaves a mean cosine of 0.707 between a token's vector before and after (lowest 0.707); "
        "the position's row is 1.00 times as long as the token's vector, on average."
    )
    nowhere = replace(split, content=np.zeros((2, 2)))
    assert order_section.moved(nowhere) == "The vectors of this text have length 0, so there is no direction to turn."
    assert "do not differ between keys" in words.shares(order_section.shares(split, 0, causal=False), head=0)
    random = np.random.default_rng(0).normal(size=(4, 1, 5, 3))
    split = interventions.ScoreSplit(
        content=content, position=position, **(sizes | {"queries": tuple(random[:2]), "keys": tuple(random[2:])})
    )
    assert sum(order_section.shares(split, 0, causal=True).values()) == pytest.approx(1)


def test_steps_of_a_text_that_is_read_at_once(minilm: models.LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    tokens, layers = len(trace.tokens), minilm.config.num_hidden_layers
    assert order_section.steps(trace, stream="encoder") == (
        f"The {tokens} tokens are read at once, in {layers} layers of attention that follow one another; a recurrent "
        f"network takes {tokens} steps, one for each token. In layer 0 alone {tokens**2} of {tokens**2} pairs of query "
        "and key have a weight above 0, the last token's to the first too: one step, where a recurrent network has "
        f"{tokens - 1} steps between them."
    )
    decoder = record(models.load("mini-gpt"), "The cat sat on the mat.")
    tokens = len(decoder.tokens)
    above = np.zeros((tokens, tokens), dtype=bool)
    for head in range(decoder.sites[0].heads):
        above |= torch.tensor(decoder.scores(layer=0, head=head)).softmax(dim=-1).numpy() > 0
    joined = f"In layer 0 alone {above.sum()} of {tokens * (tokens + 1) // 2} pairs"  # one far below rounds to 0
    assert joined in order_section.steps(decoder, stream="decoder")


def test_what_is_below_a_billionth_is_rounding() -> None:
    table = pd.DataFrame({"kind": ["shaw", "rope", "learned", "sinusoidal"], "same": [0.0, 9.9e-10, 1e-9, 0.3]})
    said = kinds.sides(table)
    assert said.startswith("With Shaw and RoPE a query and a key have the same score at one distance, wherever they")
    assert kinds.rounding(table) == {"rope": 9.9e-10}
    told = words.about_kinds(apart=8, places=64, rounding=kinds.rounding(table))
    assert "(8 apart, 64 places, float64; with RoPE 9.90e-10 is rounding)" in told
    assert "differs by up to 1.00e-09 with learned positions and 0.300 with sinusoidal positions" in said
