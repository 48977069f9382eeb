"""A choice of sizes to count: those of the sidebar's model, of a known shape, or of a reader's configuration.

A link restores the choice and the length. A pasted configuration is no part of a link, and a name on the hub in a link
is prefilled and asked about, never fetched by itself.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import streamlit as st

from inspector import costs
from inspector.sections.subject import Configuration, Subject
from inspector.views.shell import appearance, controls, header, link, model_shelf, problems
from inspector.wording import costs as words
from models import failures

MOST_TOKENS = 10**9
DEFAULT = "llama-2-70b"
OF_MODEL = "text_length"  # of the sidebar's model, in the link
_OF_TEXT = "costs.text_length"  # in the session: the length of the text that was shown before


def source() -> str:
    """Let the reader choose: "model" for the sidebar's, "shape" or "config"."""
    return controls.bar(words.WHOSE, list(words.SOURCES), "of", words=words.SOURCES.__getitem__)


def at_length(subject: Subject) -> Subject:
    """Let the reader choose a length in place of the text's; another text brings its own."""
    sizes, state = subject.configuration, st.session_state
    if _OF_TEXT in state and state.get(OF_MODEL) == state[_OF_TEXT] != sizes.tokens:
        state[OF_MODEL] = sizes.tokens
    state[_OF_TEXT] = sizes.tokens
    tokens = controls.number(words.LENGTH, OF_MODEL, default=sizes.tokens, first=1, last=MOST_TOKENS, width=180)
    if tokens == sizes.tokens:
        return subject
    return replace(subject, given=replace(sizes, tokens=tokens, target_tokens=None))


def given(source: str) -> Configuration | None:
    """Let the reader choose a shape or give a configuration; None where there is none yet, and why is said."""
    configuration = _shape() if source == "shape" else _pasted()
    if configuration is not None:
        header.name(words.GIVEN[source], configuration.title)
    return configuration


def _shape() -> Configuration:
    titles = {name: shape.title for name, shape in costs.SHELF.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            words.SHAPE,
            list(titles),
            index=list(titles).index(DEFAULT),
            format_func=titles.__getitem__,
            key="shape",
            bind=link.bind_choice("shape", default=DEFAULT, options=list(titles), label=titles.__getitem__),
            width=220,
        )
        tokens = _length()
        shape = costs.SHELF[name]
        st.caption(words.shape(shape.source, shape.parameters, note=shape.note), width="stretch")
    with st.spinner(words.LOADING):
        return Configuration.of_shape(name, tokens=tokens)


def _length() -> int:
    return controls.number(words.LENGTH, "length", default=128, first=1, last=MOST_TOKENS, width=180)


def _pasted() -> Configuration | None:
    """Read what the reader pasted or named: the configuration alone, never a weight."""
    with st.form("config", border=False):
        text = st.text_area(
            words.PASTE,
            key="pasted",
            height=140,
            placeholder=words.PASTED,
            help=words.PASTE_HELP,
            persist_state="session",
        )
        name = st.text_input(
            words.NAME,
            key="named",
            max_chars=link.MAX_NAME,
            placeholder=words.NAMED,
            bind=link.bind_words("named", default="", most=link.MAX_NAME),
        )
        asked = st.form_submit_button(appearance.on_accent(words.COUNT_IT)[0], type="primary")
    tokens = _length()
    state = st.session_state
    if asked:
        state["costs.asked"] = (text.strip(), name.strip())
    if state.get("costs.asked") != (text.strip(), name.strip()) or not any(state["costs.asked"]):
        st.caption(words.PRESS_COUNT)
        return None
    try:
        with failures.told(words.READING, instead=words.CHECK_IT), st.spinner(words.READING):
            config, title, ignored = _read(text, name)
    except ValueError as error:
        problems.show(str(error), what=words.CANNOT_BE_COUNTED)
        return None
    if ignored:
        st.caption(words.IGNORED.format(", ".join(ignored)))
    key = hashlib.sha256(str(config.to_dict()).encode()).hexdigest()
    code = "config = ...  # a configuration of transformers, such as AutoConfig.from_pretrained(folder)"
    return Configuration(title, config, ("config", key), code, tokens)


def _read(text: str, name: str) -> tuple[Any, str, tuple[str, ...]]:
    """Read a configuration by the rules for strangers' files, with its title and what was left out."""
    from pathlib import Path

    from models.untrusted import folders, hub
    from models.untrusted.hub_id import parse
    from models.untrusted.safe_config import pasted, safe_config

    limits = model_shelf.limits()
    if text.strip():
        checked = pasted(text, limits=limits)
        checked.config.architectures = [checked.architecture.__name__]
        return checked.config, words.PASTED_NAME.format(checked.config.model_type), checked.ignored
    name = name.strip()
    if name.startswith(("/", "~", ".")):
        folder = folders.allowed(name, limits=limits)
        checked = safe_config(folder, limits=limits)
        title = Path(folder).name
    else:
        candidate = hub.describe(parse(name), limits=limits)
        checked, title = candidate.config, candidate.name
    checked.config.architectures = [checked.architecture.__name__]
    return checked.config, title, checked.ignored
