"""Lab: two very small networks, one switch apart, learn the same task before your eyes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, get_args

import streamlit as st

from inspector import lab
from inspector import lab_results as read
from inspector.plots import lab as draw
from inspector.views.figures import chart
from inspector.views.lab import ready, results, settings
from inspector.views.server import process_settings
from inspector.views.shell import appearance, problems, progress
from inspector.wording import lab as words
from models import failures
from models.training.tiny.experiments import Experiment, buildable
from models.transformer.config import Positions, Score

if TYPE_CHECKING:
    from inspector.views.lab.presets import Preset
    from models.training.lab import Course, LabResult

PICTURE_EVERY = 0.7  # seconds between two pictures, and on a slow machine more:
DRAWING_SHARE = 0.2  # of the time, at most


@dataclass
class Attempt:
    """The results of a visitor's Start so far; they stay in the session, whatever page is open."""

    experiment: Experiment
    courses: dict[tuple[str, int], Course] = field(default_factory=dict)  # by side and seed, while they are trained
    results: list[LabResult] = field(default_factory=list)


def train(attempt: Attempt) -> None:
    """Train A and B, drawing as they go. Streamlit ends this at its next call here when the reader presses Stop,
    changes something or leaves; what was learned by then stays in the attempt."""
    with st.spinner(words.LOADING):
        from models.training.lab import train_both

        process_settings.use_threads()
    experiment, total = attempt.experiment, 2 * attempt.experiment.seeds * attempt.experiment.steps
    line, bar, figure = st.empty(), progress.Bar(st.empty()), st.empty()
    bar.draw(0, total, words.STARTING)
    with bar.turn(words.WORK):
        began, due, pictures = perf_counter(), 0.0, 0
        for course in train_both(experiment):
            attempt.courses[course.side, course.run.seed] = course
            passed = perf_counter() - began
            done = sum(
                of_side.run.steps if of_side.done else of_side.curve[-1].step for of_side in attempt.courses.values()
            )
            bar.draw(done, total, _so_far(attempt, course, speed=done / passed, left=total - done))
            if passed >= due:
                far = read.progress(attempt.courses.values())
                if far is not None:
                    line.header(words.progress(far), anchor=False)
                table = lab.curves(attempt.courses.values())
                with figure:
                    chart.plain(
                        draw.curves(table, steps=experiment.steps, unit=words.unit(experiment.task))(
                            mode=appearance.mode()
                        ),
                        alt=words.CURVES,
                        key=f"lab-curves-live-{pictures}",
                    )
                took = perf_counter() - began - passed
                due, pictures = passed + max(PICTURE_EVERY, took / DRAWING_SHARE), pictures + 1
    bar.draw(total, total, words.TESTING, now=True)


def _so_far(attempt: Attempt, course: Course, *, speed: float, left: int) -> str:
    """Losses, speed (steps a second) and the time that the steps left will take, in a line."""
    losses = {
        side: of_side.curve[-1].loss
        for (side, seed), of_side in sorted(attempt.courses.items())
        if seed == course.run.seed
    }
    at = course.curve[-1].step
    return words.so_far(course.run, step=at, losses=losses, speed=speed, left=left / speed)


def finish(attempt: Attempt) -> None:
    """Test what was trained, to the end or until it was stopped, and let the networks go."""
    from models.training.lab import result

    with st.spinner(words.TESTING):
        attempt.results = [result(course) for _, course in sorted(attempt.courses.items())]
    attempt.courses = {}


@contextmanager
def gone_where_it_fails() -> Iterator[None]:
    """Say what fails in the block, forget the attempt, which would fail again, and stop."""
    try:
        with failures.told(words.WORK, instead=words.OTHER_SETTINGS):
            yield
    except ValueError as error:
        state.pop("lab", None)
        problems.show(str(error), what=words.CANNOT)
        st.stop()


