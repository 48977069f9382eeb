"""The sidebar: model, text and examples, the same on every page. The text survives whatever goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector import examples
from inspector.text import plain
from inspector.views.components import width
from inspector.views.shell import (
    appearance,
    available_models,
    languages,
    link,
    model_picker,
    progress,
    recording_notes,
    switch_panel,
    variants,
)
from inspector.wording.reader import shell as wording
from models.cards import MINILM
from models.registry import default_id, default_note

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

    import models
    from inspector.sections.registry import Page


def begin(page: str) -> None:
    """Take model and texts from the link, or from the picker; `page` is the address of the page that is open."""
    link.read(page, known_models=available_models.ids(), default_model=default_id(), default_text=examples.of_link)
    languages.complain()
    switch_panel.take()
    model_picker.take()


def draw(page: Page, *, text_in_page: bool) -> ExpanderContainer | None:
    """Draw model, text and examples, as far as a page asks for them, and put what they say into the link.

    text_in_page: the text stands where this is called, for a narrow window, in which the sidebar would hide the page.
    Returns the place for another model, which `model_picker.draw` fills when the page is drawn; None where no model is.
    """
    opened, other = st.session_state.get("file") is not None, None
    with st.sidebar if page.runs or opened else st.container():
        if opened:
            st.info(wording.TRACE_IS_OPEN, icon=":material/folder_open:")
        if page.runs:
            other = _model(disabled=opened, switches=page.reads)
        if page.reads and not text_in_page:
            _text_to_read(height=140, label=wording.INSPECT)
            if not opened:
                _about_example(st.session_state["model"], st.session_state["text"])
        if page.reads:
            _text_beside(available_models.card(st.session_state["model"]))
        if page.reads or opened:
            _saved(opened=opened)
        width.watch()
    if text_in_page:
        _text_to_read(height=68, label=appearance.on_accent(wording.INSPECT)[0])
    if not opened:
        id = available_models.card(st.session_state["model"]).id
        # A link without a model means MiniLM, so that it shows the same where the model was fetched.
        link.write(
            default_text=examples.of_link(id),
            beside=_beside(id),
            default_model=MINILM.id,
            language=languages.in_link(),
        )
    return other


def _model(*, disabled: bool, switches: bool) -> ExpanderContainer:
    """Draw the choice of a model, its switches, and the place for another model, which is returned."""
    known = available_models.titles_in_frame()
    st.selectbox(
        wording.MODEL,
        known,
        format_func=known.__getitem__,
        key="model",
        on_change=_take_models_example,
        disabled=disabled,
        persist_state="session",  # a click may end a run before this is drawn, and the choice outlives that
    )
    card = available_models.card(st.session_state["model"])
    _summary(card)
    if note := default_note():
        st.caption(wording.offered(note))
    if not card.trained:
        recording_notes.untrained()
    if switches:
        switch_panel.draw(disabled=disabled)
    other = st.expander(wording.ANOTHER_MODEL, key="picker.open", on_change="rerun", icon=":material/add:")
    model_picker.field(other, disabled=disabled)
    return other


def _saved(*, opened: bool) -> None:
    """Draw the field for a saved trace."""
    saved = st.expander(wording.OPEN_TRACE, key="saved.open", on_change="rerun")
    if saved.open or opened:  # a field for files would bring its scripts, and the first picture would wait for them
        saved.file_uploader(wording.TRACE_FILE, type="npz", key="file", help=wording.TRACE_FILE_HELP)


def _beside(model: str) -> str:
    """Return side B as the link keeps it: nothing where it is the model as it is, which a link without B means too."""
    beside = variants.side_b()
    return "" if beside in (None, variants.base(model)) else str(beside)


def _text_to_read(*, height: int, label: str) -> None:
    """Draw the field for the text, the button that reads it, and the examples; label: the button's."""
    opened = st.session_state.get("file") is not None
    _field(wording.TEXT, key="text", height=height, placeholder=wording.TEXT_HINT)
    with st.container(horizontal=True, wrap=False):
        st.button(label, type="primary", width=84, disabled=opened, on_click=progress.go_on)
        st.selectbox(
            wording.EXAMPLES,
            list(examples.offered(st.session_state["model"])),
            index=None,
            format_func=wording.example,
            placeholder=wording.EXAMPLES,
            label_visibility="collapsed",
            key="example",
            on_change=_take_example,
            disabled=opened,
        )


def _about_example(model: str, text: str) -> None:
    """Say that nobody wrote the text, and how far the model is right about it."""
    names = [name for name, example in examples.offered(model).items() if example == text]
    if names and examples.is_of(model, text) and names[0] in wording.LIMITS_OF_EXAMPLES:
        st.caption(wording.LIMITS_OF_EXAMPLES[names[0]])
    if examples.untouched(text):
        st.caption(wording.EXAMPLE)


def _text_beside(card: models.Card) -> None:
    """Draw the field for what is read with the text."""
    if card.shape == "encoder":
        _field(wording.SECOND_TEXT, key="pair", placeholder=wording.SECOND_TEXT_HINT)
    if card.shape == "encoder-decoder":
        _field(wording.TARGET, key="target", placeholder=wording.TARGET_HINT)


def _summary(card: models.Card) -> None:
    """Show the summary as plain text: for a local model it contains a path, which must not be rendered as Markdown."""
    st.caption(plain(wording.summary(card)))


def _take_models_example() -> None:
    """Give the model that was just chosen the example on which it does well, unless a reader wrote the text."""
    state = st.session_state
    if examples.untouched(state["text"]):
        state["text"] = examples.of(state["model"])


def _take_example() -> None:
    name = st.session_state["example"]
    if name is not None:
        offered = examples.offered(st.session_state["model"])
        st.session_state["text"], st.session_state["pair"] = offered[name], examples.PAIRS.get(name, "")
        st.session_state["example"] = None  # so that the same example can be taken again


def _field(label: str, *, key: str, placeholder: str, height: int = 68) -> None:
    opened = st.session_state.get("file") is not None
    st.text_area(label, key=key, height=height, placeholder=placeholder, persist_state="session", disabled=opened)
