"""Sentences of the page Lab."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.lab import NAMES
from inspector.readings.lab import Progress, Verdict
from inspector.wording.english.phrases import listed, percent
from models.training.experiments import Side

_LONGER = {2: "twice", 4: "four times"}


def progress(found: Progress) -> str:
    """Say how far the training is: "Step 150 of 300: A 35 %, B 0 % of the texts right."."""
    shares = ", ".join(f"{side} {percent(share)}" for side, share in sorted(found.right.items()))
    seed = f"Seed {found.seed}, step" if found.seed else "Step"
    return f"{seed} {found.step} of {found.steps}: {shares} of the texts right."


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
