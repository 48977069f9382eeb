"""The lab's tables and sentences, from results written by hand."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from inspector import lab
from models.training.experiments import Experiment, Switches
from models.training.lab import LabReport, Result, Trial

TWO_SEEDS = Experiment(seeds=2, steps=20)
NO_MAPS = (np.zeros((1, 10, 10), np.float32),)


def result(side: str, seed: int, *, losses: tuple[float, ...], exact: float = 0.5) -> Result:
    curve = tuple(LabReport(10 * (i + 1), loss, 0.5, 0.25, 0.1) for i, loss in enumerate(losses))
    trials = (Trial(1, 0.75, exact, (1,) * 8, (1,) * 8, (1,) * 8, NO_MAPS),)
    return Result(side, TWO_SEEDS.run(side, seed=seed), curve, trials)


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


def test_one_seed_is_no_claim() -> None:
    assert "may be chance" in lab.behind(1)
    assert lab.behind(3).startswith("3 seeds")


def test_the_seeds_that_are_claimed_were_trained() -> None:
    assert lab.seeds(BOTH) == 2
    assert lab.seeds(BOTH[:3]) == 1  # A from two seeds, B from one
    assert lab.seeds(BOTH[:1]) == 1


@pytest.mark.parametrize(
    ("b", "sentence"),
    [
        (Switches(), "B does not differ from A: the two curves will be the same, number for number."),
        (Switches(positions="none"), "B differs from A: positions none instead of sinusoidal."),
        (
            Switches(residual=False, layers=4),
            "B differs from A: layers 4 instead of 2, residual off instead of on.",
        ),
    ],
)
def test_what_is_chosen_is_one_line(b: Switches, sentence: str) -> None:
    assert lab.differences(Experiment(b=b)) == sentence


def test_a_diverged_loss_is_a_finding() -> None:
    broken = result("B", 1, losses=(2.0, nan))
    assert lab.findings([*BOTH, broken])[0].startswith("B, seed 1: the loss became nan at step 20.")
    assert lab.findings(BOTH) == []
    assert lab.unfinished(TWO_SEEDS, [*BOTH[:3], broken]) == []


def test_what_was_stopped_is_said() -> None:
    assert lab.unfinished(TWO_SEEDS, BOTH) == []
    stopped = [result("A", 0, losses=(2.0, 1.0)), result("B", 0, losses=(2.0,))]
    assert lab.unfinished(TWO_SEEDS, stopped) == [
        "Stopped before the end of 20 steps: B, seed 0, after step 10. 2 of 4 trainings were not begun."
    ]


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


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none", "rope", "alibi", "t5", "shaw"])
def test_every_kind_of_positions_says_what_longer_texts_are_to_it(positions: str) -> None:
    run = Experiment(a=Switches(positions=positions)).run("A", seed=0)
    assert lab.beyond(run).endswith("It can read up to 32 digits here.")
