"""Sentences of tokens left out: what they name is what numpy finds, and chance is told as it falls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector.interventions import leave_one_out as loo
from inspector.sections.scores import importance
from inspector.sections.subject import Subject
from inspector.text import number, token
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
    said = importance.most(left, whole=trace.tokens, guesses=loaded.fills_masks)
    assert begins in said
    assert number(max(left.changes)) in said
    assert token(trace.tokens[left.positions[int(np.argmax(left.changes))]]) in said
    assert said.endswith("bits." if left.measure == "divergence" else "(1 − cosine).")
    table = loo.correlations(left)
    rho = float(table["rho"].max())
    best = table.loc[table["rho"].idxmax()]
    told = importance.accordingly(table)
    assert told.startswith(f"Layer {best['layer']}, head {best['head']} ranks the tokens most like that")
    assert f"ρ = {rho:.3f}" in told


def test_chance_and_level_heads_are_told(shipped: Callable[[str], LoadedModel]) -> None:
    table = pd.DataFrame({"stream": "encoder", "layer": 0, "head": range(4), "rho": [0.9, -0.7, 0.1, np.nan]})
    assert "Layer 0, head 0 ranks the tokens most like that" in importance.accordingly(table)
    assert "the median head has 0.100" in importance.accordingly(table)
    subject = Subject(inspector.record(shipped("minilm"), EXAMPLE))
    single, by_chance = loo.chance(11, heads=3)
    assert 0.1 < by_chance < single < 0.7
    said = importance.chance(subject, table, count=11)
    assert "here 2 of 3 do" in said
    assert "is above that. 1 head attends to all" in said
    assert "is not above that" in importance.chance(subject, table.assign(rho=[0.1, -0.7, 0.05, np.nan]), count=11)
    assert importance.accordingly(table[3:]) == words.NO_HEAD


def test_ranks_are_drawn_with_ties() -> None:
    chart = importance.ranks(("a", "<b>", "c"), [0.1, 0.5, 0.1], [3.0, 2.0, 1.0], head="Layer 0, head 1", rho=-0.5)
    figure = chart(mode="light")
    points = figure.data[1]
    assert list(points.x) == [1.5, 3, 1.5]
    assert list(points.y) == [3, 2, 1]
    assert points.text[1] == "&lt;b&gt;"
