"""A measurement that a reader starts: the button, the bar with its Stop, and what was found last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st

from inspector.views.server import process_settings, queue
from inspector.views.shell import progress, session
from inspector.wording.english import costs as words
from models import failures

Watch = Callable[[int, int], object]
Result = TypeVar("Result")
KEPT = 20  # measurements of a visitor; older ones go


def run(
    work: Callable[[Watch, Callable[[Result], object]], Result], *, known: Hashable, key: str, about: str
) -> Result | None:
    """Offer a measurement, make it when the reader presses the button, and give what it found last.

    What is measured when the reader presses Stop stays, and the page says how much that is.

    work: measures; it calls the first of what it is given with the runs that are done and the runs that there will be,
    the second with what is measured so far. known: what tells measurements apart. key: of the button. about: what will
    be measured, said until it is.
    """
    results = st.session_state.setdefault("measuring.found", {})
    stopped = st.session_state.setdefault("measuring.stopped", {})  # runs that are done, and all, of what did not end
    if st.button("Measure again" if known in results else "Measure", icon=":material/timer:", key=key):
        results.pop(known, None)

        def watch(done: int, total: int) -> None:
            stopped[known] = done, total

        def keep(so_far: Result) -> None:
            results[known] = so_far
            for oldest in list(results)[:-KEPT]:
                del results[oldest]

        try:
            keep(_measured(lambda draw: work(_both(watch, draw), keep), key=key))
        except ValueError as error:
            session.show_problem(str(error), what="Cannot be timed")
        stopped.pop(known, None)
    found: Result | None = results.get(known)
    if known in stopped:
        st.caption(words.stopped(*stopped[known], kept=found is not None))
    elif found is None:
        st.caption(about)
    return found


def _both(first: Watch, second: Watch) -> Watch:
    def call(done: int, total: int) -> None:
        first(done, total)
        second(done, total)  # where Streamlit ends the run at Stop

    return call


def last(known: Hashable) -> Any:
    """Give what was measured last, by its `known`; None where nothing was."""
    return st.session_state.get("measuring.found", {}).get(known)


def _measured(work: Callable[[Watch], Result], *, key: str) -> Result:
    """Run the clock, with a bar and a Stop, which ends it after the part of a layer that is being run."""
    process_settings.use_threads()
    place = st.empty()
    bar = progress.Bar(place, stop=f"stop {key}", holds=False)
    with failures.told("The clock", instead="Choose another model."), queue.turn("The clock"):
        found = work(lambda done, total: bar.draw(done, total, f"Run {done} of {total}"))
    place.empty()
    return found
