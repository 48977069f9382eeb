"""Every view is a link: the query parameters restore it. What a link says is checked, and never loaded blindly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

T = TypeVar("T", int, str)

TEXTS = ("text", "pair", "target", "a_text", "b_text", "c_text", "d_text")  # of the sidebar and of Compare's panels
Value = int | str | tuple[int, ...] | tuple[str, ...]
CHOSEN = {  # by a page's path (the first page has none): what no widget holds
    # The open head, its pinned queries, a key to explain, what is drawn, the order and choice of heads.
    "": ("layer", "head", "query", "key", "lines", "between", "tokens", "sort", "only"),
    "compare": ("panels",),  # how many there are
    "generate": ("step",),  # of the text being written
    # The masked tokens, one or several; the swapped word; the token that is predicted; what is dropped; the open head.
    "what_if": ("token", "word", "ask", "drop", "mask_layer", "mask_head"),
    "training": ("replay_layer", "replay_head"),  # the open head of the replay
}
MAX_NAME = 300  # characters of the name of another model
MAX_TEXT = 1_000  # characters; a link is a header of a request, and servers refuse long ones


def read(page: str, *, known_models: Sequence[str], default_text: str) -> None:
    """Take model, texts and numbers from the link at a session's start; afterwards the widgets lead.

    The numbers of `chosen` are taken again on every whole run of the page that keeps them in its address, which is how
    the browser's Back reaches them. Other pages' addresses do not hold them, so there they stay as they are.
    """
    state = st.session_state
    first = "problems" not in state
    if first:
        state["problems"], state["chosen"], state["clicked"] = [], {}, set()
        model = st.query_params.get("model", known_models[0])
        if model not in known_models:
            _complain(
                f"The link asks for the model {_plain(model)}, which is not in the list. It was not loaded: "
                f"you see {known_models[0]} instead. To see what it would take and to load it, press Look in the "
                "sidebar under Another model."
            )
            state["other"], state["other_open"] = model[:MAX_NAME], True
            model = known_models[0]
        state["model"] = model
        for name in TEXTS:
            state[name] = st.query_params.get(name, default_text if name == "text" else "")
    if first:
        state["linked"] = {name: st.query_params.get(name) for names in CHOSEN.values() for name in names}
    elif state["page"] == page:
        # What a click just chose leads: it came before the run, and the address is still the old one.
        names = set(CHOSEN.get(page, ())) - state["clicked"]
        state["linked"] |= {name: st.query_params.get(name) for name in names}
    state["page"] = page


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


def check_number(name: str, *, default: float, last: float, first: float = 0) -> None:
    """Before a widget takes the query parameter `name`, `first` to `last`: say it where the link is out of range.

    Whole numbers, or any where `default` is a float. A value that the session still holds from a longer text or a
    larger model goes back to `default` without a word.
    """
    raw = st.query_params.get(name)
    if name in st.session_state:
        if st.session_state[name] > last:
            st.session_state[name] = default
    elif raw is not None and not _in_range(raw, last, first=first, whole=isinstance(default, int)):
        _complain(f"The link asks for {name} {_plain(raw)}; they go from {first} to {last}. You see {default} instead.")


def check_choice(name: str, *, default: str, options: Sequence[str]) -> None:
    """Before a widget takes the query parameter `name`, one of the options: say it where the link asks for another.

    A value that the session still holds from another choice of options goes back to `default` without a word.
    """
    raw = st.query_params.get(name)
    if name in st.session_state:
        if st.session_state[name] not in options:
            st.session_state[name] = default
    elif raw is not None and raw not in options:
        known = ", ".join(options)
        _complain(f"The link asks for {name} {_plain(raw)}; it can be {known}. You see {default} instead.")


def chosen(name: str, *, default: int | None, last: int, first: int = 0) -> int | None:
    """A number from `first` to `last` that no widget holds: what `choose` kept, else the link's, else `default`.

    Within a run of a fragment it is not read from the link: a click that comes before the browser has the new address
    would undo the last.
    """
    shown = "none" if default is None else default
    _take(
        name,
        lambda raw: int(raw) if _in_range(raw, last, first=first) else None,
        but=f"; they go from {first} to {last}. You see {shown} instead.",
    )
    value: int | None = st.session_state["chosen"].get(name, default)
    return default if value is not None and value > last else value


def chosen_text(name: str, *, pattern: str) -> str:
    """As `chosen`, of a short text that matches the whole `pattern`; "" where nothing was chosen."""
    _take(
        name,
        lambda raw: raw if not raw or re.fullmatch(pattern, raw, re.DOTALL) else None,
        but=", which there is not. You see all instead.",
    )
    value: str = st.session_state["chosen"].get(name, "")
    return value


def chosen_several(
    name: str, *, default: T | None, allowed: Sequence[T], but: str = ", without special tokens"
) -> tuple[T, ...]:
    """As `chosen`, of one or several among `allowed`; in the link they stand with a space or a comma between.

    default: what is chosen at first, None for nothing. but: what a link out of range is told of those left out.
    """

    def read(raw: str) -> tuple[T, ...] | None:
        asked = set(raw.replace(",", " ").split())
        known = bool(asked) and asked <= set(map(str, allowed))
        return tuple(one for one in allowed if str(one) in asked) if known else None

    shown = "none" if default is None else default
    _take(name, read, but=f"; they go from {allowed[0]} to {allowed[-1]}{but}. You see {shown} instead.")
    otherwise: tuple[T, ...] = () if default is None else (default,)
    value: tuple[T, ...] = st.session_state["chosen"].get(name, otherwise)
    return value if set(value) <= set(allowed) else otherwise


def chosen_words(name: str, *, allowed: Sequence[str]) -> tuple[str, ...]:
    """As `chosen`, of words among `allowed`, by default none; in the link they stand with a comma between."""

    def read(raw: str) -> tuple[str, ...] | None:
        words = tuple(filter(None, raw.split(",")))
        return words if set(words) <= set(allowed) else None

    _take(name, read, but=f"; it can be {', '.join(allowed)}. You see all instead.")
    value: tuple[str, ...] = st.session_state["chosen"].get(name, ())
    return value if set(value) <= set(allowed) else ()


def _take(name: str, read: Callable[[str], Value | None], *, but: str) -> None:
    """What the link says of `name`, once: kept where `read` makes something of it, else the reader is told, with `but`.

    Within a run of a fragment nothing is left to take, see `chosen`.
    """
    kept, linked = st.session_state["chosen"], st.session_state["linked"]
    st.session_state["clicked"].discard(name)
    if name not in linked:
        return
    raw = linked.pop(name)
    kept.pop(name, None)
    if raw is None:
        return
    value = read(raw)
    if value is None:
        _complain(f"The link asks for {name} {_plain(raw)}{but}")
    else:
        kept[name] = value


def keep() -> None:
    """Put what was chosen of this page into the link, at once: one step of the browser's Back."""
    chosen: dict[str, Value] = st.session_state["chosen"]
    names = CHOSEN[st.session_state["page"]]
    for name in names:
        if not _written(chosen.get(name, ())):
            _put(name, "", "")
    wanted = {name: _written(chosen[name]) for name in names if _written(chosen.get(name, ()))}
    if any(st.query_params.get(name) != value for name, value in wanted.items()):
        st.query_params.update(wanted)


