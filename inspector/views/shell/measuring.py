"""A measurement that a reader starts: the button, the bar with its Stop, and what was found last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from inspector.views.server import process_settings, queue
from inspector.views.shell import problems, progress
from inspector.wording import costs as words
from models import failures

Watch = Callable[[int, int], object]
Result = TypeVar("Result")


def _stopped(done: int, total: int, kept: bool) -> str:
    return words.stopped(done, total, timed_once=kept)


@dataclass(frozen=True)
class Labels:
    """The words around a measurement, of the clock unless a page says otherwise.

    running: of the runs that are done and all; stopped: the same, and whether something is shown of them.
    """

    start: str = "Measure"
    again: str = "Measure again"
    stop: str = "Stop"
    running: Callable[[int, int], str] = "Run {} of {}".format
    stopped: Callable[[int, int, bool], str] = _stopped
    failed: str = "Cannot be timed"
    work: str = "The clock"
    instead: str = "Choose another model."
    queued: queue.Words | None = None
    icon: str = ":material/timer:"


CLOCK = Labels()
KEPT = 20  # measurements of a visitor; older ones go


def run(
    work: Callable[[Watch, Callable[[Result], object]], Result],
    *,
    known: Hashable,
    key: str,
    about: str,
    labels: Labels = CLOCK,
) -> Result | None:
    """Offer a measurement, make it when the reader presses the button, and give what it found last.

    What is measured when the reader presses Stop stays, and the page says how much that is.

    work: measures; it calls the first of what it is given with the runs that are done and the runs that there will be,
    the second with what is measured so far. known: what tells measurements apart. key: of the button. about: what will
    be measured, said until it is. labels: the words of buttons and lines.
    """
    results = st.session_state.setdefault("measuring.found", {})
    stopped = st.session_state.setdefault("measuring.stopped", {})  # runs that are done, and all, of what did not end
    if st.button(labels.again if known in results else labels.start, icon=labels.icon, key=key):
        results.pop(known, None)

        def watch(done: int, total: int) -> None:
            stopped[known] = done, total

        def keep(so_far: Result) -> None:
            results[known] = so_far
            for oldest in list(results)[:-KEPT]:
                del results[oldest]

        try:
            keep(_measured(lambda draw: work(_both(watch, draw), keep), key=key, labels=labels))
        except ValueError as error:
            problems.show(str(error), what=labels.failed)
        stopped.pop(known, None)
    result: Result | None = results.get(known)
    if known in stopped:
        done, total = stopped[known]
        st.caption(labels.stopped(done, total, result is not None))
    elif result is None:
        st.caption(about)
    return result


def _both(first: Watch, second: Watch) -> Watch:
    def call(done: int, total: int) -> None:
        first(done, total)
        second(done, total)  # where Streamlit ends the run at Stop

    return call


def last(known: Hashable) -> Any:
    """Give what was measured last, by its `known`; None where nothing was."""
    return st.session_state.get("measuring.found", {}).get(known)


def _measured(work: Callable[[Watch], Result], *, key: str, labels: Labels) -> Result:
    """Run the clock, with a bar and a Stop, which ends it after the part of a layer that is being run."""
    process_settings.use_threads()
    place = st.empty()
    bar = progress.Bar(place, stop=f"stop {key}", holds=False, label=labels.stop)
    with failures.told(labels.work, instead=labels.instead), bar.turn(labels.work, words=labels.queued):
        result = work(lambda done, total: bar.draw(done, total, labels.running(done, total)))
    place.empty()
    return result
