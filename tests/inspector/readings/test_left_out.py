"""Sentences of tokens left out: what they name is what numpy finds, and chance is told as it falls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector.interventions import leave_one_out as loo
from inspector.plots.scores import left_out as draw
from inspector.readings import left_out as read
from inspector.wording.english import left_out as words
from models import LoadedModel
from tests.inspector.views.page import EXAMPLE


@pytest.mark.parametrize(
    ("model", "query", "begins"),
    [
        ("minilm", None, "the last states of the other tokens most, by"),
        ("minilm", 3, "the last state of `sat` most, by"),
        ("mini-bert", 6, "the guess for the hidden `mat` most, by"),
        ("mini-gpt", 9, "what is expected after `was` most, by"),
        ("translator", 1, "the prediction of `"),
    ],
)
def test_the_token_that_matters_most_is_named_with_its_output(
    shipped: Callable[[str], LoadedModel], model: str, query: int | None, begins: str
) -> None:
    loaded = shipped(model)
    trace = inspector.record(loaded, EXAMPLE)
    left = loo.leave_out(loaded, trace, query=query)
    found = read.tokens(left, whole=trace.tokens, guesses=loaded.fills_masks)
    said = words.tokens(found)
    assert begins in said
    assert found.change == max(left.changes)
    assert found.most.token == trace.tokens[left.positions[int(np.argmax(left.changes))]]
    assert said.endswith("bits." if left.measure == "divergence" else "(1 − cosine).")
    table = loo.correlations(left)
    rho = float(table["rho"].max())
    best = table.loc[table["rho"].idxmax()]
    told = words.heads(read.heads(table, loo.chance(len(left.positions), heads=len(table))))
    assert told.startswith(f"Layer {best['layer']}, head {best['head']} attends most accordingly")
    assert f"ρ = {rho:.3f}" in told


def test_chance_and_level_heads_are_told() -> None:
    table = pd.DataFrame({"stream": "encoder", "layer": 0, "head": range(4), "rho": [0.9, -0.7, 0.1, np.nan]})
    found = read.heads(table, (0.6, 0.5))
    assert found is not None
    assert (found.best.head, found.middle.head, found.beyond, found.level) == (0, 2, 2, 1)
    said = words.chance(found, count=11)
    assert "here 2 of 3 do" in said
    assert "is above that. 1 head attends to all" in said
    assert "is not above that" in words.chance(read.heads(table, (0.6, 0.95)) or found, count=11)
    assert read.heads(table[3:], (0.6, 0.5)) is None
    assert words.heads(None) == "No head's attention tells these tokens apart."


def test_ranks_are_drawn_with_ties_and_bars_in_order() -> None:
    figure = draw.ranks(("a", "<b>", "c"), [0.1, 0.5, 0.1], [3.0, 2.0, 1.0], head="Layer 0, head 1", rho=-0.5)
    points = figure.data[1]
    assert list(points.x) == [1.5, 3, 1.5]
    assert list(points.y) == [3, 2, 1]
    assert points.text[1] == "&lt;b&gt;"
    assert list(draw.changes(("a", "b"), (1.0, 2.0), title="bits", mode="dark").data[0].y) == [1, 2]