def kept(name: str, default: int) -> int:
    """What `choose` kept of another page, else `default`."""
    value: int = st.session_state["chosen"].get(name, default)
    return value


def choose(name: str, value: Value | None) -> None:
    """Keep a number for `chosen`, or several, words or a text, for their like; None goes back to the default."""
    st.session_state["linked"].pop(name, None)
    st.session_state["clicked"].add(name)
    if value is None:
        st.session_state["chosen"].pop(name, None)
    else:
        st.session_state["chosen"][name] = value


def _written(value: Value) -> str:
    if isinstance(value, int | str):
        return str(value)
    return (" " if all(isinstance(one, int) for one in value) else ",").join(map(str, value))


def _in_range(raw: str, last: float, *, first: float = 0, whole: bool = True) -> bool:
    number = raw if whole else raw.replace(".", "", 1)
    return number.isdecimal() and first <= float(raw) <= last


def settle(model: str) -> None:
    """The model that the link asked for was loaded after all: nothing is wrong with the link any more."""
    asked = f"The link asks for the model {_plain(model)},"
    st.session_state["problems"][:] = [one for one in st.session_state["problems"] if not one.startswith(asked)]


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
    kept = "".join(character if character.isalnum() or character in "-_@./ " else "?" for character in value[:60])
    return f'"{kept}"'
