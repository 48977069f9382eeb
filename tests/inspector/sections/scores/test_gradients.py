"""Sentences on gradients: their numbers are the table's, and the verdict follows from them."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from inspector.interventions import gradients as take
from inspector.sections.scores import gradients
from inspector.wording.english import gradients as words
from tests.inspector.views.page import EXAMPLE
from tests.inspector.wording.said import NUMBER, is_number
from tests.models.own_models import own


def table(scale: str = "1/sqrt(d_k)") -> tuple[take.GradientScalar, pd.DataFrame]:
    prepared = take.prepare(own("decoder", scale=scale), EXAMPLE)
    return prepared.about, take.sweep(prepared, prepared.about.factors)


def test_the_sentence_says_the_table_and_both_pictures_draw_it() -> None:
    about, every = table()
    whole = every[every["head"].isna()]
    mean = whole.groupby(["factor", "matrix"])["median"].mean()
    opening = [256.0, *(float(mean[factor, "q"]) for factor in (0.25, 64.0))]
    further = [float(mean[factor, matrix]) for matrix in ("q", "v") for factor in (0.25, 1.0)]
    further += [256.0, float(whole.query("factor == 64")["largest"].mean())]
    further += [float(mean[factor, "v"]) for factor in (0.25, 64.0)]
    for said, told in (
        (gradients.becomes(every, about, size="median"), opening),
        (gradients.further(every, about, size="median"), further),
    ):
        numbers = re.findall(NUMBER, said)
        assert len(numbers) == len(told), said
        assert all(is_number(number, value) for number, value in zip(numbers, told, strict=True))
    layers = gradients.by_layer(every, scale=about.scale, size="median")(mode="light")
    assert [line.name for line in layers.data] == [
        "W_Q with the scale",
        "W_V with the scale",
        "W_Q without",
        "W_V without",
    ]
    factors = gradients.by_factor(every, scale=about.scale, size="mean")(mode="dark")
    assert [line.name for line in factors.data] == ["W_Q", "W_K", "W_V"]
    assert min(factors.data[0].x) == 1 / 16
    assert max(factors.data[0].x) == 256


def test_a_model_without_scale_is_said_to_have_none() -> None:
    about, every = table("none")
    said = gradients.further(every, about, size="median")
    assert "This model has no scale: the median entry of the gradient into W_Q is " in said
    figure = gradients.by_layer(every, scale=about.scale, size="median")(mode="light")
    assert [line.name for line in figure.data] == ["W_Q", "W_V"]
    assert "the next token, over the 12 that are known" in words.scalar(about.scalar, count=about.count)


@pytest.mark.parametrize(
    ("queries", "values", "verdict"),
    [(0.01, 0.5, "starves W_Q"), (0.5, 0.9, "suffers more than W_V's"), (3.0, 0.9, "does not suffer more than W_V's")],
)
def test_the_verdict_follows_the_numbers(queries: float, values: float, verdict: str) -> None:
    rows = [
        {"factor": factor, "layer": 0, "head": None, "matrix": matrix, "mean": size, "largest": 1.0}
        for factor, sizes in ((0.25, (1.0, 1.0)), (1.0, (2.0, 2.0)), (64.0, (queries, values)))
        for matrix, size in zip("qv", sizes, strict=True)
    ]
    about = take.GradientScalar("direction", 1, 0.25, 16)
    assert verdict in gradients.becomes(pd.DataFrame(rows), about, size="mean")
    told = gradients.further(pd.DataFrame(rows), about, size="mean")
    assert ("Jacobian" in told) == (verdict == "starves W_Q")
    assert ("A mean is carried" in told) == ("does not" in verdict)
    rows[0]["mean"], rows[1]["mean"] = 4e-16, 0.006
    said = gradients.further(pd.DataFrame(rows), about, size="mean")
    assert "In layer 0 the softmax is saturated at the model's own scale" in said
    assert "W_Q's entry is less than 1e-12 where W_V's is 0.00600." in said
