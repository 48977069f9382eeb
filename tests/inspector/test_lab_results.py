"""Readings of the lab against sums made here, and the sentences made of them."""

from __future__ import annotations

import re
from math import nan
from random import Random
from statistics import fmean
from types import SimpleNamespace

import pytest

from inspector import lab_results as read
from inspector.wording.english import lab as words
from models.training.lab import TRIED
from models.training.tiny.depth import LayerState
from models.training.tiny.experiments import Experiment, Switches
from tests.inspector.wording.said import PERCENT, claim, is_percent

NOPE = Switches(positions="none")


def report(step: int, exact: float) -> SimpleNamespace:
    return SimpleNamespace(step=step, exact_accuracy=exact, loss=1.0)


def result(side: str, seed: int, exact: tuple[float, ...], digits: tuple[float, ...], *, step: int = 300):
    trials = [
        SimpleNamespace(times=times, exact_accuracy=texts, token_accuracy=places, induction=None)
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
    assert found == read.SeedProgress(seed=1, step=20, steps=300, right={"A": 0.125, "B": 0.25})
    assert words.progress(found) == "A has 12 % of the texts right so far, B 25 %."
    assert read.progress(courses[-1:]) is None


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (
            [result("A", 0, (1, 0, 0), (1, 0.2, 0.1)), result("B", 0, (0, 0, 0), (0.31, 0.2, 0.1))],
            "A (positions sinusoidal) has 100 % of new texts right, B (positions none) 0 %. "
            f"The points at the end are tests on {TRIED} new texts after 300 steps. "
            "Counted by single digits, 100 % of A's and 31 % of B's are right. "
            "At twice the length, 0 % of A's and 0 % of B's texts are right.",
        ),
        (
            [
                *(result("A", seed, (exact, 1, 1), (1, 1, 1)) for seed, exact in enumerate((1.0, 0.5))),
                *(result("B", seed, (0.25, 0.5, 0), (0.5, 0.5, 0), step=40) for seed in (0, 1)),
            ],
            "A (positions sinusoidal) has 75 % of new texts right, B (positions none) 25 %. "
            f"The points at the end are tests on {TRIED} new texts after 40 to 300 of 300 steps, means of 2 seeds. "
            "Counted by single digits, 100 % of A's and 50 % of B's are right. "
            "At twice the length, 100 % of A's and 50 % of B's texts are right.",
        ),
    ],
)
def test_a_verdict_has_the_means_over_seeds(results: list, sentence: str) -> None:
    found = read.verdict(Experiment(b=NOPE), results)
    assert found is not None
    assert f"{words.verdict(found)} {words.tests(found)}" == sentence


def test_a_side_is_told_by_switches_that_act_in_it() -> None:
    """An RNN has no shape to name, and a Transformer no cell."""
    both = Experiment(
        a=Switches(network="rnn with attention", cell="lstm"), b=Switches(shape="encoder-decoder", layers=1)
    )
    found = read.verdict(both, [result(side, 0, (1, 1, 1), (1, 1, 1)) for side in ("A", "B")])
    assert found is not None
    assert words.verdict(found).startswith(
        "A (network RNN with attention and cell lstm) has 100 % of new texts right, B (network Transformer, shape "
        "encoder-decoder and layers 1) 100 %."
    )
    assert words.differences(both) == (
        "B differs from A: network Transformer instead of RNN with attention, shape encoder-decoder, layers 1."
    )
    assert words.changed(both.a) == "network RNN with attention, cell lstm"
    assert words.sides(both).startswith("A is an RNN with attention with cell lstm. B differs")
    assert words.sides(Experiment(a=Switches(heads=1))).startswith("A is as in the paper, but for heads 1. B differs")
    assert read.writes(both)
    assert not read.writes(Experiment())


def test_a_side_that_diverged_is_left_out() -> None:
    broken = SimpleNamespace(side="B", run=SimpleNamespace(seed=0, steps=300), curve=(report(7, 0.0),), trials=())
    found = read.verdict(Experiment(b=NOPE), [result("A", 0, (1, 1, 1), (1, 1, 1)), broken])
    assert found is not None
    said = f"{words.verdict(found)} {words.tests(found)}"
    assert said.startswith("A (positions sinusoidal) has 100 %")
    assert "B" not in said
    assert read.verdict(Experiment(b=NOPE), [broken]) is None


def test_sides_that_do_not_differ_have_no_names() -> None:
    same = Experiment(b=Switches())
    found = read.verdict(same, [result(side, 0, (1, 1, 1), (1, 1, 1)) for side in ("A", "B")])
    assert found is not None
    assert words.verdict(found).startswith("A has 100 % of new texts right, B 100 %.")


SIDE = rf"([AB]) \(positions \w+\) (?:has )?{PERCENT}"
VERDICT = (
    rf"{SIDE} of new texts right(?:, {SIDE})?\. The points at the end are tests on {TRIED} new texts after "
    r"(\d+)(?: to (\d+))?(?: of (\d+))? steps(?:, means of (\d+) seeds| \(means of (.*?)\))?\."
    r"(?: Counted by single digits, (.*?) are right\.)? At twice the length, (.*?) texts are right\."
)
SHARES = rf"{PERCENT} of ([AB])'s"


