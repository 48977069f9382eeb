"""The replay of a training: one moment of it, played or chosen, with the curves that lead there.

All moments are in one file; as it plays nothing is computed again, and only this panel is drawn again.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from inspector import training
from inspector.export import spreadsheet
from inspector.readings import training as read
from inspector.views.shell import downloads, link, session, widgets
from inspector.views.shell.player import Player
from inspector.views.training import curves, heads
from inspector.wording.english import training as words
from models.training import history, metrics
from models.training.replay_file import MapKey

if TYPE_CHECKING:
    import pandas as pd

    from models.training.recipes import Recipe
    from models.training.replay_file import Replay

PLAYER = Player("replay", interval=1.5)


def draw(folder: Path, rows: pd.DataFrame | None, *, recipe: Recipe | None, vocabulary: int | None) -> None:
    """Draw curves and replay of a checkpoint in a panel; `rows` of training.curves, None without metrics."""
    PLAYER.load(folder.name)
    PLAYER.panel(_panel)(folder, rows, recipe, vocabulary)


def _panel(folder: Path, rows: pd.DataFrame | None, recipe: Recipe | None, vocabulary: int | None) -> None:
    try:
        replay = session.cached(("replay", str(folder)), lambda: history.read_replay(folder))
    except ValueError as error:
        session.show_problem(str(error))
        if rows is not None:
            curves.curves(rows, name=folder.name, recipe=recipe, vocabulary=vocabulary, step=None)
            _metrics(folder)
        return
    PLAYER.advance(len(replay.steps) - 1, at=_shown, go=partial(_go, replay))
    PLAYER.follow()
    sentence, stream = _choices(replay)
    place = st.empty()
    step = _moment(replay)
    measures = session.cached(
        ("replay measures", str(folder), sentence, stream),
        lambda: training.measures(replay, sentence=sentence, stream=stream),
    )
    place.markdown(words.moment(read.moment(measures, step=step)))
    width = None if recipe is None else recipe.width // recipe.heads
    layer, number = heads.opened(replay, measures, stream=stream)
    key = MapKey(sentence, stream, layer)
    heads.every_head(replay, measures, name=folder.name, place=key, number=number, step=step, head_width=width)
    heads.measure(measures, name=folder.name, place=key, number=number, step=step)
    heads.induction(replay, name=folder.name)
    heads.growth(replay, stream=stream, name=folder.name)
    if rows is not None:
        curves.curves(rows, name=folder.name, recipe=recipe, vocabulary=vocabulary, step=step)
    with st.container(horizontal=True, gap="small"):
        if rows is not None:
            _metrics(folder)
        downloads.button(
            f"{folder.name}-{stream}-heads.csv",
            lambda: spreadsheet.csv(measures),
            "Every measure of every head at every moment, of this sentence and stream",
            label="Heads, CSV",
        )
        downloads.button(
            f"{folder.name}-sentence{sentence}-replay.npz",
            lambda: training.npz(replay, sentence=sentence),
            "All maps of this sentence: numpy.load() gives STREAM.LAYER [moment, head, query, key], float16",
            label="Maps, NPZ",
        )


def _metrics(folder: Path) -> None:
    downloads.button(
        f"{folder.name}-metrics.csv",
        (folder / metrics.FILE).read_bytes,
        "Losses, accuracy, learning rate, gradient norm, speed: the training's own file",
        label="Metrics, CSV",
    )


# --- playing -------------------------------------------------------------------------------------------------------


def _shown() -> int:
    """The number of the moment that is seen as it plays; the slider's place comes back from the browser late."""
    shown: int = st.session_state["replay.shown"]
    return shown


def _go(replay: Replay, number: int) -> None:
    st.session_state["replay.shown"] = number
    st.session_state["moment"] = str(replay.steps[number])


def _moved(moments: list[str]) -> None:
    """Stop where the reader moved the slider; the player's own move may come back from the browser one late."""
    state = st.session_state
    if PLAYER.playing and abs(moments.index(state["moment"]) - _shown()) > 1:
        PLAYER.stop()


def _moment(replay: Replay) -> int:
    """Draw button and slider; return the step of the training that is looked at."""
    moments = [str(step) for step in replay.steps]
    default = moments[len(moments) // 2]
    button, slider = st.columns([1, 6], vertical_alignment="bottom")
    with slider:
        chosen: str = st.select_slider(
            f"Step, of {replay.steps[-1]:,}",
            moments,
            default,
            key="moment",
            bind=link.bind_choice("moment", default=default, options=moments),
            on_change=_moved,
            args=(moments,),
        )
    with button:
        at = partial(_place, moments)
        PLAYER.button(len(moments) - 1, at=at, go=partial(_go, replay), key="play_replay")
    return int(chosen)


def _place(moments: list[str]) -> int:
    """The number of the moment that the slider shows."""
    return moments.index(st.session_state["moment"])


def _choices(replay: Replay) -> tuple[int, str]:
    """The sentence, by its number, and the stream."""
    texts = [sentence.source for sentence in replay.sentences]
    bind = link.bind_choice("sentence", default=texts[0], options=texts)
    with st.container(horizontal=True, vertical_alignment="center"):
        text: str = st.selectbox("Sentence", texts, key="sentence", bind=bind, width=420, label_visibility="collapsed")
        stream = widgets.stream(replay.streams, key="replay_stream")
        sentence = texts.index(text)
        if replay.sentences[sentence].target:
            st.text(f"Target: {replay.sentences[sentence].target}")
    return sentence, stream
