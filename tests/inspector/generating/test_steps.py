"""Sentences about a step, recomputed from the whole model's logits and from the maps, with numpy alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import models
from inspector import generating
from inspector.generating import Decoding
from inspector.generating import steps as readings
from inspector.wording.english import generate as wording
from tests.closeness import assert_close
from tests.inspector.wording.written import next_probabilities

TEXTS = ("My dog sat.", "I love cats.", "When I came home, my mother was cooking.", "It is red.")
MODELS = ("translator", "own-decoder", "own-encoder-decoder")
NUMBER = r"\((\d[\d.e-]*)"


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(Decoding(), id="greedy"),
        pytest.param(Decoding(True, temperature=1.5, seed=2), id="drawn", marks=pytest.mark.heavy),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_no_sentence_says_what_the_numbers_do_not(
    shipped: Callable[[str], models.LoadedModel], model: str, how: Decoding
) -> None:
    loaded = shipped(model)
    kinds = set()
    for text in TEXTS:
        made = generating.write(loaded, text, how=how, new_tokens=8)
        steps = range(1, len(made.steps) + 1)
        every = {step: next_probabilities(loaded, made, step) for step in steps}
        assert readings.least_sure(made) == 1 + int(np.argmin([every[step].max() for step in steps]))
        for step in steps:
            said = wording.step(readings.step(made, step))
            p, id = every[step], made.ids[step - 1]
            order = [int(other) for other in np.argsort(-p) if other != id]
            rank = 1 + int((p > p[id]).sum())
            told = [float(number) for number in re.findall(NUMBER, said)]
            assert_close(told, [p[id], p[order[0]]], relative=0.006)
            close, sure = p[order[0]] / p[id] >= 0.95, p[id]
            assert said.startswith(f"At step {step} the model ")
            assert ("drew" in said) == (rank > 1)
            assert re.search(rf"the {rank:,}\w\w likeliest of all tokens", said) or rank == 1
            if rank == 1:
                assert ("torn between" in said) == (close and sure >= 0.25)
                assert ("closely followed by" in said) == (close and sure < 0.25)
                assert ("sure of" in said) == (not close and sure >= 0.9)
                assert ("leaned to" in said) == (not close and 0.5 <= sure < 0.9)
                assert ("hesitated" in said) == (close and sure < 0.25)
                assert ("was unsure" in said) == (not close and sure < 0.5)
            assert ("ends the text" in said) == (id in loaded.runner.ends)
            kinds.add(said.split()[5])
    assert len(kinds) > 1 or model != "translator"


@pytest.mark.parametrize("model", MODELS)
def test_what_a_step_looked_at_is_the_largest_weight_of_its_row(model: str) -> None:
    made = generating.write(models.load(model), TEXTS[0], new_tokens=6)
    stream = "cross" if made.source else "decoder"
    for head in (None, 1):
        map = made.trace.attention(layer=1, stream=stream)
        weights = map.mean(axis=0) if head is None else map[head]
        keys = made.trace.record_of(1, stream).site.keys
        for step in range(1, len(made.steps) + 1):
            row = weights[made.begun + step - 2].astype(float)
            look = readings.most(row, keys, layer=1, head=head, source=stream == "cross")
            assert look is not None
            said = wording.step(readings.step(made, step, look=look))
            first, second = np.sort(row)[::-1][:2]
            assert ("about as much at another token" in said) == (second / first >= 0.95)
            assert ("in the source" in said) == (stream == "cross")
            assert ("mean over its heads" if head is None else "head 1)") in said
            assert_close(float(re.findall(NUMBER, said)[2]), first, relative=0.006)
            assert keys[int(row.argmax())].removeprefix("▁") in said


def test_one_key_alone_is_no_choice() -> None:
    assert readings.most(np.array([1.0]), ("a",), layer=0, head=None, source=False) is None


def test_a_rule_is_named_where_it_took_the_choice() -> None:
    made = generating.write(models.load("own-decoder"), TEXTS[0], new_tokens=2)
    found = readings.step(made, 1)
    assert "rule" not in wording.step(found)
    ruled = replace(found, ruled=True, rank=4, probability=0.01)
    assert "a rule of its generation_config set back" in wording.step(ruled)
    assert "rule" not in wording.step(replace(found, ruled=True, rank=1))  # it was the likeliest all the same


def test_a_step_that_is_not_there_is_said() -> None:
    made = generating.write(models.load("own-decoder"), TEXTS[0], new_tokens=2)
    with pytest.raises(ValueError, match="step 3 of a text with the steps 1 to 2"):
        readings.step(made, 3)
