"""The choices of sections as controls of the page; what is chosen stands in the link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import streamlit as st

from inspector.sections.picks import (
    Clicked,
    ClickedWords,
    Count,
    Decimal,
    Filter,
    Head,
    Line,
    Listed,
    Named,
    Names,
    Option,
    Pick,
    Several,
    Step,
    Switch,
    Texts,
    Token,
    Words,
)
from inspector.sections.subject import Subject
from inspector.views.components.matrix import Pick as Cell
from inspector.views.shell import by_name, controls, link

_RESET = "sections.reset"  # in the session: the ids of choices that go back to their default


def choose(pick: Pick, subject: Subject) -> Any:
    """Draw a choice, and return what is chosen."""
    if pick.id in (begun := st.session_state.get(_RESET, set())):
        begun.discard(pick.id)
        if isinstance(pick, Option) and not isinstance(pick, Named):
            st.session_state[pick.id] = pick.first(subject)
    match pick:
        case Named():
            options = pick.options(subject)
            st.session_state[pick.id] = link.choice(pick.id, default=pick.first(subject), options=list(options))
            if link.held(pick.id) not in options:  # what is no option any more leaves the link
                link.assign(pick.id, None)
            return st.selectbox(
                pick.label,
                list(options),
                key=pick.id,
                format_func=options.__getitem__,
                on_change=lambda: assign({pick.id: st.session_state[pick.id]} | dict.fromkeys(pick.resets)),
                width=pick.width,
            )
        case Words():
            return st.text_input(
                pick.label,
                key=pick.id,
                placeholder=pick.example,
                max_chars=pick.most,
                on_change=lambda: assign(pick.chooses(subject, st.session_state[pick.id])),
                width=pick.width,
            )
        case Filter():
            return tuple(st.multiselect(pick.label, pick.options(subject), key=pick.id, width=pick.width))
        case Clicked():
            return link.number(pick.id, default=pick.first(subject), first=pick.first_value, last=pick.last(subject))
        case ClickedWords():
            return link.text(pick.id, pattern=pick.pattern)
        case Option():
            with st.container(width="content", gap="xsmall") if pick.named else nullcontext():
                return _one_of(pick, pick.options(subject), default=pick.first(subject))
        case Token():
            return by_name.token(pick.label, pick.options(subject), name=pick.id, default=pick.first(subject))
        case Listed():
            return by_name.one(
                pick.label, pick.options(subject), name=pick.id, default=pick.first(subject), width=pick.width
            )
        case Count() if pick.slider:
            ends, first = (pick.first_value, pick.last(subject)), pick.first(subject)
            bind = link.bind_number(pick.id, default=first, first=ends[0], last=ends[1])
            return st.slider(
                pick.label, *ends, first, pick.step, key=pick.id, bind=bind, width=pick.width, help=pick.help
            )
        case Count() if pick.again:
            number = _number(pick, subject)
            args = (pick, number, pick.last(subject))
            st.button(pick.again, icon=":material/casino:", on_click=_again, args=args, key=f"{pick.id}-again")
            return number
        case Count():
            return _number(pick, subject)
        case Decimal():
            return controls.decimal(
                pick.label, pick.id, default=pick.default, first=pick.first_value, last=pick.last, help=pick.help
            )
        case Switch():
            bind = link.bind_switch(pick.id, default=pick.default)
            return st.toggle(pick.label, pick.default, key=pick.id, bind=bind, help=pick.help)
        case Several():
            return by_name.several(
                pick.label, pick.options(subject), name=pick.id, default=pick.first(subject), most=pick.most
            )
        case Names():
            with st.container():  # as wide as the section, so that chips wrap
                return by_name.names(
                    pick.label, pick.options(subject), name=pick.id, default=pick.first(subject), most=pick.most
                )
        case Head():
            sites = subject.trace.sites_of(subject.stream)
            return by_name.head(sites, default=pick.first(subject), drawn=pick.drawn)
        case Texts():
            return controls.text_with_examples(
                pick.label,
                pick.id,
                examples=pick.examples,
                default=pick.written(subject),
                most=pick.most,
                height=pick.height,
                help=pick.help,
            )
        case Line():
            usual = pick.first(subject)
            bind = link.bind_words(pick.id, default=usual, most=pick.most)
            typed = st.text_input(
                pick.label, usual, max_chars=pick.most, key=pick.id, bind=bind, width=pick.width, help=pick.help
            )
            return typed or usual
        case _:
            raise TypeError(f"{pick} is a choice that is played")


def _number(pick: Count, subject: Subject) -> int:
    return controls.number(
        pick.label,
        pick.id,
        default=pick.first(subject),
        first=pick.first_value,
        last=pick.last(subject),
        step=pick.step,
        width=pick.width,
        help=pick.help,
    )


def _again(pick: Count, number: int, last: int) -> None:
    """Take the next number, in the run that follows."""
    st.session_state[pick.id] = pick.first_value if number == last else number + pick.step


def _one_of(pick: Option, options: Mapping[str, str], *, default: str) -> str:
    """Draw a choice of one of the options as it looks; a single one is chosen without a word."""
    names = list(options)
    if len(names) == 1:
        link.bind_choice(pick.id, default=default, options=names, label=options.__getitem__)
        return default
    if pick.named:
        st.markdown(f":small[{pick.label}]")
    if pick.look == "bar":
        return controls.bar(pick.label, names, pick.id, default=default, words=options.__getitem__)
    bind = link.bind_choice(pick.id, default=default, options=names, label=options.__getitem__)
    if pick.look == "slider":
        return st.select_slider(
            pick.label,
            names,
            default,
            options.__getitem__,
            key=pick.id,
            bind=bind,
            help=pick.help,
            width=pick.width,
        )
    return st.selectbox(
        pick.label,
        names,
        names.index(default),
        options.__getitem__,
        key=pick.id,
        bind=bind,
        help=pick.help,
        width=pick.width,
    )


def assign(chosen: Mapping[str, link.Value | None]) -> None:
    """Choose before the run that follows a click, by the ids of picks; None goes back to the default."""
    for id, value in chosen.items():
        if id == "stream":  # a bar, which a widget holds
            st.session_state[id] = value
            continue
        link.assign(id, value)
        if value is None:
            st.session_state.setdefault(_RESET, set()).add(id)


def clicked_cell(chooses: Callable[[int, int], Mapping[Any, Any]], choosing: int, cell: Cell) -> None:
    """Choose what a click on a map's cell chooses, in the run that follows. choosing: the panels whose cells do."""
    if cell.panel >= choosing:
        return
    for pick, value in chooses(cell.row, cell.column).items():
        match pick:
            case str():
                assign({pick: value})
            case Head():
                layer, head, call = value
                for name, number in (("layer", layer), ("call", call or None), ("head", head)):
                    link.assign(name, number)
            case Listed() | Several() | Step():
                link.assign(pick.id, value)
            case _:
                st.session_state[pick.id] = value


def clicked_point(figure: str, chooses: str | Callable[[int], Mapping[str, link.Value | None]]) -> None:
    """Choose what the point chooses that the reader clicked in a figure: by its y, or by its number."""
    if points := st.session_state[figure]["selection"]["points"]:  # none after a click beside them
        if isinstance(chooses, str):
            st.session_state[chooses] = points[0]["y"]
        else:
            assign(chooses(points[0]["point_index"]))
