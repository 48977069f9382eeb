"""Another model: a reader names one of the hub or a folder, sees what it would take, and then loads it or does not.

The work is done last in a run of the script, when the page is there. Streamlit ends a run at its next call here when
the reader presses Stop or changes something: a download ends with it, in this very thread. What was asked for is kept
in the session until it is done or stopped, so a change of the page interrupts a download and does not undo it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.server import audience
from inspector.views.shell import adding_models, link, model_shelf, problems, progress
from inspector.wording.reader import shell as wording
from models import failures
from models.limits import variable

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

    from models.untrusted.candidates import Candidate

STOPPED = "stopped"  # in the place of a sentence why a model was refused: the reader pressed Stop
_SPECIAL = 3  # tokens that a tokenizer adds to a text, at most, in the models known


def take() -> None:
    """Choose the model that was just loaded, before the list of models is drawn."""
    state = st.session_state
    if not state["link.same_page"]:
        state.pop("picker.refused", None)
    if "picker.taken" in state:
        link.forget_model_problem(state["picker.other"])
        state["model"], state["picker.other"], state["picker.open"] = state.pop("picker.taken"), "", False


def field(place: ExpanderContainer, *, disabled: bool) -> None:
    """Draw the field in which the reader names a model; drawn with the sidebar, before the page."""
    if not place.open:
        return
    with place:
        try:
            limits = model_shelf.limits()
        except ValueError as error:  # a variable that cannot be read
            problems.show(str(error))
            return
        folders = "" if limits.root is None else wording.folders(str(limits.root) if audience.is_this_machine() else "")
        with st.form("another", border=False):
            st.text_input(
                wording.NAME if limits.root is None else wording.NAME_OR_FOLDER,
                key="picker.other",
                max_chars=link.MAX_NAME,
                placeholder=wording.HUB_NAME if limits.root is None else wording.HUB_NAME_OR_FOLDER,
                help=wording.name_help(folders=folders),
                disabled=disabled,
                persist_state="session",
            )
            st.form_submit_button(wording.LOOK, width="stretch", on_click=_look_for, disabled=disabled, key="look")
        st.caption(
            wording.looking(
                hub=limits.hub,
                hub_variable=variable("hub"),
                no_folders=limits.root is None,
                root_variable=variable("root"),
            )
        )


def draw(place: ExpanderContainer) -> None:
    """Draw this machine's models, the model found, and the work that the reader asked for; drawn after the page."""
    state, opened = st.session_state, st.session_state.get("file") is not None
    asked = "picker.asked" in state and not opened
    if not place.open and not asked:
        return
    with place:
        _there(disabled=opened)
        about, bar, button, problem = (st.empty() for _ in range(4))
    _describe(about)
    if asked:
        problem.empty()
        _work(bar, button)
        bar.empty()
        _describe(about)
    refused = state.get("picker.refused") or _over_a_limit()
    if "picker.seen" in state:
        button.button(
            wording.LOAD,
            type="primary",
            icon=":material/download:",
            on_click=_load,
            args=(state["picker.seen"],),
            key="load",
            width="stretch",
            disabled=opened or _over_a_limit() is not None,
        )
    if refused == STOPPED:
        problem.caption(wording.FETCHING_STOPPED)
    elif refused is not None:
        with problem.container():
            problems.show(refused, what=wording.CANNOT_BE_LOADED)


def _there(*, disabled: bool) -> None:
    there = adding_models.on_this_machine()
    if there:
        st.selectbox(
            wording.ON_THIS_MACHINE,
            there,
            index=None,
            format_func=model_shelf.below_root,
            placeholder=wording.ON_THIS_MACHINE,
            label_visibility="collapsed",
            key="picker.there",
            on_change=_take,
            disabled=disabled,
        )


# --- what the reader pressed: callbacks, before the next run ---------------------------------------------------------


def _look_for() -> None:
    state = st.session_state
    state["picker.asked"] = ("look", state["picker.other"])
    for name in ("picker.refused", "picker.seen"):
        state.pop(name, None)


def _take() -> None:
    if st.session_state["picker.there"] is not None:
        st.session_state["picker.other"], st.session_state["picker.there"] = st.session_state["picker.there"], None
        _look_for()


