"""The replay of a training: one moment of it, played or chosen, with the curves that lead there.

All moments are in one file; as it plays nothing is computed again, and only this panel is drawn again.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import streamlit as st

from inspector import training as learning
from inspector.export import spreadsheet
from inspector.views.shell import boundary, link, session, widgets
from inspector.views.training import curves as training_curves
from inspector.views.training import heads as training_heads
from models.training import history, metrics
from models.training.replay_file import MapKey

if TYPE_CHECKING:
    import pandas as pd

    from models.training.recipes import Recipe
    from models.training.replay_file import Replay

INTERVAL = 1.5  # seconds that a moment is seen


def draw(folder: Path, rows: pd.DataFrame | None, *, recipe: Recipe | None, vocabulary: int | None) -> None:
    """Curves and replay of a checkpoint, in a panel of their own; `rows` of learning.curves, None without metrics."""
    state = st.session_state
    if state.setdefault("replaying_of", folder.name) != folder.name:
        state["replaying_of"], state["replaying"] = folder.name, False
    playing = state.setdefault("replaying", False)
    panel = st.fragment(boundary.part(_panel), run_every=INTERVAL if playing else None)
    panel(folder, rows, recipe, vocabulary, playing)


def _panel(
    folder: Path, rows: pd.DataFrame | None, recipe: Recipe | None, vocabulary: int | None, ticking: bool
) -> None:
    try:
        replay = session.cached(("replay", str(folder)), lambda: history.read_replay(folder))
    except ValueError as error:
        if rows is not None:
            training_curves.curves(rows, recipe=recipe, vocabulary=vocabulary, step=None)
        st.subheader("Replay")
        session.show_problem(str(error))
        if rows is not None:
            _metrics(folder)
        return
    _advance(replay)
    if st.session_state["replaying"] != ticking:
        st.rerun()  # the whole page: a fragment cannot change its own clock
    above = st.container()
    st.subheader("Replay")
    st.caption(
        f"The attention of {len(replay.sentences)} fixed sentences was recorded at {len(replay.steps)} moments of the "
        "training, closer together in the first steps, where most of it happens. Play it, or move the slider."
    )
    step = _moment(replay)
    if rows is not None:
        with above:
            training_curves.curves(rows, recipe=recipe, vocabulary=vocabulary, step=step)
    sentence, stream = _choices(replay)
    measures = session.cached(
        ("replay measures", str(folder), sentence, stream),
        lambda: learning.measures(replay, sentence=sentence, stream=stream),
    )
    width = None if recipe is None else recipe.width // recipe.heads
    layer, number = training_heads.every_head(replay, measures, sentence=sentence, stream=stream, step=step)
    training_heads.open_head(replay, MapKey(sentence, stream, layer), number=number, step=step, head_width=width)
    training_heads.matrices(replay, stream=stream, step=step)
    with st.container(horizontal=True, gap="small"):
        if rows is not None:
            _metrics(folder)
        widgets.download(
            "Heads, CSV",
            lambda: spreadsheet.csv(measures),
            file=f"{folder.name}-{stream}-heads.csv",
            mime="text/csv",
            meaning="Every measure of every head at every moment, of this sentence and stream",
        )
        widgets.download(
            "Maps, NPZ",
            lambda: learning.npz(replay, sentence=sentence),
            file=f"{folder.name}-sentence{sentence}-replay.npz",
            mime="application/octet-stream",
            meaning="All maps of this sentence: numpy.load() gives STREAM.LAYER [moment, head, query, key], float16",
        )


def _metrics(folder: Path) -> None:
    widgets.download(
        "Metrics, CSV",
        (folder / metrics.FILE).read_bytes,
        file=f"{folder.name}-metrics.csv",
        mime="text/csv",
        meaning="Losses, accuracy, learning rate, gradient norm, speed: the training's own file",
    )


# --- playing -------------------------------------------------------------------------------------------------------


def _advance(replay: Replay) -> None:
    """One moment on where the clock says so; playing ends at the last."""
    state = st.session_state
    if not state["replaying"]:
        return
    last = len(replay.steps) - 1
    if monotonic() - state["replayed_at"] >= 0.6 * INTERVAL:  # not for a run that another widget caused
        state["replayed_at"], state["replayed"] = monotonic(), min(state["replayed"] + 1, last)
        state["moment"] = str(replay.steps[state["replayed"]])
    if state["replayed"] >= last:
        state["replaying"] = False


def _play_or_pause(moments: list[str]) -> None:
    state = st.session_state
    state["replaying"] = not state["replaying"]
    if state["replaying"]:
        at = state["moment"]
        state["replayed"] = 0 if at == moments[-1] else moments.index(at)
        state["moment"], state["replayed_at"] = moments[state["replayed"]], monotonic()


def _moved(moments: list[str]) -> None:
    """The reader moved the slider, which stops the player; its own move may come back from the browser one late."""
    state = st.session_state
    if state["replaying"] and abs(moments.index(state["moment"]) - state["replayed"]) > 1:
        state["replaying"] = False


def _moment(replay: Replay) -> int:
    """Button and slider -> the step of the training that is looked at."""
    moments = [str(step) for step in replay.steps]
    default, playing = moments[len(moments) // 2], st.session_state["replaying"]
    button, slider = st.columns([1, 6], vertical_alignment="bottom")
    with slider:
        chosen: str = st.select_slider(
            f"Step, of {replay.steps[-1]:,}",
            moments,
            default,
            key="moment",
            bind=link.choice("moment", default=default, options=moments),
            on_change=_moved,
            args=(moments,),
        )
    button.button(
        "Pause" if playing else "Play",
        icon=":material/pause:" if playing else ":material/play_arrow:",
        type="primary",
        key="play_replay",
        on_click=_play_or_pause,
        args=(moments,),
        shortcut="P",
    )
    return int(chosen)


def _choices(replay: Replay) -> tuple[int, str]:
    """The sentence, by its number, and the stream."""
    texts = [sentence.source for sentence in replay.sentences]
    bind = link.choice("sentence", default=texts[0], options=texts)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text: str = st.selectbox("Sentence", texts, key="sentence", bind=bind, width=420)
        stream = widgets.stream(replay.streams, key="replay_stream")
    sentence = texts.index(text)
    if replay.sentences[sentence].target:
        st.text(f"Target: {replay.sentences[sentence].target}")
    return sentence, stream
