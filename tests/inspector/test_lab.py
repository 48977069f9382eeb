"""The lab's tables and answers, from results written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inspector import lab
from inspector import lab_results as read
from inspector.plots import lab as draw
from inspector.wording.english import lab as words
from models.training.lab import LabReport, LabResult, Trial
from models.training.tiny.depth import LayerState
from models.training.tiny.experiments import Experiment

TWO_SEEDS = Experiment(seeds=2, steps=20)
NO_MAPS = {"encoder": (np.zeros((1, 10, 10), np.float32),)}


def result(side: str, seed: int, *, losses: tuple[float, ...], exact: float = 0.5) -> LabResult:
    curve = tuple(LabReport(10 * (i + 1), loss, 0.5, 0.25, 0.1) for i, loss in enumerate(losses))
    trials = (Trial(1, 0.75, exact, (1,) * 8, (1,) * 8, (1,) * 8, NO_MAPS, {}, (True,) * 8),)
    return LabResult(side, TWO_SEEDS.run(side, seed=seed), curve, trials)


BOTH = [result(side, seed, losses=(2.0 + seed, 1.0), exact=0.2 + 0.4 * seed) for side in ("A", "B") for seed in (0, 1)]


def test_curves_have_a_row_for_each_report() -> None:
    table = lab.curves(BOTH)
    assert len(table) == 8
    row = table[(table["side"] == "B") & (table["seed"] == 1) & (table["step"] == 10)].iloc[0]
    assert (row["loss"], row["token_accuracy"], row["exact_accuracy"], row["seconds"]) == (3.0, 0.5, 0.25, 0.1)


def test_accuracies_are_mean_and_range_over_seeds() -> None:
    table = lab.accuracies(BOTH)
    assert table["side"].tolist() == ["A", "B"]
    row = table.iloc[0]
    assert (row["times"], row["digits"], row["seeds"], row["token"]) == (1, 8, 2, 0.75)
    assert (row["exact_smallest"], row["exact_largest"]) == (0.2, 0.6000000000000001)
    assert row["exact"] == pytest.approx(0.4)


def test_places_have_a_row_each_and_their_worst_is_told() -> None:
    both = [
        replace(one, trials=(replace(one.trials[0], places=places),))
        for one, places in zip(BOTH, ((1.0, 0.5, 0.75), (0.5, 0.25, 0.25), (1.0,) * 3, (1.0,) * 3), strict=True)
    ]
    table = lab.places(both)
    assert len(table) == 4 * 3
    row = table[(table["side"] == "A") & (table["seed"] == 1) & (table["place"] == 2)].iloc[0]
    assert (row["times"], row["right"]) == (1, 0.25)
    found = read.places(table)
    assert found["A"] == read.AnswerPlaces(of=3, first=0.75, worst=(2, 0.375))
    assert words.places(found, task="reverse") == (
        "A has the first of 3 digits right in 75 % of the texts; the 2nd is its worst, right in 38 %. "
        "B has every one of the 3 digits right."
    )
    drawn = draw.places(table, guessed=0.1)(mode="light").data
    assert [line.name for line in drawn] == ["A", "B"]
    assert list(drawn[0].y) == [0.75, 0.375, 0.5]


def test_steps_are_counted_that_look_at_their_digit() -> None:
    """Reverse of three digits: the first step looks at place 3, the second beside its own, the third two away."""
    weights = np.zeros((1, 3, 5), np.float32)
    weights[0, [0, 1, 2], [3, 1, 3]] = 1
    trial = replace(BOTH[0].trials[0], wanted=(7, 8, 9), attention={"cross": (weights,)})
    assert read.aligned(trial, "reverse") == (1, 2, 3)
    assert read.aligned(trial, "copy") == (1, 2, 3)
    assert read.aligned(trial, "sort") is None
    assert words.aligned("A", (1, 2, 3), task="reverse").startswith(
        "In 1 of 3 steps A looks most at the digit that it has to write, in 2 at that digit or one beside it."
    )


def test_the_seeds_that_are_claimed_were_trained() -> None:
    assert lab.seeds(BOTH) == 2
    assert lab.seeds(BOTH[:3]) == 1  # A from two seeds, B from one
    assert lab.seeds(BOTH[:1]) == 1


def test_wrong_digits_are_marked_under_the_answer() -> None:
    rows = {"read": (1, 2, 3), "reverse": (3, 2, 1), "A": (3, 2, 1), "B": (3, 9, 9)}
    assert lab.spelled(rows, wanted=(3, 2, 1)).splitlines() == [
        "read     123",
        "reverse  321",
        "A        321",
        "B        399",
        "          ^^",
    ]
    long = {"copy": (5,) * 30, "A": (5,) * 29 + (6,)}
    assert lab.spelled(long, wanted=long["copy"]).splitlines() == [
        f"copy  {'5' * 24}",
        f"A     {'5' * 24}",
        "",
        "copy  555555",
        "A     555556",
        "           ^",
    ]
    repeats = {"text": (10, 11, 10, 11), "A": (0, 0, 0, 12)}
    assert lab.spelled(repeats, wanted=(10, 11, 10, 11), asked=(False, False, False, True)).splitlines() == [
        "text  abab",
        "A     ···c",
        "         ^",
    ]


def test_layers_have_a_row_for_each_measurement() -> None:
    """Step 0 is before training; the sentence has the medians over seeds, and the figures a line for each moment."""
    state = LayerState("encoder", 0, gradient=0.5, size=1.0, mean=0.1, deviation=0.5, off=0.0)
    top = replace(state, layer=1, gradient=2.0)
    results = [
        LabResult(
            side,
            TWO_SEEDS.run(side, seed=seed),
            (
                LabReport(10, 1.0, 0.5, 0.25, 0.1),
                LabReport(20, 1.0, 0.5, 0.25, 0.1, (replace(state, gradient=1e-9), replace(top, off=0.5))),
            ),
            (),
            (state, top),
        )
        for side in ("A", "B")
        for seed in (0, 1)
    ]
    table = lab.layers(results)
    assert table["step"].tolist() == [0, 0, 20, 20] * 4
    assert table["layer"].tolist()[:2] == ["encoder 0", "encoder 1"]
    found = read.depth(results)
    assert found["A"] == read.Depth(step=20, first_gradient=(0.25, 5e-10), deviation=(0.5, 0.5), off=0.25)
    assert words.depth(found).startswith(
        "In A the gradient in the first layer is 0.25 times as long as in the last before training, 5e-10 times at "
        "step 20. In B "
    )
    assert "25 % of A's" in words.depth(found)
    assert [line.name for line in draw.depth(table)(mode="light").data][:2] == ["A, before training", "A, step 20"]
    assert len(draw.drift(table, steps=20)(mode="light").data) == 2 * 2 * 3
    assert draw.depth(table[:0])(mode="light").data == ()
