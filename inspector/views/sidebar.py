"""The sidebar: model, text and examples, the same on every page. The text survives whatever goes wrong."""

from __future__ import annotations

import streamlit as st

import models
from inspector.views import link, parts

EXAMPLES = {
    "Who was tired?": "The cat sat on the mat because it was tired.",
    "One word, two meanings": "She sat by the river bank and wondered whether the bank would lend her the money.",
    "Word pieces": "Antidisestablishmentarianism is an unbelievably long word.",
    "Repetition": "To be or not to be, that is the question: to be or not to be.",
    "A longer paragraph": (
        "Attention lets every token look at every other token and take from it what it needs. Early layers often look "
        "at the neighbours, later layers gather what belongs together, and many heads rest on the separator when they "
        "have nothing to say. None of this was programmed: it grew while the network learned to predict words."
    ),
    "Two sentences": "The trophy does not fit into the suitcase.",
}
PAIRS = {"Two sentences": "It is too big."}
DEFAULT_TEXT = EXAMPLES["Who was tired?"]


def draw(page: str) -> None:
    """Model, text and examples, and what the link says of them; `page` is the page that is open."""
    link.read(page, known_models=[card.id for card in models.catalogue()], default_text=DEFAULT_TEXT)
    cards = {card.id: card for card in models.catalogue()}
    opened = st.session_state.get("file") is not None
    with st.sidebar:
        if opened:
            st.info(
                "You see a saved trace. Remove its file below to read a text again. A link cannot hold a file.",
                icon=":material/folder_open:",
            )
        st.selectbox("Model", list(cards), format_func=lambda id: cards[id].title, key="model", disabled=opened)
        card = cards[st.session_state["model"]]
        st.caption(card.summary)
        if not card.trained:
            parts.untrained()
        _text("Text", key="text", height=140, placeholder="Paste a sentence")
        if card.shape == "encoder":
            _text("Second text (optional)", key="pair", placeholder="A sentence to read beside the first")
        if card.shape == "encoder-decoder":
            _text("Target (optional)", key="target", placeholder="Left empty, the model writes its own")
        left, right = st.columns([1, 1.4])
        left.button("Inspect", type="primary", width="stretch", disabled=opened)
        right.selectbox(
            "Examples",
            list(EXAMPLES),
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
        link.write(default_text=DEFAULT_TEXT, default_model=models.catalogue()[0].id)


def _take_example() -> None:
    name = st.session_state["example"]
    if name is not None:
        st.session_state["text"], st.session_state["pair"] = EXAMPLES[name], PAIRS.get(name, "")
        st.session_state["example"] = None  # so that the same example can be taken again


def _text(label: str, *, key: str, placeholder: str, height: int = 68) -> None:
    opened = st.session_state.get("file") is not None
    st.text_area(label, key=key, height=height, placeholder=placeholder, persist_state="session", disabled=opened)
