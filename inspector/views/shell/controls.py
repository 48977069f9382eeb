"""Controls that several pages use; the link keeps what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from inspector.text import plain
from inspector.views.shell import link
from inspector.wording import maps as wording
from models.formatting import layers_in_words

if TYPE_CHECKING:
    from inspector.plots.theme import Scale
    from inspector.trace import AttentionSite, MixerSite

Option = TypeVar("Option", bound=str)
Site = TypeVar("Site", bound="AttentionSite | MixerSite")
WRAPPED = 60  # chips that stand in as many rows as they need; more of them in a row that scrolls


def number(
    label: str,
    name: str,
    *,
    default: int,
    last: int,
    first: int = 0,
    step: int = 1,
    width: int = 140,
    help: str | None = None,
) -> int:
    """A number from `first` to `last`, kept in the link as `name`; a link out of range is said, and `default` shown."""
    bind = link.bind_number(name, default=default, last=last, first=first)
    return st.number_input(label, first, max(last, first), default, step, key=name, bind=bind, width=width, help=help)


def listed(label: str, name: str, options: range, *, default: int, width: int = 110) -> int:
    """Choose a number in a list, where it takes no typing; the link keeps it like that of `number`."""
    bind = link.bind_number(name, default=default, last=options[-1], first=options[0])
    return st.selectbox(label, options, index=options.index(default), key=name, bind=bind, width=width)


def layer(
    sites: Sequence[Site],
    name: str,
    *,
    call: str,
    default: Site,
    width: int = 110,
    said: Callable[[Sequence[int]], str] = layers_in_words,
) -> Site:
    """A choice of one of a stream's attentions, or of another kind of mixers, by the model's layer.

    name, call: where the link keeps the layer, and which of the layer's attentions where it has several. A link that
    asks for a layer without attention is told which layers attend, and `default` shown; said: tells it.
    """
    attend = sorted({site.layer for site in sites})
    if attend == list(range(len(attend))):
        chosen = listed("Layer", name, range(len(attend)), default=default.layer, width=width)
    else:
        bind = link.bind_layer(name, default=default.layer, attend=attend, said=said)
        chosen = st.selectbox("Layer", attend, index=attend.index(default.layer), key=name, bind=bind, width=width)
    calls = [site for site in sites if site.layer == chosen]
    if len(calls) == 1:
        return calls[0]
    first = default.call if default.layer == chosen else 0
    return calls[number("Which attention of the layer", call, default=first, last=len(calls) - 1, width=width)]


def decimal(
    label: str, name: str, *, default: float, first: float, last: float, width: int = 140, help: str | None = None
) -> float:
    """The same for a number with decimals, in steps of 0.05."""
    bind = link.bind_number(name, default=default, last=last, first=first)
    return st.number_input(label, first, last, default, 0.05, key=name, bind=bind, width=width, help=help)


def stream(streams: Iterable[str], *, key: str = "stream") -> str:
    """The stream to look at, of those that something has; a choice where there is more than one."""
    streams = list(dict.fromkeys(streams))
    if len(streams) == 1:
        link.bind_choice(key, default=streams[0], options=streams)
        return streams[0]
    return bar("Stream", streams, key)


def bar(
    label: str,
    options: Sequence[Option],
    name: str,
    *,
    default: Option | None = None,
    words: Callable[[Option], str] = str,
    on_change: Callable[[], None] | None = None,
) -> Option:
    """Draw a bar of options of which one is chosen, the first where no default is given; the link keeps it as `name`.

    label: for those who hear the page. words: an option as the page and the link name it.
    """
    chosen = options[0] if default is None else default
    return st.segmented_control(
        label,
        options,
        default=chosen,
        format_func=words,
        key=name,
        bind=link.bind_choice(name, default=chosen, options=options, label=words),
        required=True,
        label_visibility="collapsed",
        on_change=on_change,
        wrap=True,
    )


def colour_scale(*, long: bool) -> Scale:
    """Let the reader choose linear or square-root colour: long texts, whose weights are small, start with the root."""
    if long:
        linear = st.toggle(
            "Linear colour",
            key="linear",
            bind=link.bind_switch("linear"),
            help=wording.LINEAR_HELP,
        )
        return "linear" if linear else "sqrt"
    root = st.toggle(
        "Square-root colour",
        key="sqrt",
        bind=link.bind_switch("sqrt"),
        help=wording.ROOT_HELP,
    )
    return "sqrt" if root else "linear"


def text_with_examples(
    label: str,
    name: str,
    *,
    examples: Mapping[str, str],
    default: str,
    most: int,
    height: int,
    help: str | None = None,
) -> str:
    """Draw a field for a text of up to `most` characters, and its examples as buttons; the link keeps it as `name`."""

    def take(text: str) -> None:
        st.session_state[name] = text

    typed = st.text_area(
        label,
        default,
        max_chars=most,
        key=name,
        bind=link.bind_words(name, default=default, most=most),
        persist_state="session",
        help=help,
        height=height,
    )
    with st.container(horizontal=True, gap="small"):
        for example, text in examples.items():
            st.button(example, key=f"{name}-{example}", on_click=take, args=(text,), type="tertiary")
    return typed or ""


def token_chips(
    tokens: Mapping[int, str], *, key: str, on_change: Callable[[], None], label: str = "Tokens"
) -> list[int]:
    """A row of tokens by position to click or to reach with Tab, any number of them chosen; their positions.

    The marks of word pieces are dimmed, and a small number, the position, tells tokens that repeat apart.
    """

    def name(position: int) -> str:
        shortened = cut(token_name(tokens[position]))
        mark = next((mark for mark in ("##", "␣") if shortened.startswith(mark) and shortened != mark), "")
        dimmed = f":gray[{plain(mark)}]" if mark else ""
        return f"{dimmed}{plain(shortened.removeprefix(mark))} :gray[:small[{position}]]"

    from inspector.text import cut, token_name

    chosen: list[int] = st.pills(
        label,
        list(tokens),
        format_func=name,
        selection_mode="multi",
        key=key,
        on_change=on_change,
        wrap=len(tokens) <= WRAPPED,
    )
    return chosen
