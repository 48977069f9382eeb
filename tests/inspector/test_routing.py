"""Measures of routers held to plain loops, on choices that are written down."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest

from inspector import routing
from inspector.trace.routing import RouterRecord, Routing
from tests.closeness import assert_close

CHOSEN = np.array([[0, 2], [2, 1], [2, 0], [3, 3]])
WEIGHTS = np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0], [0.0, 0.0]], np.float32)  # the last has no expert
ROUTER = RouterRecord(
    "decoder",
    *(3, "layers.3.mlp", 4, CHOSEN, WEIGHTS, np.ones((4, 2), np.float32)),
    routed=np.array([1, 2, 3, 0], np.float32),
    shared=np.array([1, 0, 1, 2], np.float32),
    scale=1.0,
    weighs="output",
    idle=4,
    off=0.0,
)
TOKENS = ("the", "cat", "the", "mat")


def weights_of(position: int) -> dict[int, float]:
    pairs = zip(CHOSEN[position].tolist(), WEIGHTS[position].tolist(), strict=True)
    return {expert: weight for expert, weight in pairs if weight}


def bits(values: list[float]) -> float:
    return -sum(value / sum(values) * log2(value / sum(values)) for value in values if value)


def test_a_choice_of_no_weight_is_none() -> None:
    table = routing.choices(ROUTER, tokens=TOKENS)
    expected = [(place, expert) for place in range(4) for expert in weights_of(place)]
    assert sorted(zip(table["position"], table["expert"], strict=True)) == sorted(expected)
    for row in table.itertuples():
        assert row.weight == weights_of(row.position)[row.expert]
        assert row.token == TOKENS[row.position]
    matrix = ROUTER.matrix()
    assert matrix.shape == (4, 4)
    assert all(matrix[place, expert] == weights_of(place).get(expert, 0) for place in range(4) for expert in range(4))


def test_the_load_counts_tokens_and_weight() -> None:
    table = routing.load(ROUTER)
    for expert in range(4):
        goes = [place for place in range(4) if expert in weights_of(place)]
        assert table["tokens"][expert] == len(goes)
        assert_close(table["share"][expert], len(goes) / 4, relative=1e-12)
        assert_close(
            table["weight"][expert], sum(weights_of(place)[expert] for place in goes) / 3, relative=1e-6, scale=1
        )
    assert_close(table["even"].to_numpy(), np.full(4, 5 / 4 / 4), relative=1e-12)


def test_layers_are_measured_against_an_even_load() -> None:
    (row,) = routing.by_layer(Routing((ROUTER,), ()), stream="decoder").to_dict("records")
    assert (row["layer"], row["experts"], row["used"], row["chosen"], row["most"]) == (3, 4, 3, 5 / 4, 2.0)
    assert_close(row["bits"], bits([1, 1, 3]), relative=1e-6)
    per_token = [bits(list(weights_of(place).values())) for place in range(3)]
    assert_close(row["token_bits"], sum(per_token) / 3, relative=1e-6)
    assert_close(row["shared"], (1 / 2 + 0 + 1 / 4 + 1) / 4, relative=1e-12)
    even = replace(ROUTER, chosen=np.arange(4)[:, None], weights=np.ones((4, 1), np.float32))
    assert_close(routing.by_layer(Routing((even,), ()), stream="decoder")["bits"][0], 2.0, relative=1e-6)
    assert routing.shared_share(replace(ROUTER, shared=None)) != routing.shared_share(ROUTER)
    assert np.isnan(routing.shared_share(replace(ROUTER, shared=None)))


def test_two_tokens_agree_in_the_experts_that_both_go_through() -> None:
    whole = Routing((ROUTER, replace(ROUTER, layer=5, chosen=CHOSEN[::-1].copy(), weights=WEIGHTS[::-1].copy())), ())
    table = routing.agreement(whole, 0, other=1, stream="decoder")
    assert table["layer"].tolist() == [3, 5]
    assert (table["first"][0], table["second"][0]) == ((0, 2), (1, 2))
    assert table["common"][0] == 1
    assert_close(table["chance"][0], 2 * 2 / 4, relative=1e-12)
    assert_close(table["overlap"][0], 0.25, relative=1e-6)
    again = routing.agreement(whole, 0, other=1, stream="decoder", beside=whole)
    assert again.equals(table)
    with pytest.raises(ValueError, match="layer 3 of the decoder chooses no experts; layers that do: none"):
        routing.agreement(whole, 0, other=1, stream="decoder", beside=Routing((), ()))
    assert routing.agreement(whole, 3, other=0, stream="decoder")["overlap"][0] == 0
