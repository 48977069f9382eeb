"""Every view is a link: the query parameters restore it. What a link says is checked, and never loaded blindly."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

TEXTS = ("text", "pair", "a_text", "b_text")  # of the sidebar and of the two panels of Compare
MAX_TEXT = 1_000  # characters; a link is a header of a request, and servers refuse long ones


def read(*, known_models: Sequence[str], default_text: str) -> None:
    """Take model, texts and problems from the link, once a session; afterwards the widgets lead."""
    if "problems" in st.session_state:
        return
    st.session_state["problems"], st.session_state["chosen"] = [], {}
    st.session_state["linked"] = st.query_params.to_dict()
    model = st.query_params.get("model", known_models[0])
    if model not in known_models:
        _complain(
            f"The link asks for the model {_plain(model)}, which is not in the list. It was not loaded: "
            f"you see {known_models[0]} instead. From Python, models.load() takes a folder."
        )
        model = known_models[0]
    st.session_state["model"] = model
    for name in TEXTS:
        st.session_state[name] = st.query_params.get(name, default_text if name == "text" else "")


def write(*, default_model: str, default_text: str) -> None:
    """Put model and texts into the link where they differ from what the page starts with."""
    _put("model", st.session_state["model"], default_model)
    texts = {name: str(st.session_state.get(name, "")) for name in TEXTS}
    length = sum(len(text) for text in texts.values())
    for name, text in texts.items():
        default = default_text if name == "text" else ""
        _put(name, text if length <= MAX_TEXT else default, default)
    if length > MAX_TEXT:
        st.sidebar.caption(
            f"The link restores the view but not the text: {length:,} characters are more than the {MAX_TEXT:,} that "
            "fit a link."
        )


def check_number(name: str, *, default: int, last: int) -> None:
    """Before a widget takes the query parameter `name`, 0 to `last`: say it where the link is out of range.

    A value that the session still holds from a larger model or a longer text is dropped too.
    """
    raw = st.query_params.get(name)
    if raw is not None and not (raw.isdecimal() and int(raw) <= last):
        _complain(f"The link asks for {name} {_plain(raw)}; they go from 0 to {last}. You see {default} instead.")
    if st.session_state.get(name, 0) > last:
        del st.session_state[name]


def chosen(name: str, *, default: int | None, last: int) -> int | None:
    """A number from 0 to `last` that no widget holds: what `choose` kept, else the link's, else `default`.

    It is not read from the link again: a click that comes before the browser has the new address would undo the last.
    """
    kept, linked = st.session_state["chosen"], st.session_state["linked"]
    if (raw := linked.pop(name, None)) is not None:
        if raw.isdecimal() and int(raw) <= last:
            kept[name] = int(raw)
        else:
            _complain(f"The link asks for {name} {_plain(raw)}; they go from 0 to {last}. You see {default} instead.")
    value: int | None = kept.get(name, default)
    if value is not None and value > last:
        value = default
    _put(name, str(value), str(default))
    return value


def choose(name: str, value: int | None) -> None:
    """Keep a number for `chosen`; None goes back to its default."""
    if value is None:
        st.session_state["chosen"].pop(name, None)
    else:
        st.session_state["chosen"][name] = value


def show_problems() -> None:
    """What was wrong with the link, in sentences, until the reader dismisses it."""
    problems: list[str] = st.session_state["problems"]
    for problem in problems:
        st.warning(problem, icon=":material/link_off:")
    if problems:
        st.button("Dismiss", on_click=problems.clear, key="dismiss")


def _complain(sentence: str) -> None:
    if sentence not in st.session_state["problems"]:
        st.session_state["problems"].append(sentence)


def _put(name: str, value: str, default: str) -> None:
    if value != default:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def _plain(value: str) -> str:
    """Quoted for a sentence that is shown as markdown: only letters, digits and a few marks, at most 60."""
    kept = "".join(character if character.isalnum() or character in "-./ " else "?" for character in value[:60])
    return f'"{kept}"'