def check(sentence: str, results: list) -> None:
    """Hold a verdict against the tests of each side, summed here."""
    *sides, fewest, most, steps, seeds, each, digits, longer = claim(VERDICT, sentence)
    tested = [one for one in results if one.trials]
    reached = sorted(one.curve[-1].step for one in tested)
    assert (int(fewest), int(most or fewest)) == (reached[0], reached[-1])
    assert int(steps or fewest) == 300
    told = dict(zip(sides[::2], sides[1::2], strict=True))
    told.pop("", None)

    def means(of: int, what: str) -> dict[str, float]:
        return {
            side: fmean(getattr(one.trials[of], what) for one in tested if one.side == side)
            for side in dict.fromkeys(one.side for one in tested)
        }

    texts = means(0, "exact_accuracy")
    shown = [(told, texts), (listed(longer), means(1, "exact_accuracy"))]
    assert bool(digits) == any(share < 1 for share in texts.values())
    if digits:
        shown.append((listed(digits), means(0, "token_accuracy")))
    for said, true in shown:
        assert said.keys() == true.keys()
        for side, share in true.items():
            assert is_percent(said[side], share)
    counts = {side: sum(one.side == side for one in tested) for side in texts}
    if each:
        assert {side: int(count) for count, side in re.findall(r"(\d+) seeds? for ([AB])", each)} == counts
    else:
        assert set(counts.values()) == {int(seeds or 1)}


def listed(said: str) -> dict[str, str]:
    return {side: share for share, side in re.findall(SHARES, said)}


def test_no_verdict_says_what_the_tests_do_not() -> None:
    """200 draws of one to three seeds for each side, of which some were stopped or diverged; a false verdict fails."""
    random, kinds = Random(8), set()
    shares = (0, 1, 0.001, 0.004, 0.5, 0.995, 0.9999, 1 / 3, 0.125)
    for _ in range(200):
        results, seeds = [], random.choice((1, 2, 3))
        for side in "AB":
            for seed in range(seeds):
                exact, digits = ([random.choice(shares) for _ in range(3)] for _ in "ab")
                one = result(side, seed, tuple(exact), tuple(digits), step=random.choice((300, 300, 40)))
                if random.random() < 0.15:
                    one.trials = ()
                results.append(one)
        found = read.verdict(Experiment(b=NOPE), results)
        if found is None:
            assert not any(one.trials for one in results)
            continue
        said = f"{words.verdict(found)} {words.tests(found)}"
        check(said, results)
        kinds |= {kind for kind in (" to ", "means of", "for A", "under 1 %", "Counted") if kind in said}
        false = re.sub(r"(\d+) %", lambda one: f"{(int(one[1]) + 2) % 101} %", said, count=1)
        for planted in {false, said.replace("texts after ", "texts after 1")} - {said}:
            with pytest.raises(AssertionError):
                check(planted, results)
    assert len(kinds) == 5


def ended(side: str, seed: int, *, step: int, loss: float = 1.0) -> SimpleNamespace:
    """Make a result of TWO_SEEDS whose last report is this."""
    return SimpleNamespace(
        side=side, run=TWO_SEEDS.run(side, seed=seed), curve=(SimpleNamespace(step=step, loss=loss),)
    )


TWO_SEEDS = Experiment(seeds=2, steps=20)
BOTH = [ended(side, seed, step=20) for side in ("A", "B") for seed in (0, 1)]


def test_one_seed_is_no_claim() -> None:
    assert "may be chance" in words.behind(1)
    assert words.behind(3).startswith("3 seeds")


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
    assert words.differences(Experiment(b=b)) == sentence


def test_a_diverged_loss_is_a_finding() -> None:
    broken = ended("B", 1, step=20, loss=nan)
    (end,) = read.diverged([*BOTH, broken])
    assert words.diverged(end).startswith("B, seed 1: the loss became nan at step 20.")
    assert read.diverged(BOTH) == ()
    assert read.unfinished(TWO_SEEDS, [*BOTH[:3], broken]) is None


def test_what_was_stopped_is_said() -> None:
    assert read.unfinished(TWO_SEEDS, BOTH) is None
    found = read.unfinished(TWO_SEEDS, [ended("A", 0, step=20), ended("B", 0, step=10)])
    assert found is not None
    assert words.unfinished(found) == (
        "Stopped before the end of 20 steps: B, seed 0, after step 10. 2 of 4 trainings were not begun."
    )
    begun = read.unfinished(TWO_SEEDS, BOTH[:3])
    assert begun is not None
    assert words.unfinished(begun) == "Stopped before the end of 20 steps. 1 of 4 trainings were not begun."


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none", "rope", "alibi", "t5", "shaw", "xl"])
def test_every_kind_of_positions_says_what_longer_texts_are_to_it(positions: str) -> None:
    run = Experiment(a=Switches(positions=positions)).run("A", seed=0)
    assert words.beyond(run).endswith("It can read up to 32 digits here.")


def test_a_verdict_is_of_the_last_report() -> None:
    one = result("A", 0, (1, 1, 1), (1, 1, 1))
    one.curve = (report(20, 0.0), report(300, 1.0))
    found = read.verdict(Experiment(b=NOPE), [one])
    assert found is not None
    assert found.reached == (300, 300)


def test_depth_compares_the_first_layer_with_the_last_before_and_at_the_last_measurement() -> None:
    def states(*layers: tuple[float, float, float]) -> tuple[LayerState, ...]:
        return tuple(
            LayerState("encoder", layer, gradient=gradient, size=1.0, mean=0.0, deviation=deviation, off=off)
            for layer, (gradient, deviation, off) in enumerate(layers)
        )

    start, end = states((6, 1, 0), (5, 2, 0), (2, 3, 0)), states((1, 4, 0.2), (9, 5, 0.4), (4, 7, 0.6))
    curve = [SimpleNamespace(step=step, layers=layers) for step, layers in ((10, start), (20, end), (30, ()))]
    found = read.depth([SimpleNamespace(side="B", start=start, curve=curve)])
    assert found == {"B": read.Depth(20, first_gradient=(3.0, 0.25), deviation=(3, 7), off=pytest.approx(0.4))}
