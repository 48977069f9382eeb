"""The lessons that come along: each number computed anew from the models, each verdict measured."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import models
from inspector import costs, questions, record
from inspector.lessons import SHIPPED, shipped
from inspector.lessons.lesson import FOUND, Code, Guess, Number, Step
from inspector.questions import course

HAN = re.compile(r"[㐀-鿿]")
STEPS = {f"{name} {at}": step for name in SHIPPED for at, step in enumerate(shipped(name).steps, 1)}
NUMBERS = {name: step for name, step in STEPS.items() if isinstance(step.asks, Number)}
GUESSES = {name: step for name, step in STEPS.items() if isinstance(step.asks, Guess)}


def weights(step: Step) -> np.ndarray:
    """Give the map of the head that a step leads to, [query, key]."""
    place = step.place
    assert place is not None
    trace = record(models.load(place.model), place.text)
    return trace.attention(layer=int(place.link["layer"]), head=int(place.link["head"])).astype(np.float64)


def cell(step: Step) -> float:
    assert step.place is not None
    return float(weights(step)[int(step.place.link["query"]), int(step.place.link["key"])])


def crossing(step: Step) -> float:
    """Find the shortest text in which attention takes as many FLOPs as the FFN, one length after the other."""
    assert step.place is not None
    config = models.load(step.place.model).config
    for tokens in range(700, 800):
        parts = costs.breakdown(config, tokens=tokens)
        parts = parts[parts["kind"] == "matmul"].groupby("part")["flops"].sum()
        if parts["attention"] >= parts["ffn"]:
            return tokens
    raise AssertionError("they do not cross")


def distance(step: Step) -> float:
    found = weights(step)
    return sum(found[i, j] * abs(i - j) for i in range(len(found)) for j in range(len(found))) / len(found)


def induction(step: Step) -> float:
    """Sum the weight on what followed earlier places of the query's token, over the queries that have some."""
    assert step.place is not None
    tokens, found = record(models.load(step.place.model), step.place.text).tokens, weights(step)
    sums = []
    for i, token in enumerate(tokens):
        if behind := [j + 1 for j in range(i) if tokens[j] == token]:
            sums.append(sum(found[i, j] for j in set(behind)))
    return sum(sums) / len(sums)


def stands_out(step: Step) -> float:
    """Divide the standard deviation of [CLS] before the norm after layer 0's FFN by the median of the other tokens."""
    assert step.place is not None
    trace = record(models.load(step.place.model), step.place.text)
    (norm,) = [one for one in trace.norms if one.layer == 0 and one.part == "ffn"]
    deviations = np.std(norm.input.astype(np.float64), axis=-1)
    return float(deviations[0] / np.median(deviations[1:]))


def farthest(step: Step) -> float:
    """Find the dimension of the embedding's gamma that lies farthest from the mean."""
    assert step.place is not None
    gamma = models.load(step.place.model).network.get_parameter("embeddings.LayerNorm.weight").detach().numpy()
    return float(np.abs(gamma - gamma.mean()).argmax())


COMPUTED: dict[str, Callable[[Step], float]] = {
    "evening 3": cell,
    "evening 7": crossing,
    "interview 6": lambda step: 384 / 12,
    "interview 16": crossing,
    "findings 1": distance,
    "findings 2": lambda step: float(weights(step)[:, 0].mean()),
    "findings 4": induction,
    "findings 6": cell,
    "findings 7": stands_out,
    "findings 8": farthest,
}


def test_every_number_is_computed() -> None:
    assert COMPUTED.keys() == NUMBERS.keys()


@pytest.mark.heavy
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_what_the_models_give(name: str) -> None:
    """A third of the tolerance is left for what is rounded on the page."""
    asked = NUMBERS[name].asks
    assert isinstance(asked, Number)
    expected = float(asked.check.bound)
    found = COMPUTED[name](NUMBERS[name])
    assert asked.check.holds({FOUND: expected + 1.5 * (found - expected)}), found


def test_the_width_of_a_head_is_that_of_the_model(minilm: models.LoadedModel) -> None:
    assert minilm.config.hidden_size / minilm.config.num_attention_heads == COMPUTED["interview 6"](
        STEPS["interview 6"]
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", GUESSES)
def test_a_verdict_is_what_is_measured(name: str) -> None:
    asked = GUESSES[name].asks
    assert isinstance(asked, Guess)
    assert questions.ask(asked.question, models.load(asked.model), asked.text).verdict == asked.verdict


def test_the_week_rises_by_the_levels_of_the_course_and_has_a_task_on_six_days() -> None:
    steps = shipped("interview").steps
    levels = [course.of(step.asks.question).level for step in steps if isinstance(step.asks, Guess)]
    assert levels == sorted(levels)
    assert set(levels) == {1, 2, 3}
    days = [step.words.en.split(":")[0] for step in steps if step.words.en.startswith("Day ")]
    assert days == [f"Day {day}" for day in range(1, 8)]
    assert sum(isinstance(step.asks, Code) for step in steps) == 6


@pytest.mark.parametrize("name", SHIPPED)
def test_every_word_is_there_in_both_languages(name: str) -> None:
    lesson = shipped(name)
    for both in (lesson.title, lesson.about, *(words for step in lesson.steps for words in (step.words, step.why))):
        assert bool(both.en) == bool(both.zh)
        assert not HAN.search(both.en)
        assert not both.zh or HAN.search(both.zh)
    assert all(step.asks.unit.zh for step in lesson.steps if isinstance(step.asks, Number))
