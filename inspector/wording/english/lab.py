"""Sentences of the page Lab."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.readings.lab import Ended, Progress, Unfinished, Verdict
from inspector.wording.english.phrases import listed, percent
from models.training.experiments import TIMES, Experiment, LabRun, Side

NAMES = {
    "positions": "positions",
    "score": "score",
    "scale": "scale",
    "norm_placement": "norm placement",
    "layers": "layers",
    "heads": "heads",
    "shared_query_key": "tied Q and K",
    "residual": "residual",
}
"""The name of each switch in a sentence."""
_LONGER = {2: "twice", 4: "four times"}


def progress(found: Progress) -> str:
    """Say how far the training is: "Step 150 of 300: A has 35 % of the texts right, B 0 %."."""
    (side, share), *others = sorted(found.right.items())
    shares = ", ".join(
        [f"{side} has {percent(share)} of the texts right", *(f"{other} {percent(its)}" for other, its in others)]
    )
    seed = f"Seed {found.seed}, step" if found.seed else "Step"
    return f"{seed} {found.step} of {found.steps}: {shares}."


def verdict(found: Verdict) -> str:
    """Say what A and B can: "After 300 steps A (positions sinusoidal) has 100 % of the texts right, B (none) 0 %."."""
    fewest, most = found.reached
    reached = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    steps = reached if fewest == found.steps else f"{reached} of {found.steps}"
    (side, tested), *others = sorted(found.sides.items())
    said = [f"{_named(side, found)} has {percent(tested.texts)} of {found.tried} new texts right"]
    said += [f"{_named(other, found)} {percent(its.texts)}" for other, its in others]
    sentences = [f"After {steps} {'step' if found.steps == 1 else 'steps'} {', '.join(said)}{_seeds(found)}."]
    if any(its.texts < 1 for its in found.sides.values()):
        digits = {side: its.digits for side, its in found.sides.items()}
        sentences.append(f"Counted by single digits, {_each(digits)} are right.")
    for times, words in _LONGER.items():
        shares = {side: its.longer[times] for side, its in found.sides.items() if times in its.longer}
        if shares:
            sentences.append(f"At {words} the length, {_each(shares)} texts are right.")
            break
    return " ".join(sentences)


def differences(experiment: Experiment) -> str:
    """Name the difference of the two sides in one line: "B differs from A: positions none instead of sinusoidal."."""
    parts = [f"{NAMES[name]} {_shown(b)} instead of {_shown(a)}" for name, (a, b) in experiment.differences.items()]
    if not parts:
        return "B does not differ from A: the two curves will be the same, number for number."
    return f"B differs from A: {', '.join(parts)}."


def behind(seeds: int) -> str:
    """Say how many seeds are behind a curve, and which conclusions they allow."""
    if seeds == 1:
        return "One seed: a difference here may be chance. Nothing follows from one run; take more seeds to see."
    return f"{seeds} seeds: thin lines are single seeds, the thick one is their mean. {seeds} are few; mind the range."


def diverged(end: Ended) -> str:
    """Say that a training's loss became no number, and what follows from it."""
    return (
        f"{end.side}, seed {end.seed}: the loss became {end.loss} at step {end.step}. "
        "The training diverged and ended there; such a network is not tested."
    )


def unfinished(found: Unfinished) -> str:
    """Say where the trainings were stopped, and how many did not begin: the tests are of what was learned by then."""
    parts = [f"{end.side}, seed {end.seed}, after step {end.step}" for end in found.stopped]
    said = f"Stopped before the end of {found.steps} steps" + (f": {'; '.join(parts)}." if parts else ".")
    return said + (f" {found.missing} of {found.trainings} trainings were not begun." if found.missing else "")


def beyond(run: LabRun) -> str:
    """Say what the switches mean for texts longer than those of the training."""
    longest = max(TIMES) * run.length
    return {
        "learned": f"Rows of the position table beyond {run.length} digits were never trained: they are as random as "
        "at the start.",
        "sinusoidal": f"The table goes on beyond {run.length} digits, but these positions were never met in training.",
        "none": "There are no positions, so no length is new in itself.",
        "rope": "Each angle between neighbours is known; larger distances were never met in training.",
        "alibi": "The farther the fainter: the rule goes on by itself at any distance.",
        "t5": "Distances share buckets, farther ones with farther ones; some buckets were never trained.",
        "shaw": f"Distances are clipped at {run.length + 1}: beyond it, near and far look the same.",
    }[run.switches.positions] + f" It can read up to {longest} digits here."


def _seeds(found: Verdict) -> str:
    counts = {side: its.seeds for side, its in sorted(found.sides.items())}
    if len(set(counts.values())) > 1:
        each = listed([f"{count} {'seed' if count == 1 else 'seeds'} for {side}" for side, count in counts.items()])
        return f" (means of {each})"
    count = next(iter(counts.values()))
    return f", means of {count} seeds" if count > 1 else ""


def _each(shares: Mapping[Side, float]) -> str:
    return listed([f"{percent(share)} of {side}'s" for side, share in sorted(shares.items())])


def _named(side: str, found: Verdict) -> str:
    """A side with what sets it apart: "A (positions sinusoidal)"."""
    which = 0 if side == "A" else 1
    parts = [f"{NAMES[name]} {_shown(pair[which])}" for name, pair in found.values.items()]
    return f"{side} ({listed(parts)})" if parts else side


def _shown(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