def _load(id: str) -> None:
    st.session_state["picker.asked"] = ("load", id)
    st.session_state.pop("picker.refused", None)


def _stop() -> None:
    st.session_state.pop("picker.asked", None)
    st.session_state["picker.refused"] = STOPPED


# --- the work --------------------------------------------------------------------------------------------------------


def _work(bar: DeltaGenerator, button: DeltaGenerator) -> None:
    """Do what was asked for; what goes wrong is kept as a sentence, and is not asked for again.

    Only where the run is ended in the middle, by Stop or a change of the page, does the wish stay.
    """
    state = st.session_state
    what, name = state["picker.asked"]
    try:
        with failures.told("Looking at it" if what == "look" else "Loading it", instead="Name another model."):
            if what == "look":
                with bar, st.spinner(wording.LOOKING):
                    state["picker.seen"] = adding_models.look(name)
            else:
                button.button(wording.STOP, icon=":material/stop:", on_click=_stop, key="stop", width="stretch")
                _fetch(name, progress.Bar(bar))
                state["picker.taken"] = name
                del state["picker.seen"]
    except ValueError as error:
        logging.getLogger(__name__).info("refused: %s", error)
        state["picker.refused"] = str(error)
    del state["picker.asked"]
    if "picker.taken" in state:
        st.rerun()


def _fetch(name: str, bar: progress.Bar) -> None:
    """Fetch and load the model, showing how much of it is here."""
    fetched, total, words = 0, 1, wording.STARTING

    def after_a_piece(done: int, of: int) -> None:
        nonlocal fetched, total, words
        fetched, total, words = done, of, wording.fetched(done=done, of=of)

    def stop() -> bool:
        """Never say yes: asked after each piece, and while another visitor fetches the file, it stops by drawing."""
        bar.draw(fetched, total, words)
        return False

    def before_loading() -> None:
        bar.draw(1, 1, wording.LOADING_TAKES_SECONDS, now=True)

    bar.draw(0, 1, words)
    adding_models.add(name, progress=after_a_piece, stop=stop, before=before_loading)


# --- what was found --------------------------------------------------------------------------------------------------


def _found() -> Candidate | None:
    state = st.session_state
    return adding_models.looked_at(state["picker.seen"]) if "picker.seen" in state else None


def _over_a_limit() -> str | None:
    """The sentence of the limit that it is over."""
    from models.untrusted.candidates import check

    candidate = _found()
    try:
        if candidate is not None:
            with failures.told("Checking the limits", instead="Name another model."):
                check(candidate, model_shelf.limits(), placement=model_shelf.placement())
    except ValueError as error:
        return str(error)
    return None


def _describe(place: DeltaGenerator) -> None:
    """Describe the model that was found: its architecture, and what it would take, with each limit."""
    from models.placement import dtype_name
    from models.untrusted.candidates import tokens_that_fit

    candidate, limits = _found(), model_shelf.limits()
    if candidate is None:
        place.empty()
        return
    size, config, fits = candidate.size, candidate.config, tokens_that_fit(candidate, limits)
    tokens = min(fits, len(st.session_state["text"].encode("utf-8", "replace")) + _SPECIAL)  # at most one a byte
    dtype = model_shelf.placement().torch_dtype(config.dtype)
    architecture = f"{config.config.model_type}, {config.architecture.__name__}".replace("_", r"\_")
    lines = [
        architecture,
        wording.parameters(count=size.parameters, limit=limits.parameters),
        wording.attention_layers(count=size.layers, limit=limits.layers),
        wording.download(size=candidate.download_bytes, limit=limits.download_bytes),
        wording.memory(size=candidate.memory_bytes(dtype), dtype=dtype_name(dtype), limit=limits.memory_bytes),
        wording.recording(size=size.capture_bytes(tokens), limit=limits.capture_bytes, tokens=fits),
        wording.recording_maps(
            size=size.capture_bytes(tokens, maps=True), tokens=tokens_that_fit(candidate, limits, maps=True)
        ),
        wording.tokenizer(candidate.tokenizer),
        wording.KNOWN_LATER,
    ]
    with place.container():
        st.text(wording.candidate(name=model_shelf.below_root(candidate.name), commit=candidate.commit))
        st.caption("\n".join(f"- {line}" for line in lines))
        for note in candidate.notes:
            st.text(note)
