"""Judges what a reader's function gave: right, a mistake by its name, or where it differs first.

Every mistake is a computation of its own. A result that equals what a mistake gives on all inputs has that mistake; of
several that fit, all are listed. Two mistakes at once are looked for where no single one fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.practice.record.task import Case, Mistake, Stages, Task
from inspector.practice.running import Limits, Outcome, Raised, Ran, Returned, Unreadable, run
from inspector.wording.reader import practice_verdict as words

TOLERANCE = 1e-4  # of the largest entry
HALF_TOLERANCE = 1e-2  # of a result in float16 or bfloat16
LOOSER = 10  # times, where a result is held to a mistake: float32 rounds a wrong result otherwise than a right one
EXACT = 1e-9  # of a count
_MOST_NAMED = 6
_WAYS = 2  # of a mistake, the usual ones, that are tried together with another mistake
_FAILED = object()  # in place of a result, where a mistake's computation raises


@dataclass(frozen=True)
class Verdict:
    """A file judged. mistakes: those of which the result has one; said: sentences, the verdict first.

    printed: the beginning of what the file printed.
    """

    right: bool
    said: tuple[str, ...]
    mistakes: tuple[str, ...] = ()
    printed: str = ""


def check(task: Task, file: Path, limits: Limits | None = None) -> Verdict:
    """Run a file on the made inputs and then on recorded tensors, and judge it.

    Raises ValueError for a file that cannot be read.
    """
    made = task.made()
    ran = run(file, task.function, made, limits)
    verdict = judged(task, made, ran)
    if not verdict.right:
        return verdict
    recorded = task.recorded()
    again = run(file, task.function, recorded, limits)
    later = judged(task, recorded, again)
    if not later.right:
        return later
    first = words.right(len(made), [words.case(case.name) for case in recorded])
    return Verdict(True, (first, *verdict.said, *later.said), printed=verdict.printed)


def judged(task: Task, cases: Sequence[Case], ran: Ran) -> Verdict:
    """Judge one run; a right verdict says only what is to be said beside it."""
    beside = (words.STAYED,) if ran.stayed else ()
    if ran.loading is not None:
        return Verdict(False, (_exception(ran.loading, task, on=""), *beside), printed=ran.printed)
    if ran.missing is not None:
        return Verdict(False, (words.missing(task.function, ran.missing), *beside), printed=ran.printed)
    if ran.stopped is not None:
        return Verdict(False, (ran.stopped, *beside), printed=ran.printed)
    expected = [task.compute(*in_float64(case.arguments)) for case in cases]
    tolerance = EXACT if task.exact else TOLERANCE
    wrong = [
        at
        for at, outcome in enumerate(ran.outcomes)
        if not (isinstance(outcome, Returned) and alike(outcome.value, expected[at], tolerance))
    ]
    if wrong:
        found = _Search(task, cases, ran.outcomes, wrong)
        named, remark = found.mistakes()
        if remark:
            return Verdict(True, (words.but(named[0]), *beside), printed=ran.printed)
        said = list(beside)
        first = _first(task, cases[wrong[0]], ran.outcomes[wrong[0]], expected[wrong[0]], tolerance)
        if named:
            return Verdict(False, (words.wrong(named), first, *said), named, ran.printed)
        if cause := _cause(task, cases, ran.outcomes, wrong):
            return Verdict(False, (first, words.because(cause), *said), (cause,), ran.printed)
        close = found.close()
        head = [words.UNKNOWN] if isinstance(ran.outcomes[wrong[0]], Returned) else []
        if close:
            head = [words.close(close)]
        return Verdict(False, (*head, first, *said), close[:1], ran.printed)
    returned = [outcome for outcome in ran.outcomes if isinstance(outcome, Returned)]
    changed = sorted({at for outcome in returned for at in outcome.written} & set(task.kept))
    if changed:
        sentence = words.written([task.parameters[at] for at in changed])
        return Verdict(False, (sentence, *beside), (sentence,), ran.printed)
    if not all(outcome.agrees for outcome in returned):
        return Verdict(False, (words.CHANGES, *beside), (words.CHANGES,), ran.printed)
    return Verdict(True, beside, printed=ran.printed)


def _cause(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], wrong: Sequence[int]) -> str | None:
    """Return what exceptions tell of the mistake behind them, None where they tell nothing."""
    raised = [outcome for outcome in outcomes if isinstance(outcome, Raised)]
    if not raised:
        return None
    if any(part in raised[0].said for part in ("concatenation axis", "must match except in dimension")):
        return words.WRONG_JOIN
    squares = [at for at, case in enumerate(cases) if case.square]
    if squares and len(raised) == len(wrong) == len(cases) - len(squares) and not set(squares) & set(wrong):
        return words.ONLY_SQUARE
    return None


def in_float64(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return a case's arguments with its arrays in float64."""
    return tuple(part.astype(np.float64) if isinstance(part, np.ndarray) else part for part in arguments)


