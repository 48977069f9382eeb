"""Readings of the lab against sums made here, and the sentences made of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from inspector.readings import lab as read
from inspector.wording.english import lab as words
from models.training.experiments import Experiment, Switches
from models.training.lab import TRIED

NOPE = Switches(positions="none")


def report(step: int, exact: float) -> SimpleNamespace:
    return SimpleNamespace(step=step, exact_accuracy=exact, loss=1.0)


def result(side: str, seed: int, exact: tuple[float, ...], digits: tuple[float, ...], *, step: int = 300):
    trials = [
        SimpleNamespace(times=times, exact_accuracy=texts, token_accuracy=places)
        for times, texts, places in zip((1, 2, 4), exact, digits, strict=True)
    ]
    run = SimpleNamespace(seed=seed, steps=300)
    return SimpleNamespace(side=side, run=run, curve=(report(step, exact[0]),), trials=tuple(trials))


def test_progress_is_that_of_the_seed_that_is_trained_now() -> None:
    courses = [
        SimpleNamespace(side=side, run=SimpleNamespace(seed=seed, steps=300), curve=curve)
        for side, seed, curve in (
            ("A", 0, (report(300, 1.0),)),
            ("B", 0, (report(300, 0.0),)),
            ("A", 1, (report(10, 0.0), report(20, 0.125))),
            ("B", 1, (report(10, 0.25),)),
            ("B", 2, ()),
        )
    ]
    found = read.progress(courses)
    assert found == read.Progress(seed=1, step=20, steps=300, right={"A": 0.125, "B": 0.25})
    assert words.progress(found) == "Seed 1, step 20 of 300: A 12 %, B 25 % of the texts right."
    assert read.progress(courses[-1:]) is None


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (
            [result("A", 0, (1, 0, 0), (1, 0.2, 0.1)), result("B", 0, (0, 0, 0), (0.31, 0.2, 0.1))],
            f"After 300 steps A (positions sinusoidal) has 100 % of {TRIED} new texts right, B (positions none) 0 %. "
            "Of the digits A 100 % and B 31 %. At twice the length A 0 % and B 0 % of the texts.",
        ),
        (
            [
                *(result("A", seed, (exact, 1, 1), (1, 1, 1)) for seed, exact in enumerate((1.0, 0.5))),
                *(result("B", seed, (0.25, 0.5, 0), (0.5, 0.5, 0), step=40) for seed in (0, 1)),
            ],
            f"After 40 of 300 steps A (positions sinusoidal) has 75 % of {TRIED} new texts right, "
            "B (positions none) 25 %, means of 2 seeds. Of the digits A 100 % and B 50 %. "
            "At twice the length A 100 % and B 50 % of the texts.",
        ),
    ],
)
def test_a_verdict_has_the_means_over_seeds(results: list, sentence: str) -> None:
    found = read.verdict(Experiment(b=NOPE), results)
    assert found is not None
    assert words.verdict(found) == sentence


def test_a_side_that_diverged_is_left_out() -> None:
    broken = SimpleNamespace(side="B", run=SimpleNamespace(seed=0, steps=300), curve=(report(7, 0.0),), trials=())
    found = read.verdict(Experiment(b=NOPE), [result("A", 0, (1, 1, 1), (1, 1, 1)), broken])
    assert found is not None
    said = words.verdict(found)
    assert said.startswith("After 300 steps A (positions sinusoidal) has 100 %")
    assert "B" not in said
    assert read.verdict(Experiment(b=NOPE), [broken]) is None


def test_sides_that_do_not_differ_have_no_names() -> None:
    same = Experiment(b=Switches())
    found = read.verdict(same, [result(side, 0, (1, 1, 1), (1, 1, 1)) for side in ("A", "B")])
    assert found is not None
    assert words.verdict(found).startswith(f"After 300 steps A has 100 % of {TRIED} new texts right, B 100 %.")
