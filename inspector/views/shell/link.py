"""Every view is a link: the query parameters restore it. What a link says is checked, and never loaded blindly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from models.formatting import layers_in_words

T = TypeVar("T", int, str)
Option = TypeVar("Option", bound=str)
Bind = Literal["query-params"] | None

TEXTS = ("text", "pair", "target", "a_text", "b_text", "c_text", "d_text")  # of the sidebar and of Compare's panels
Value = int | str | tuple[int, ...] | tuple[str, ...]
CHOSEN = {  # by a page's path (the first page has none): what no widget holds
    # The open head, its pinned queries, a key to explain, what is drawn, the order and choice of heads.
    "": ("layer", "call", "head", "query", "key", "lines", "between", "tokens", "sort", "only"),
    "compare": ("panels",),  # how many there are
    "generate": ("step",),  # of the text being written
    # The masked tokens, one or several; the swapped word; the token that is predicted; what is dropped; the open head.
    "what_if": ("token", "word", "ask", "drop", "mask_layer", "mask_call", "mask_head"),
    "training": ("replay_layer", "replay_head"),  # the open head of the replay
}
MAX_NAME = 300  # characters of the name of another model
_DIGITS = 20  # of a number in a link, at most: Python reads no whole number of thousands of digits
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
        state["linked"] = {name: _asked(name) for names in CHOSEN.values() for name in names}
    elif state["page"] == page:
        # What a click just chose leads: it came before the run, and the address is still the old one.
        names = set(CHOSEN.get(page, ())) - state["clicked"]
        state["linked"] |= {name: _asked(name) for name in names}
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


# --- widgets that stand in the link: st.toggle("Hide", key="hide", bind=link.switch("hide")) --------------------------


def number(name: str, *, default: float, last: float, first: float = 0) -> Bind:
    """Bind a widget's number from `first` to `last`; whole, or any where `default` is a float.

    A value that the session still holds from a longer text or a larger model goes back to `default` without a word.
    """
    _heal(name, lambda value: first <= value <= last, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and _in_range(asked[0], last, first=first, whole=isinstance(default, int)),
        but=f"they go from {first} to {last}. You see {default} instead.",
    )


def choice(name: str, *, default: Option, options: Sequence[Option], label: Callable[[Option], str] = str) -> Bind:
    """Bind a widget's choice of one of the options, which `label` names in the link as on the page.

    A value that the session still holds from another choice of options goes back to `default` without a word.
    """
    labels = [label(option) for option in options]
    _heal(name, options.__contains__, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0] in labels,
        but=f"it can be {', '.join(map(_safe, labels))}. You see {_safe(label(default))} instead.",
    )


def several(name: str, *, options: range, default: Sequence[int] = (), most: int | None = None) -> Bind:
    """Bind a widget's choice of several numbers, `most` at most; those that the session holds and are gone leave it."""
    state, shown = st.session_state, ", ".join(map(str, default)) or "none"
    if any(value not in options for value in state.get(name, ())):
        state[name] = [value for value in state[name] if value in options] or list(default)
    labels, limit = set(map(str, options)), len(options) if most is None else most
    return _bind(
        name,
        lambda asked: set(asked) <= labels and len(set(asked)) == len(asked) <= limit,
        but=f"they go from {options[0]} to {options[-1]}, at most {limit} of them. You see {shown} instead.",
    )


def layer(name: str, *, default: int, attend: Sequence[int]) -> Bind:
    """Bind a widget's choice of one of the layers that attend, in a model in which not all do."""
    _heal(name, attend.__contains__, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0] in map(str, attend),
        but=f"{layers_in_words(attend)}. You see {default} instead.",
    )


def switch(name: str, *, default: bool = False) -> Bind:
    """Bind a toggle."""
    _heal(name, lambda value: isinstance(value, bool), default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0].lower() in ("true", "false"),
        but=f"it can be true or false. You see {str(default).lower()} instead.",
    )


def words(name: str, *, default: str, most: int) -> Bind:
    """Bind a line of text of `most` characters at most."""
    return _bind(
        name,
        lambda asked: len(asked) == 1 and len(asked[0]) <= most,
        but=f"it has at most {most} characters. You see {_safe(default)} instead.",
    )


def _heal(name: str, fits: Callable[[Any], bool], *, default: object) -> None:
    state = st.session_state
    if name in state and (state[name] is None or not fits(state[name])):
        state[name] = default


def _bind(name: str, fits: Callable[[list[str]], bool], *, but: str) -> Bind:
    """Bind a widget to the query parameter `name`, unless the link asks for what does not fit: then say so, with `but`.

    Streamlit itself would take some of that (an empty choice is None, 1e309 overflows), so it never sees it: the
    parameter leaves the address, and the widget is bound from its next run on.
    """
    asked = st.query_params.get_all(name)
    if name in st.session_state or not asked or fits(asked):
        return "query-params"
    _complain(f"The link asks for {name} {' and '.join(map(_plain, asked[:3]))}; {but}")
    del st.query_params[name]
    st.session_state["unbound"] = True
    return None


# --- what no widget holds ---------------------------------------------------------------------------------------------


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


def chosen_layer(name: str, *, default: int, attend: Sequence[int]) -> int:
    """As `chosen`, of the model's layers that attend; a link that asks for another is told which they are."""
    if list(attend) == list(range(len(attend))):
        asked = chosen(name, default=default, last=attend[-1])
    else:
        _take(
            name,
            lambda raw: int(raw) if raw in map(str, attend) else None,
            but=f"; {layers_in_words(attend)}. You see {default} instead.",
        )
        asked = st.session_state["chosen"].get(name, default)
    return default if asked is None or asked not in attend else asked


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
    """Put what was chosen of this page into the link, at once: one step of the browser's Back.

    A click may arrive after its page was left: then the address is another page's, and nothing of it is put there.
    """
    chosen: dict[str, Value] = st.session_state["chosen"]
    names = CHOSEN.get(st.session_state["page"], ())
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
    digits = raw if whole else raw.replace(".", "", 1)
    return len(raw) <= _DIGITS and digits.isdecimal() and first <= float(raw) <= last


def settle(model: str) -> None:
    """The model that the link asked for was loaded after all: nothing is wrong with the link any more."""
    asked = f"The link asks for the model {_plain(model)},"
    st.session_state["problems"][:] = [one for one in st.session_state["problems"] if not one.startswith(asked)]


def show_problems() -> None:
    """What was wrong with the link, in sentences, until the reader dismisses it.

    Where a widget could not be bound the page is run once more, so that the reader's first click is in the address.
    """
    if st.session_state.pop("unbound", False):
        st.rerun()
    problems: list[str] = st.session_state["problems"]
    for problem in problems:
        st.warning(problem, icon=":material/link_off:")
    if problems:
        st.button("Dismiss", on_click=problems.clear, key="dismiss")


def _complain(sentence: str) -> None:
    if sentence not in st.session_state["problems"]:
        st.session_state["problems"].append(sentence)


def _asked(name: str) -> str | None:
    """What the link says of `name`; said several times, all of it, which only what takes several can read."""
    return ",".join(st.query_params.get_all(name)) if name in st.query_params else None


def _put(name: str, value: str, default: str) -> None:
    if value != default:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def _plain(value: str) -> str:
    """Quoted for a sentence that is shown as markdown: only letters, digits and a few marks, at most 60."""
    return f'"{_safe(value[:60])}"'


def _safe(value: str) -> str:
    """`value` where markdown is read: what is no letter, digit or harmless mark is a question mark."""
    return "".join(character if character.isalnum() or character in "-_@./(), " else "?" for character in value)