def learned(attempt: Attempt, *, chosen: Experiment | None) -> None:
    """Draw the verdict in a sentence, and the curves; `chosen` is what the widgets say by now."""
    verdict = read.verdict(attempt.experiment, attempt.results)
    if attempt.experiment != chosen:
        st.warning(words.SETTINGS_CHANGED, icon=":material/history:")
        st.caption(words.sides(attempt.experiment))
    if verdict is not None:  # of other settings it is no answer to the question above
        told = words.verdict(verdict)
        st.header(told, anchor=False) if attempt.experiment == chosen else st.markdown(f"**{told}**")
    for end in read.diverged(attempt.results):
        st.info(words.diverged(end))
    left = read.unfinished(attempt.experiment, attempt.results)
    if left is not None:
        st.info(words.unfinished(left))
    table = lab.curves(attempt.results)
    tested: dict[str, float] = {} if verdict is None else {side: tests.texts for side, tests in verdict.sides.items()}
    chart.show(
        draw.curves(table, steps=attempt.experiment.steps, unit=words.unit(attempt.experiment.task), tested=tested),
        alt=words.CURVES,
        key="lab-curves",
        name=f"lab-{attempt.experiment.task}",
        python=results.python(attempt.experiment, "table = inspector.lab.curves(courses.values())"),
        table=table,
    )
    if verdict is not None:
        st.markdown(words.tests(verdict))
    forced = words.FORCED if read.writes(attempt.experiment) else ""
    st.caption(f"{words.behind(lab.seeds(attempt.results))} {words.measured(attempt.experiment.task)}{forced}")


def waiting(experiment: Experiment | None) -> None:
    """Draw the place of the curves before the first Start."""
    steps = 1 if experiment is None else experiment.steps
    chart.plain(
        draw.curves(lab.curves(()), steps=steps)(mode=appearance.mode()), alt=words.CURVES, key="lab-curves-empty"
    )
    st.caption(words.NOTHING_TRAINED)


def asked(preset: Preset | None, experiment: Experiment | None, *, answered: bool) -> None:
    """Draw the question, large until it is answered below, and what A and B are."""
    question = words.OWN_QUESTION if preset is None else preset.question
    st.markdown(f"**{question}**") if answered else st.header(question, anchor=False)
    if experiment is not None:
        st.markdown(words.sides(experiment))


with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    topics, listed = st.container(width="content"), st.container(width="content")
    start, stop = st.empty(), st.empty()
    estimate = st.container(width="content")
question, picture, answer = st.container(), st.container(), st.container()
with st.expander(words.SETTINGS, key="lab_settings", icon=":material/tune:", on_change="rerun") as panel:
    experiment = settings.draw(question, folded=not panel.open)
preset = ready.choose(experiment, topics=topics, listed=listed)
state = st.session_state
label, icon = appearance.on_accent(words.START, ":material/play_arrow:", disabled=experiment is None)
started = start.button(label, type="primary", icon=icon, disabled=experiment is None, key="lab_start")
if experiment is not None:
    estimate.caption(words.estimated(experiment.expected_seconds))
    if started:
        state["lab"] = Attempt(experiment)
attempt: Attempt | None = state.get("lab")
begun = attempt if attempt is not None and (started or attempt.courses or attempt.results) else None
with question:
    asked(preset, experiment, answered=begun is not None and begun.experiment == experiment)
if preset is not None:
    with answer:
        ready.answer(preset)
with picture:
    if attempt is not None and started:
        stop.button(words.STOP, icon=":material/stop:", key="lab_stop")
        with gone_where_it_fails():
            train(attempt)
    if attempt is not None and attempt.courses:
        with gone_where_it_fails():
            finish(attempt)
        if started:
            st.rerun()  # without the Stop button and the bar
    if attempt is not None and attempt.results:
        learned(attempt, chosen=experiment)
    else:
        waiting(experiment)
if attempt is not None and attempt.results:
    results.example(attempt.experiment, attempt.results)
    results.accuracy(attempt.experiment, attempt.results)
    results.places(attempt.experiment, attempt.results)
    results.layers(attempt.experiment, attempt.results)
st.caption(words.ABOUT)
scores = [score for score in get_args(Score) if score != "additive_naive"]  # additive, written otherwise
kinds = get_args(Positions)
st.caption(words.methods(buildable(scores, kinds), (len(scores), len(kinds))))
