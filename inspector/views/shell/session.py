"""The text and the model that the reader chose, recorded for every page, and the notes on them.

Loaded models live once for all visitors (model_shelf.py); traces and what is computed from them live in a cache with a
byte budget (caching.py); a visitor's session holds keys and widget values only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

import models
from inspector import examples
from inspector.sections import registry
from inspector.sections.subject import Subject
from inspector.text import plain
from inspector.views.server import process_settings
from inspector.views.shell import (
    available_models,
    caching,
    loaded_models,
    model_shelf,
    overview,
    problems,
    progress,
    recording_notes,
    text_report,
    variants,
)
from inspector.wording import exactness as words
from inspector.wording import mixers as mixer_words
from inspector.wording.reader import shell as wording
from models import failures, formatting

# torch comes with the first model: the sidebar and the page's frame are drawn before.
if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from inspector.self_checks import Exactness
    from inspector.trace import Trace
    from inspector.trace.second_run import SecondRun


@dataclass(frozen=True)
class Inspected:
    """A recorded text and the id of the model it went through; None where a file's model is not at hand."""

    trace: Trace
    model: str | None

    @property
    def loaded(self) -> models.LoadedModel | None:
        """The model, loaded again where it had to leave; ValueError where that fails. See `at_hand`."""
        return None if self.model is None else load(self.model)


def subject(trace: Trace | None, loaded: models.LoadedModel | None) -> Subject:
    """Return the subject of sections, with the visitors' cache. trace: None where sizes alone are given."""
    version = 0 if loaded is None else loaded_models.version(loaded.card.id)
    stream = "" if trace is None else trace.streams[0]
    return Subject(trace, loaded, stream, version, caching.cached, load=load, at_hand=loaded_models.is_at_hand)


def load(model: str) -> models.LoadedModel:
    """The loaded model, one copy for all visitors; ValueError where it cannot be loaded."""
    with failures.told(f"Loading the model {model}", instead="Choose another model."):
        loaded = loaded_models.load(model)
    process_settings.use_threads()
    process_settings.tune_memory()
    return loaded


def record(model: str, text: str, *, text_pair: str | None = None, target: str | None = None) -> Inspected:
    """The text's trace in one of the models that can be chosen, recorded once, within the page's limits."""

    def make() -> Trace:
        from inspector import probe

        loaded, limits = load(model), model_shelf.limits()
        most = probe.TextLimits(limits.characters, loaded_models.tokens_allowed(model), limits.capture_bytes)
        told = failures.told("Reading the text", instead=wording.TEXT_IS_KEPT)
        with told, progress.layers("Reading the text") as on_progress:
            return probe.record(loaded, text, text_pair=text_pair, target=target, limits=most, on_progress=on_progress)

    return Inspected(caching.cached(_trace_key(model, text, text_pair, target), make), model)


def _trace_key(model: str, text: str, text_pair: str | None, target: str | None) -> Hashable:
    return ("trace", model, loaded_models.version(model), text, text_pair, target)


def exactness(inspected: Inspected) -> Exactness:
    """The checks of this text, made once; the second run of a long text is made only when the reader asked."""
    trace, checks = inspected.trace, overview.of(inspected.trace).checks
    asked = _is_second_run_asked(trace)

    def make() -> tuple[int, SecondRun | None, str]:
        loaded = inspected.loaded
        if loaded is None:
            return len(trace.sites), None, words.NO_MODEL
        return loaded.layers, *(_second_run(loaded, trace) if asked else (None, words.LONG))

    layers, second, not_held = caching.cached(_exactness_key(trace), make)
    return checks.result(expected_layers=layers, second=second, not_held=not_held)


def _is_second_run_asked(trace: Trace) -> bool:
    return not is_long(trace) or recording_notes.independent_check_asked(trace)


def _exactness_key(trace: Trace) -> Hashable:
    return ("exactness", trace.key, _is_second_run_asked(trace))


def _second_run(loaded: models.LoadedModel, trace: Trace) -> tuple[SecondRun | None, str]:
    """The trace held to a second run of its model, or None and why there is none."""
    from inspector.probe import hold

    try:
        told = failures.told("The independent check", instead="Look at another text.")
        with told, progress.layers("Independent check") as on_progress:
            return hold(loaded, trace, mixes=overview.of(trace).checks.mixes, on_progress=on_progress), ""
    except ValueError as error:
        return None, str(error)


def panel_trace(chosen: Inspected, *, model: str, text: str) -> Trace:
    """The trace of a panel that has its own model and text; an empty text is the sidebar's.

    Raises ValueError for a model without softmax attention.
    """
    trace = _panel_trace(chosen, model=model, text=text)
    if not trace.sites:
        raise ValueError(mixer_words.no_attention(trace.mixer_sites[0].kind))
    return trace


def _panel_trace(chosen: Inspected, *, model: str, text: str) -> Trace:
    trace = chosen.trace
    if model not in available_models.ids():  # that of the saved trace
        if text.strip():
            raise ValueError(wording.model_not_at_hand(model=model, so=wording.READS_NO_OTHER))
        return trace
    shape = available_models.shape(model)
    with st.container():
        if text.strip():
            if variants.takes_statistics(model):
                raise ValueError(
                    "This model's BatchNorm has the statistics of the sidebar's text, so it reads that one; leave this "
                    "text empty, or choose another norm."
                )
            return record(model, text).trace
        if model == trace.model:
            return trace
        pair = trace.text_pair if shape == "encoder" else None
        target = _target() if shape == "encoder-decoder" else None
        return record(model, trace.text, text_pair=pair, target=target).trace


