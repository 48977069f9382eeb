"""Lab: two very small Transformers, one switch apart, learn the same task before your eyes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import streamlit as st

from inspector import lab
from inspector.export import spreadsheet
from inspector.plots import lab as draw
from inspector.views.lab import results, settings
from inspector.views.shell import downloads, process_settings, progress, queue, session, widgets
from models import failures
from models.training.experiments import Experiment

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from models.training.lab import Course, Result

PICTURE_EVERY = 0.7  # seconds between two pictures, and on a slow machine more:
DRAWING_SHARE = 0.2  # of the time, at most


@dataclass
class Attempt:
    """The results of a visitor's Start so far; they stay in the session, whatever page is open."""

    experiment: Experiment
    courses: dict[tuple[str, int], Course] = field(default_factory=dict)  # by side and seed, while they are trained
    results: list[Result] = field(default_factory=list)


def train(attempt: Attempt) -> None:
    """Train A and B, drawing as they go. Streamlit ends this at its next call here when the reader presses Stop,
    changes something or leaves; what was learned by then stays in the attempt."""
    with st.spinner("Starting (the first time it loads torch, which takes a few seconds)"):
        from models.training.lab import train_both

        process_settings.use_threads()
    experiment, total = attempt.experiment, 2 * attempt.experiment.seeds * attempt.experiment.steps
    bar, figure = progress.Bar(st.empty()), st.empty()
    bar.draw(0, total, "Starting")
    began, due, pictures = perf_counter(), 0.0, 0
    for course in train_both(experiment):
        attempt.courses[course.side, course.run.seed] = course
        passed = perf_counter() - began
        done = sum(one.run.steps if one.done else one.curve[-1].step for one in attempt.courses.values())
        bar.draw(done, total, _so_far(attempt, course, speed=done / passed, left=total - done))
        if passed >= due:
            curves(attempt, figure, key=f"lab-curves-live-{pictures}")
            took = perf_counter() - began - passed
            due, pictures = passed + max(PICTURE_EVERY, took / DRAWING_SHARE), pictures + 1
    bar.draw(total, total, "Testing on longer texts", now=True)


def _so_far(attempt: Attempt, course: Course, *, speed: float, left: int) -> str:
    """Losses, speed (steps a second) and the time that the steps left will take, in a line."""
    losses = ", ".join(
        f"{side} {one.curve[-1].loss:.3f}"
        for (side, seed), one in sorted(attempt.courses.items())
        if seed == course.run.seed
    )
    return (
        f"Seed {course.run.seed}, step {course.curve[-1].step} of {course.run.steps}: loss {losses} nats per digit, "
        f"{speed:.0f} steps/s, {left / speed:.0f} s left"
    )


def curves(attempt: Attempt, place: DeltaGenerator, *, key: str) -> None:
    """Loss and accuracy of all trainings of the attempt."""
    table = lab.curves(attempt.results or attempt.courses.values())
    with place:
        widgets.chart(
            draw.curves(table, steps=attempt.experiment.steps, mode=session.mode()),
            alt="Loss and accuracy of A and B by training step",
            key=key,
        )


def finish(attempt: Attempt) -> None:
    """Test what was trained, to the end or until it was stopped, and let the networks go."""
    from models.training.lab import result

    with st.spinner("Testing on longer texts"):
        attempt.results = [result(course) for _, course in sorted(attempt.courses.items())]
    attempt.courses = {}


@contextmanager
def gone_where_it_fails() -> Iterator[None]:
    """Say what fails in the block, forget the attempt, which would fail again, and stop."""
    try:
        with failures.told("The training", instead="Choose other settings and press Start."):
            yield
    except ValueError as error:
        state.pop("lab", None)
        session.show_problem(str(error), what="Cannot be trained")
        st.stop()


def show(attempt: Attempt, *, chosen: Experiment | None) -> None:
    """Curves, accuracy by length, one text in full; `chosen` is what the widgets say by now."""
    if attempt.experiment != chosen:
        st.warning("The settings have changed: what follows is of those of the last Start.", icon=":material/history:")
        st.caption(lab.differences(attempt.experiment))
    behind, sentences = lab.behind(lab.seeds(attempt.results)), lab.findings(attempt.results)
    unfinished = lab.unfinished(attempt.experiment, attempt.results)
    for sentence in (*sentences, *unfinished):
        st.info(sentence)
    curves(attempt, st.container(), key="lab-curves")
    st.caption(
        f"{behind} Loss: cross-entropy, mean over the 10 steps before, in nats per digit; naming digits at random "
        "gives ln 10 = 2.30. Every text is new, so accuracy is on texts that were never seen."
    )
    table = lab.curves(attempt.results)
    downloads.button(f"lab-{attempt.experiment.task}.csv", lambda: spreadsheet.csv(table), label="Curves as CSV")
    results.accuracy(attempt.experiment, attempt.results)
    results.example(attempt.experiment, attempt.results)


st.caption(
    "Two very small Transformers learn the same task from the same random digits, each step on 32 new texts. Choose "
    "what sets B apart from A, press Start and watch. They are encoders that name all digits of the answer at once. "
    "The sidebar's model and text play no part here."
)
experiment = settings.draw()
state = st.session_state
with st.container(horizontal=True):
    started = st.button("Start", type="primary", icon=":material/play_arrow:", disabled=experiment is None)
    stop = st.empty()
if experiment is not None:
    st.caption(
        f"About {max(1, round(experiment.expected_seconds))} s on one idle core, longer on a busy one. Stop, or any "
        "change, ends the training; what was learned by then is kept."
    )
if experiment is not None and started:
    state["lab"] = Attempt(experiment)
    stop.button("Stop", icon=":material/stop:", key="lab_stop")
    with gone_where_it_fails(), queue.turn("The training"):
        train(state["lab"])
attempt: Attempt | None = state.get("lab")
if attempt is not None and attempt.courses:
    with gone_where_it_fails():
        finish(attempt)
    if started:
        st.rerun()  # without the Stop button and the bar
if attempt is not None and attempt.results:
    show(attempt, chosen=experiment)
else:
    st.info("Nothing is trained yet. Press Start: a link keeps the settings, not what was learned.")
