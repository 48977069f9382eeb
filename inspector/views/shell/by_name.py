"""Things chosen by name and kept in the link by number: a token, a norm, a few dimensions.

The page declares the number with `link.parameters`, and calls `link.publish` behind its choices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import controls, link, open_site, site_words

if TYPE_CHECKING:
    from inspector.trace import AttentionSite


def token(label: str, tokens: Sequence[str], *, name: str, default: int) -> int:
    """Choose a token of the text among chips, of a long text in a list; the link keeps its position as `name`."""
    if len(tokens) > controls.WRAPPED:
        from inspector.text import cut, token_name

        named = [f"{place} {cut(token_name(text))}" for place, text in enumerate(tokens)]
        return one(label, named, name=name, default=default)
    chosen, key = _chosen(len(tokens), name=name, default=default), f"chips {name}"
    st.session_state[key] = [chosen]
    controls.token_chips(dict(enumerate(tokens)), key=key, on_change=partial(_click, key, name, chosen), label=label)
    return chosen


def one(label: str, names: Sequence[str], *, name: str, default: int, width: int = 320) -> int:
    """Choose one of `names` in a list that can be searched; the link keeps its number as `name`."""
    chosen, key = _chosen(len(names), name=name, default=default), f"list {name}"
    st.session_state[key] = chosen
    st.selectbox(
        label,
        range(len(names)),
        format_func=names.__getitem__,
        key=key,
        on_change=lambda: link.assign(name, st.session_state[key]),
        width=width,
    )
    return chosen


def head(sites: Sequence[AttentionSite], *, default: tuple[int, int, int], drawn: bool) -> tuple[int, int, int]:
    """Choose layer and head of a stream's attentions; the link keeps them as `layer`, `call` and `head`.

    default: layer, head and call. drawn: False to read what is open, without a choice.
    """
    row = open_site.row(sites, default=default[0])
    last = sites[row].heads - 1
    chosen = link.number("head", default=min(default[1], last), last=last) or 0
    if drawn:
        state, names = st.session_state, [name.capitalize() for name in site_words.layer_names(sites)]
        state["list layer"], state["list head"] = row, chosen
        with st.container(horizontal=True, gap="small", width="content"):
            st.selectbox(
                "Layer",
                range(len(sites)),
                format_func=names.__getitem__,
                key="list layer",
                label_visibility="collapsed",
                on_change=lambda: open_site.choose(sites[state["list layer"]]),
                width=150,
            )
            st.selectbox(
                "Head",
                range(last + 1),
                format_func="Head {}".format,
                key="list head",
                label_visibility="collapsed",
                on_change=lambda: link.assign("head", state["list head"]),
                width=130,
            )
    return sites[row].layer, chosen, sites[row].call


def several(label: str, options: range, *, name: str, default: Sequence[int], most: int) -> tuple[int, ...]:
    """Choose one to `most` of many numbers, each a chip that a click takes away; the link keeps them as `name`.

    label: of the kind of thing in the singular. default: chosen at first, and offered again when they are taken away.
    """
    chosen = link.several(name, default=default, allowed=options, most=most, but=f", at most {most} of them")
    offered, key, adding = sorted({*default, *chosen}), f"chips {name}", f"add {name}"
    st.session_state[key] = list(chosen)

    def keep() -> None:
        added = st.session_state[adding]
        st.session_state[adding] = None
        now = {*st.session_state[key], *(() if added is None else (added,))}
        if 0 < len(now) <= most:
            link.assign(name, tuple(sorted(now)))

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.pills(f"{label}s", offered, selection_mode="multi", key=key, on_change=keep, label_visibility="collapsed")
        st.selectbox(
            f"Add a {label.lower()}",
            [one for one in options if one not in offered],
            index=None,
            placeholder=f"Add a {label.lower()}",
            key=adding,
            on_change=keep,
            disabled=len(chosen) == most,
            label_visibility="collapsed",
            width=190,
        )
    return chosen


def names(label: str, options: Mapping[str, str], *, name: str, default: Sequence[str], most: int) -> tuple[str, ...]:
    """Choose one to `most` of several names, each a chip; the link keeps their ids as `name`. options: id -> words."""
    chosen, key = link.words(name, allowed=list(options)) or tuple(default), f"chips {name}"
    st.session_state[key] = list(chosen)

    def keep() -> None:
        if len(st.session_state[key]) <= most:  # a chip too many is not taken
            link.assign(name, tuple(st.session_state[key]))

    st.pills(label, list(options), selection_mode="multi", format_func=options.__getitem__, key=key, on_change=keep)
    return chosen


def _chosen(count: int, *, name: str, default: int) -> int:
    default = min(default, count - 1)
    if link.remembered(name, default) >= count:  # of a longer text or a deeper model, and no fault of the link
        link.assign(name, None)
    chosen = link.number(name, default=default, last=count - 1)
    return default if chosen is None else chosen


def _click(key: str, name: str, before: int) -> None:
    """Choose the chip that was clicked; a click on the chosen one leaves it."""
    now = [place for place in st.session_state[key] if place != before]
    link.assign(name, now[-1] if now else before)
