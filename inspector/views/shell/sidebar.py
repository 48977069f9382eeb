"""The sidebar: model, text and examples, the same on every page. The text survives whatever goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import available_models, examples, link, model_picker, progress, widgets

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

    import models


def draw(page: str) -> ExpanderContainer:
    """Model, text and examples, and what the link says of them; `page` is the page that is open.

    Returns the place for another model, which `picker.draw` fills when the page is drawn.
    """
    known = available_models.ids()
    link.read(page, known_models=known, default_text=examples.FIRST)
    model_picker.take()
    opened = st.session_state.get("file") is not None
    with st.sidebar:
        if opened:
            st.info(
                "You see a saved trace. Remove its file below to read a text again. A link cannot hold a file.",
                icon=":material/folder_open:",
            )
        st.selectbox(
            "Model", known, format_func=lambda id: available_models.card(id).title, key="model", disabled=opened
        )
        card = available_models.card(st.session_state["model"])
        _summary(card)
        if not card.trained:
            widgets.untrained()
        other = st.expander("Another model", key="picker.open", on_change="rerun", icon=":material/add:")
        model_picker.field(other, disabled=opened)
        _text("Text", key="text", height=140, placeholder="Paste a sentence")
        if card.shape == "encoder":
            _text("Second text (optional)", key="pair", placeholder="A sentence to read beside the first")
        if card.shape == "encoder-decoder":
            _text("Target (optional)", key="target", placeholder="Left empty, the model writes its own")
        left, right = st.columns([1, 1.4])
        left.button("Inspect", type="primary", width="stretch", disabled=opened, on_click=progress.go_on)
        right.selectbox(
            "Examples",
            list(examples.EXAMPLES),
            index=None,
            placeholder="Examples",
            label_visibility="collapsed",
            key="example",
            on_change=_take_example,
            disabled=opened,
        )
        with st.expander("Open a saved trace", expanded=opened):
            st.file_uploader("A trace saved as .npz", type="npz", key="file", help="Saved here or by trace.save().")
    if not opened:
        link.write(default_text=examples.FIRST, default_model=known[0])
    return other


def _summary(card: models.Card) -> None:
    """Show the summary as plain text: for a local model it contains a path, which must not be rendered as Markdown."""
    st.caption(widgets.plain(card.summary))


def _take_example() -> None:
    name = st.session_state["example"]
    if name is not None:
        st.session_state["text"], st.session_state["pair"] = examples.EXAMPLES[name], examples.PAIRS.get(name, "")
        st.session_state["example"] = None  # so that the same example can be taken again


def _text(label: str, *, key: str, placeholder: str, height: int = 68) -> None:
    opened = st.session_state.get("file") is not None
    st.text_area(label, key=key, height=height, placeholder=placeholder, persist_state="session", disabled=opened)