# --- comparing --------------------------------------------------------------------------------------------------------


def alike(given: Any, made: Any, tolerance: float) -> bool:
    """Return True where two results are the same within a tolerance of the largest entry; NaN equals NaN.

    tuples and lists are one; a result in half precision has a tolerance of its own.
    """
    if isinstance(made, Mapping) or isinstance(given, Mapping):
        if not (isinstance(made, Mapping) and isinstance(given, Mapping)):
            return False
        return set(given) == set(made) and all(alike(given[key], value, tolerance) for key, value in made.items())
    if isinstance(made, str) or made is None or isinstance(given, str) or given is None:
        return type(given) is type(made) and bool(given == made)
    if isinstance(made, tuple | list):
        if isinstance(given, np.ndarray) and given.ndim:
            given = tuple(given)
        if not isinstance(given, tuple | list) or len(given) != len(made):
            return False
        return all(alike(one, other, tolerance) for one, other in zip(given, made, strict=True))
    if isinstance(given, tuple | list):
        return False
    return _close(np.asarray(given), np.asarray(made), tolerance)


def _close(given: NDArray[Any], made: NDArray[Any], tolerance: float) -> bool:
    if given.shape != made.shape:
        return False
    return not _apart(given, made, tolerance).any()


def _apart(given: NDArray[Any], made: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    """Return where two arrays of one shape differ by more than the tolerance."""
    if made.dtype.kind in "iub":
        tolerance = EXACT  # whole numbers are not rounded
    half = given.dtype == np.float16
    if half:
        tolerance = max(tolerance, HALF_TOLERANCE)
    finite = made[np.isfinite(made)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    if half:
        limit = float(np.finfo(np.float16).max)
        made = np.where(made > limit, np.inf, np.where(made < -limit, -np.inf, made))
    with np.errstate(all="ignore"):
        near = np.abs(given.astype(np.float64) - made) <= tolerance * (largest or 1.0)
    same = (given == made) | (np.isnan(given) & np.isnan(made))
    return np.asarray(~(near | same))


# --- mistakes ---------------------------------------------------------------------------------------------------------


class _Search:
    """The search for what makes a result."""

    def __init__(self, task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], wrong: Sequence[int]) -> None:
        self.task, self.cases, self.outcomes = task, cases, outcomes
        self.wrong = [at for at in wrong if isinstance(outcomes[at], Returned)]
        self.tolerance = EXACT if task.exact else LOOSER * TOLERANCE
        self.wide = [in_float64(case.arguments) for case in cases]

    def mistakes(self) -> tuple[tuple[str, ...], bool]:
        """Name the mistakes that fit all inputs, else pairs that do; True where they are a remark and no blame."""
        if not self.wrong:
            return (), False
        for strict in (True, False):
            single = [one for one in self.task.mistakes if any(self._fits(way, strict) for way in one.ways)]
            if single:
                blamed = [one for one in single if not one.remark] or single
                return tuple(words.mistake(one.said) for one in blamed)[:_MOST_NAMED], all(one.remark for one in single)
            pairs = [(first, second) for first, second, way in self._pairs() if self._fits(way, strict)]
            if pairs:
                pairs.sort(key=lambda pair: any(one.remark for one in pair))
                said = [words.both(*(words.mistake(one.said) for one in pair)) for pair in dict.fromkeys(pairs)]
                return tuple(said)[:3], False
        return (), False

    def close(self) -> tuple[str, ...]:
        """Name mistakes that fit at least half of the inputs that differ, those that fit most first."""
        if len(self.wrong) < 2:
            return ()
        counts = {}
        for mistake in self.task.mistakes:
            if not mistake.remark:
                counts[mistake.said] = max(sum(self._fits_at(way, at) for at in self.wrong) for way in mistake.ways)
        best = max(counts.values())
        fit = [said for said, count in counts.items() if count == best and 2 * count >= len(self.wrong)]
        return tuple(map(words.mistake, fit))

    def _pairs(self) -> Iterator[tuple[Mistake, Mistake, Stages]]:
        for first, second in combinations(self.task.mistakes, 2):
            for one, other in product(first.ways[:_WAYS], second.ways[:_WAYS]):
                if not one.keys() & other.keys():
                    yield first, second, {**one, **other}

    def _fits(self, way: Stages, strict: bool) -> bool:
        """Return True where a mistake gives what the reader's function gave, on all inputs.

        strict: it fails too where the reader's function raised.
        """
        if not all(self._fits_at(way, at) for at in self.wrong):
            return False
        for at, outcome in enumerate(self.outcomes):
            if isinstance(outcome, Returned):
                if at not in self.wrong and not self._fits_at(way, at):
                    return False
            elif strict and self._made(way, self.wide[at]) is not _FAILED:
                return False
        return True

    def _fits_at(self, way: Stages, at: int) -> bool:
        outcome = self.outcomes[at]
        assert isinstance(outcome, Returned)
        for arguments in (self.wide[at], self.cases[at].arguments):
            made = self._made(way, arguments)
            if made is _FAILED:
                return False
            if alike(outcome.value, made, self.tolerance):
                return True
            more = len(self.task.result) == 1 and isinstance(outcome.value, tuple) and outcome.value
            if more and alike(outcome.value[0], made, self.tolerance):
                return True
            if not _rounds(made):
                return False
        return False

    def _made(self, way: Stages, arguments: Sequence[Any]) -> Any:
        try:
            with np.errstate(all="ignore"):
                return self.task.compute(*arguments, **way)
        except Exception:  # a wrong product of shapes raises whatever numpy raises
            return _FAILED


def _rounds(made: Any) -> bool:
    """Return True where a result may come out otherwise in float32: it is an array of fractions."""
    parts = made if isinstance(made, tuple) else (made,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in parts)


# --- what differs -----------------------------------------------------------------------------------------------------


def _exception(raised: Raised, task: Task, *, on: str) -> str:
    sentence = words.raised(raised.kinds, raised.said, raised.line, raised.text, on=on)
    about_call = "TypeError" in raised.kinds and "argument" in raised.said and f"{task.function}()" in raised.said
    return f"{sentence} {words.arguments(task.signature)}" if about_call else sentence


def _first(task: Task, case: Case, outcome: Outcome, expected: Any, tolerance: float) -> str:
    """Say where an outcome differs first from what is due."""
    on = words.case(case.name)
    if isinstance(outcome, Raised):
        return _exception(outcome, task, on=on)
    if isinstance(outcome, Unreadable):
        return words.unreadable(outcome.why, outcome.of, on=on)
    return _difference(task, outcome.value, expected, tolerance, on=on)


def _difference(task: Task, given: Any, expected: Any, tolerance: float, *, on: str) -> str:
    if not isinstance(expected, tuple):
        if isinstance(given, tuple) and given and alike(given[0], expected, tolerance):
            return words.extra(task.result[0])
        return _part(task.result[0], on, given, expected, tolerance)
    if isinstance(given, np.ndarray) and given.ndim:
        given = tuple(given)
    if not isinstance(given, tuple | list) or len(given) != len(expected):
        return words.kind(words.RESULT, on=on, expected=_named(expected), given=_named(given))
    for name, one, other in zip(task.result, given, expected, strict=True):
        if not alike(one, other, tolerance):
            return _part(name, on, one, other, tolerance)
    return words.kind(words.RESULT, on=on, expected=_named(expected), given=_named(given))


def _part(name: str, on: str, given: Any, expected: Any, tolerance: float) -> str:
    if isinstance(expected, Mapping) and isinstance(given, Mapping):
        for key in [*expected, *given]:
            if key not in given or key not in expected or not alike(given[key], expected[key], tolerance):
                due, came = (shown(part[key]) if key in part else words.NOTHING for part in (expected, given))
                return words.differs(f"{name}[{shown(key)}]", (), on=on, expected=due, given=came)
    made, array = (
        np.asarray(part) if isinstance(part, np.ndarray | int | float) else None for part in (expected, given)
    )
    if made is None or array is None:
        if isinstance(expected, tuple) and isinstance(given, tuple | list):
            return words.differs(name, (), on=on, expected=shown(expected), given=shown(given))
        return words.kind(name, on=on, expected=_named(expected), given=_named(given))
    if made.shape != array.shape:
        return words.shape(name, on=on, expected=made.shape, given=array.shape)
    place = tuple(int(at) for at in np.argwhere(_apart(array, made, tolerance))[0])
    return words.differs(name, place, on=on, expected=shown(made[place]), given=shown(array[place]))


def _named(value: Any) -> str:
    """Name what a value is."""
    if isinstance(value, np.ndarray):
        return words.array(value.shape)
    if isinstance(value, tuple | list):
        return words.collection("tuple" if isinstance(value, tuple) else "list", len(value))
    if value is None:
        return words.NO_RETURN
    return words.value(type(value).__name__)


def shown(value: Any) -> str:
    """Return a value as it stands in a sentence, a number with six digits."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray | np.generic):
        return shown(value.item()) if value.ndim == 0 else _named(value)
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
