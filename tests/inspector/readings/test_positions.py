"""Readings of positions against loops over the rows, and the sentences made of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import interventions, positional, record
from inspector.readings import positions as read
from inspector.wording.english import positions as words


@pytest.mark.parametrize("tokens", [2, 3, 4, 13, 60])
def test_cosines_are_those_of_the_rows(tokens: int) -> None:
    table = np.random.default_rng(0).normal(size=(60, 8))
    found = read.alike(table, tokens=tokens)
    assert found is not None

    def mean(apart: int) -> float:
        pairs = [(table[at], table[at + apart]) for at in range(tokens - apart)]
        return float(np.mean([a @ b / math.sqrt((a @ a) * (b @ b)) for a, b in pairs]))

    assert found.tokens == tokens
    assert found.near == pytest.approx(mean(1))
    if tokens < 3:
        assert found.far is None
        assert "apart" not in words.positions(read.Positions((), False, found))
    else:
        assert found.apart == max(2, tokens // 2)
        assert found.far == pytest.approx(mean(found.apart))


def test_one_token_has_no_neighbour() -> None:
    assert read.alike(positional.sinusoidal(10, 8), tokens=1) is None
    alone = read.Positions(("learned",), True, None)
    assert words.positions(alone) == "This model adds to each token a learned vector for its place."
    assert words.terms(alone) == ["position table"]


def test_ways_are_joined_and_none_is_said() -> None:
    alike = read.Alike(tokens=4, near=-0.5, apart=2, far=0.25)
    both = read.Positions(("learned", "t5"), True, alike)
    assert words.positions(both) == (
        "This model adds to each token a learned vector for its place and adds to each score a learned number for the "
        "distance of query and key (as T5 does). On this text its vectors have a mean cosine of −0.500 between "
        "neighbours and 0.250 between places 2 apart."
    )
    none = words.positions(read.Positions((), False, alike))
    assert none.startswith("This model adds no vector for a token's place; if it knows the order, then in another way.")
    assert "the vectors of the paper's table, for comparison, have" in none


def turned(frequencies: list[float], factor: float = 1.0, variant: str = "default") -> positional.Rotation:
    angles = np.outer(np.arange(9), frequencies)
    cos, sin = (factor * one(angles).astype(np.float32) for one in (np.cos, np.sin))
    return positional.Rotation(cos.astype(np.float32), sin.astype(np.float32), variant)


def test_turns_are_counted_and_a_stretch_is_said() -> None:
    found = read.turns(turned([1.0, 0.5, 0.01]), tokens=13)
    assert (found.whole, found.pairs, found.still) == (2, 3, 0)
    assert words.turns(found) == (
        "Its 3 pairs of dimensions turn once in 6.28 to 628 tokens: 2 turn whole within the 13 tokens of this text."
    )
    one = read.turns(turned([0.01, 0.0], 1.25, "yarn"), tokens=1)
    assert words.turns(one) == (
        "1 of its 2 pairs of dimensions turns once in 628 tokens: none turns whole within this text's one token. "
        "It is no pure rotation: YaRN multiplies cosines and sines by 1.25, and so every score by 1.56."
    )
    assert words.turns(read.turns(turned([0.0]), tokens=4)) == "None of its pairs of dimensions is turned."


def order(**given: Any) -> str:
    found = {"order": "reverse", "by": 0, "changed": 0.5, "without": 0.25, "blind": False, "causal": False, "kept": ""}
    return words.ordered(read.Ordered(**(found | {"ways": ("learned",)} | given)))


def test_what_another_order_does_is_told_as_it_is() -> None:
    start = "Read backwards, each token's last hidden state changes by 50.0 % of its length on average"
    assert (
        order()
        == f"{start}; with its positions taken away it changes by 25.0 %: it knows the order in another way too."
    )
    assert order(causal=True).endswith("not blind to order, for its causal mask shows each token only those before it.")
    assert order(blind=True, without=0.0).endswith("by 0 %, which is rounding: without them it cannot tell the order.")
    assert order(without=None, kept="alibi").endswith("cannot be taken away here to compare.")
    assert order(ways=(), causal=True).endswith("It adds no positions: its causal mask alone tells it the order.")
    assert order(ways=(), blind=True, changed=1e-7).endswith("nothing here tells this model the order.")
    assert order(order="shift", by=1, changed=1e-7).startswith("With every token 1 place later")
    assert order(order="shift", by=16).endswith("where a token stands, not only how far apart tokens are.")


def test_what_is_beyond_the_longest_text_is_told_by_its_kind() -> None:
    def told(*ways: positional.Way, rows: int | None = None, rotation: positional.Rotation | None = None) -> str:
        return " ".join(words.beyond(read.beyond(ways, tokens=100, rows=rows, rotation=rotation, biases=())))

    assert "ends with row 511: for position 512" in told("learned", rows=512)
    assert "1 of its 2 pairs needs more than 100 tokens" in told("rope", rotation=turned([1.0, 0.01]))
    assert "All 1 pairs" in told("rope", rotation=turned([1.0]))
    assert "Its frequencies depend on the length" in told("rope", rotation=turned([1.0], variant="dynamic"))
    biases = [
        positional.DistanceBias("alibi", "decoder", np.arange(-8, 1), np.outer([0.5, 0.25], np.arange(-8, 1))),
        positional.DistanceBias(
            *("t5", "decoder", np.arange(-8, 1), np.zeros((2, 9))),
            buckets=np.array([3, 3, 3, 3, 3, 2, 2, 1, 0]),
            table=np.zeros((4, 2)),
        ),
    ]
    far = read.beyond(("t5", "alibi"), tokens=100, rows=None, rotation=None, biases=tuple(biases))
    assert (far.farthest, far.taken) == (4, (25.0, 50.0))
    assert words.beyond(far) == [
        "T5's buckets end: all keys 4 or more tokens back get the same number, at any length.",
        "ALiBi goes on as it began: 100 tokens back, 25.0 is taken off a score in the flattest head and 50.0 in the "
        "steepest, and twice that at twice the distance.",
    ]
    near = read.beyond(
        ("t5",), tokens=100, rows=None, rotation=None, biases=(replace(biases[1], table=np.zeros((5, 2))),)
    )
    assert near.farthest is None  # the last bucket is farther than was asked
    values = np.minimum(np.abs(np.arange(-4, 5)), 3)[:, None]
    vectors = (positional.DistanceVectors("shaw", "queries", 1, np.arange(-4, 5), values.astype(np.float32)),)
    shaw = read.beyond(("shaw",), tokens=100, rows=None, rotation=None, biases=(), vectors=vectors)
    assert words.beyond(shaw) == ["Distances of 3 tokens back or more share one vector, the table's last."]
    assert told("xlnet") == "Its sines and cosines of the distance have a value at any distance."
    assert told() == "No positions are found in this model, so none of them ends."


def test_where_heads_look_and_how_far_vectors_move() -> None:
    weights = np.array([[0.1, 0.6, 0.3], [0.2, 0.2, 0.2]])
    found = read.looks(weights, np.arange(-1, 2), [(0, 0), (0, 1)])
    assert words.looks(found) == (
        "Of distances up to 1 token, layer 0, head 0 gives most to one: 60 % of its attention, on average, goes to the "
        "token itself. The mean of all 2 heads is largest at the token itself."
    )
    alone = read.looks(np.ones((1, 1)), np.zeros(1, dtype=int), [(0, 0)])
    assert words.looks(alone) == "With one token there is one distance: every head looks at the token itself."
    content, position = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    zero = (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
    sizes = {"queries": zero, "keys": zero, "scale": 1.0, "stream": "encoder"}
    split = interventions.ScoreSplit(content=content, position=position, **sizes)
    moved = read.moved(split)
    assert moved.cosine == pytest.approx(math.sqrt(0.5))
    assert moved.ratio == 1
    assert "do not differ between keys" in words.shares(read.shares(split, 0, causal=False), head=0)
    random = np.random.default_rng(0).normal(size=(4, 1, 5, 3))
    split = interventions.ScoreSplit(
        content=content, position=position, **(sizes | {"queries": tuple(random[:2]), "keys": tuple(random[2:])})
    )
    assert sum(read.shares(split, 0, causal=True).values()) == pytest.approx(1)


def test_steps_of_a_text_that_is_read_at_once(minilm: models.LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    count = len(trace.tokens)
    found = read.steps(trace, stream="encoder")
    layers = minilm.config.num_hidden_layers
    assert found == read.Steps(count, layers, layer=0, joined=count**2, pairs=count**2, ends=True)
    said = words.steps(found)
    assert f"a recurrent network takes {count} steps" in said
    assert f"In layer 0 alone {count**2} of {count**2} pairs" in said
    decoder = record(models.load("mini-gpt"), "The cat sat on the mat.")
    count = len(decoder.tokens)
    assert read.steps(decoder, stream="decoder").pairs == count * (count + 1) // 2
    above = np.zeros((count, count), dtype=bool)
    for head in range(decoder.sites[0].heads):
        above |= torch.tensor(decoder.scores(layer=0, head=head)).softmax(dim=-1).numpy() > 0
    assert read.steps(decoder, stream="decoder").joined == above.sum()  # one far below the rest rounds to 0