def is_long(trace: Trace) -> bool:
    """Return True if some map of the text is too large to be shown whole."""
    from inspector.maps import WHOLE

    return max(len(tokens) for site in trace.mixing_sites for tokens in (site.queries, site.keys)) > WHOLE


# --- what the reader chose --------------------------------------------------------------------------------------------


def _target() -> str | None:
    target: str = st.session_state["target"]
    return target if target.strip() else None


def inspected(
    read: Callable[[], Inspected] | None = None, *, notes_weights: bool = True, attends: bool = True
) -> Inspected:
    """Record what the reader chose, or `read`; where that is not possible the page says why and stops.

    Says over the picture what was cut, what the tokenizer does not know, and that a model is untrained or has weights
    that were drawn anew; the sidebar has the exactness badge. notes_weights: False where the page says the latter at
    each map. attends: the page reads maps of softmax attention, and of a model that has none it says so and stops.
    """
    progress.hold()
    if nothing_to_read():
        _offer_example()
        st.stop()
    try:
        with (
            failures.told("Reading the text", instead=wording.TEXT_IS_KEPT),
            st.container(),
            nullcontext() if read is None and _is_read() else st.spinner(wording.READING_FIRST),
        ):
            seen = (read or chosen)()
            checked = exactness(seen)
    except ValueError as error:
        logging.getLogger(__name__).info("refused: %s", error)
        problems.show(str(error))
        st.stop()
    if read is None and st.session_state.get("file") is not None:  # only now the file has said its model
        from inspector.views.shell import header  # comes with torch, before which the page is drawn

        header.name(wording.MODEL, wording.of_saved_trace(model=available_models.title_in_frame(seen.trace.model)))
    with st.sidebar:
        recording_notes.draw(seen, checked, stands_in=read is not None and seen.model != chosen_model())
        if seen.trace.nbytes > caching.CACHE_BYTES:
            st.warning(wording.not_kept(size=seen.trace.nbytes, most=caching.CACHE_BYTES), icon=":material/memory:")
        text_report.draw(seen.trace.key, lambda: subject(seen.trace, seen.loaded))
    if attends and not seen.trace.sites:
        problems.show(mixer_words.no_attention(seen.trace.mixer_sites[0].kind), what=mixer_words.NOT_SHOWN)
        st.stop()
    recording_notes.warn(seen.trace, weights=notes_weights)
    if seen.trace.mixers and registry.PAGES[st.session_state["link.page"]].attends:
        st.caption(mixer_words.softmax_alone(dict.fromkeys(site.kind for site in seen.trace.mixer_sites)))
    return seen


def nothing_to_read() -> bool:
    """Return True if the reader's text is empty, and no saved trace is open."""
    return st.session_state.get("file") is None and not st.session_state["text"].strip()


def _offer_example() -> None:
    """Say that the text is empty, and offer an example of the model's."""
    example = examples.of(st.session_state["model"])

    def take() -> None:
        st.session_state["text"] = example

    with st.container(border=True):
        st.text(wording.NOTHING_TO_READ)
        st.button(plain(example), key="take example", on_click=take)


def chosen_model() -> str | None:
    """Return the id of the model that the reader chose; None where a saved trace is open whose model is not at hand."""
    if st.session_state.get("file") is not None:
        return chosen().model
    model: str = st.session_state["model"]
    return model


def chosen_text() -> str:
    """Return the text that the reader chose: the sidebar's, or that of the saved trace that is open."""
    if st.session_state.get("file") is not None:
        return chosen().trace.text
    text: str = st.session_state["text"]
    return text


def chosen() -> Inspected:
    """Record the sidebar's text in the sidebar's model, or open the reader's file; ValueError where it cannot be."""
    upload = st.session_state.get("file")
    if upload is not None:
        return _opened(upload)
    model, text, pair, target = _asked()
    return record(model, text, text_pair=pair, target=target)


def _asked() -> tuple[str, str, str | None, str | None]:
    """Return the sidebar's model, text, second text and target."""
    state = st.session_state
    shape, pair = available_models.shape(state["model"]), state["pair"]
    text_pair = pair if shape == "encoder" and pair.strip() else None
    return state["model"], state["text"], text_pair, _target() if shape == "encoder-decoder" else None


def _is_read() -> bool:
    """Return True if the sidebar's text was recorded and checked before, so that nothing is to wait for."""
    if st.session_state.get("file") is not None:
        return False
    key = _trace_key(*_asked())
    return caching.holds(key) and caching.holds(_exactness_key(chosen().trace))


def _opened(upload: UploadedFile) -> Inspected:
    from inspector.trace import file

    name = formatting.shortened(upload.name)  # of a stranger's choice: never a path of ours
    limits = model_shelf.limits()
    trace = caching.cached(("file", upload.file_id), lambda: file.read(upload, name=name, limits=limits))
    known = trace.model in available_models.ids() and not trace.given
    return Inspected(trace, trace.model if known else None)


def at_hand(chosen: Inspected, *, so: str) -> models.LoadedModel:
    """The model of a recorded text; where it is not at hand the page says it, and `so` what that means, and stops."""
    try:
        with nullcontext() if loaded_models.is_loaded(chosen.model) else st.spinner(wording.LOADING):
            loaded = chosen.loaded
    except ValueError as error:
        problems.show(str(error))
        st.stop()
    if loaded is None:
        problems.show(
            wording.only_given(so=so)
            if chosen.trace.given
            else wording.model_not_at_hand(model=available_models.title_in_frame(chosen.trace.model), so=so)
        )
        st.stop()
    return loaded
