"""The switches of the own Transformer for two sides: A is the sidebar's model, B the one beside it.

What is set stands in the ids of the two (see `variants.side_b`), and so in the link, the caches and the Python
lines. Switches that do not fit each other are kept as a wish, with the sentence that says why; meanwhile the last model
that could be built stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from inspector.text import plain
from inspector.views.shell import ahead, available_models, link, loaded_models, problems, variants
from inspector.wording.reader import shell as frame_words
from inspector.wording.reader import switches as words
from models import failures
from models.transformer import switches

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from models.transformer.config import TransformerConfig

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")
STATE: Mapping[Side, str] = {"A": "model", "B": link.BESIDE}  # where the session has the id of a side
FIELD = 86  # pixels of each of a switch's two fields: both stand beside each other in the sidebar
TYPED = {"head_size": ("split", "full"), "mask_fill": ("-inf", "-10000.0", "-100.0", "-10.0", "zero")}
LONGEST = 400  # characters of a sentence about a stranger's values
_WISHES = "switches.wishes"  # in the session: wishes by side
_INSTEAD = "Choose another value; the model that you see is the last one that could be built."


@dataclass(frozen=True)
class _Wish:
    """Switches that do not fit each other, and the sentence why."""

    base: str
    switches: Mapping[str, Any]
    seed: int
    problem: str


def take() -> None:
    """Check the switches that the link asks for, once, at a session's start: what does not fit is said and left out."""
    state = st.session_state
    if _WISHES in state:
        return
    state[_WISHES] = {}
    base = variants.base(state["model"])
    for side in SIDES:
        asked = state[STATE[side]]
        if asked in (None, base):
            continue
        state[STATE[side]] = base if side == "A" else None
        try:
            if variants.base(asked) != base:
                raise ValueError("side B has the weights of side A under other switches, and this is another model")
            ahead.wait()
            with (
                failures.told("Reading the switches", instead="You see the model as it is."),
                st.spinner(frame_words.LOADING),
            ):
                state[STATE[side]] = loaded_models.canonical(asked)
        except ValueError as error:
            model = plain(available_models.name_in_frame(base))
            link.complain(frame_words.cannot_be_built(side=side, problem=plain(_cut(str(error))), model=model))


def draw(*, disabled: bool) -> None:
    """Draw the drawer with every switch, which covers nothing of the page, and what the sides have changed."""
    if disabled:
        return
    panel = st.expander(words.PANEL, icon=":material/tune:", key="switches.open", on_change="rerun")
    beside, base = variants.side_b(), variants.base(st.session_state["model"])
    if beside is not None:
        told = [f"{side}: {words.changes(_changed(side)[0]) or words.AS_IT_IS}" for side in SIDES]
        st.caption("  \n".join(map(plain, told)))
    if panel.open:
        with panel:
            _panel(base)


def _panel(base: str) -> None:
    """Draw the switches of one group, a row each, with a field for either side."""
    ahead.wait()
    try:
        with failures.told("Reading the switches", instead="Choose another model."), st.spinner(frame_words.LOADING):
            config = loaded_models.own_config(base)
    except ValueError as error:
        st.markdown(words.NO_SWITCHES)
        st.text(_cut(str(error)))
        return
    group = st.selectbox(
        words.GROUP_LABEL,
        list(words.GROUPS),
        format_func=words.group,
        key="switches.group",
        label_visibility="collapsed",
        persist_state="session",
    )
    for side in SIDES:
        if (wish := _wish(side)) is not None:
            problems.show(wish.problem, what=words.stays(side=side))
    st.caption(words.SIDES_READ)
    with _row():
        for side in SIDES:
            changed = _changed(side)[0] or _wish(side) is not None
            with st.container(horizontal=True, vertical_alignment="center", gap="small", width=FIELD):
                st.markdown(f"**{side}**", width="content")
                st.button(
                    words.RESET,
                    key=f"switches.reset.{side}",
                    type="tertiary",
                    on_click=_take,
                    args=(side, base, {}, 0),
                    disabled=not changed,
                    help=words.reset_help(side=side),
                )
    for field, switch in words.GROUPS[group].items():
        _switch(field, switch, config)
    if group == "Size":
        _named(words.SEED, changed=False, usual="0")
        with _row():
            for side in SIDES:
                key = _key(side, "seed")
                st.session_state[key] = _changed(side)[1]
                st.number_input(
                    words.seed_of(side=side),
                    0,
                    10**9 - 1,
                    key=key,
                    on_change=_draw_anew,
                    args=(side,),
                    width=FIELD,
                    label_visibility="collapsed",
                )
    st.caption(words.NOT_SWITCHED)


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall")


def _named(switch: words.Switch, *, changed: bool, usual: str) -> None:
    """Name a switch, bold where it is changed, with what it does and its value in the model as it is."""
    name = plain(switch.name)
    st.markdown(words.changed_name(name=name, usual=plain(usual)) if changed else name, help=plain(switch.does))


def _switch(field: str, switch: words.Switch, config: TransformerConfig) -> None:
    """Draw a switch's row."""
    usual = getattr(config, field)
    _named(switch, changed=any(field in _changed(side)[0] for side in SIDES), usual=words.value(field, usual))
    with _row():
        for side in SIDES:
            _field(side, field, _changed(side)[0].get(field, usual))


def _field(side: Side, field: str, value: Any) -> None:
    """Draw one side's field of a switch, as its kind of value asks."""
    kinds, key, state = switches.KINDS[field], _key(side, field), st.session_state
    label = words.field_of(name=words.WORDS[field].name, side=side)
    if field in TYPED:
        state[key] = str(value)
        st.selectbox(
            label,
            dict.fromkeys((*TYPED[field], state[key])),
            format_func=lambda option: words.value(field, _read(field, option)),
            key=key,
            on_change=_change,
            args=(side, field),
            accept_new_options=True,
            width=FIELD,
            label_visibility="collapsed",
        )
    elif int in kinds:
        state[key] = value
        st.number_input(
            label,
            1,
            10**9 - 1,
            key=key,
            on_change=_change,
            args=(side, field),
            placeholder=words.value(field, None),
            width=FIELD,
            label_visibility="collapsed",
        )
    elif float in kinds:
        state[key] = value if isinstance(value, str) else f"{value:g}"
        st.text_input(
            label,
            max_chars=20,
            key=key,
            on_change=_change,
            args=(side, field),
            width=FIELD,
            label_visibility="collapsed",
        )
    else:
        options = [*((False, True) if bool in kinds else ()), *(kind for kind in kinds if isinstance(kind, str))]
        state[key] = value
        st.selectbox(
            label,
            [None, *options] if (empty := NoneType in kinds) else options,
            format_func=lambda option: words.value(field, option),
            key=key,
            on_change=_change,
            args=(side, field),
            placeholder=words.value(field, None) if empty else None,
            width=FIELD,
            label_visibility="collapsed",
        )


def _key(side: Side, field: str) -> str:
    return f"switches.{side}.{field}"


def _read(field: str, text: str) -> Any:
    """Read what a reader typed; what is no value stays a text, which the configuration refuses with a sentence."""
    try:
        return switches.read(field, text)
    except ValueError:
        return text


def _cut(sentence: str) -> str:
    """Cut a sentence, and leave its full stop to what follows."""
    return (sentence if len(sentence) <= LONGEST else f"{sentence[:LONGEST]} ...").removesuffix(".")


# --- what is set -----------------------------------------------------------------------------------------------------


def _id(side: Side) -> str:
    """Return the id of a side's model."""
    model: str = st.session_state["model"]
    return model if side == "A" else variants.side_b() or model


def _wish(side: Side) -> _Wish | None:
    """Return the switches of a side that do not fit, of the model that is chosen now."""
    wish: _Wish | None = st.session_state[_WISHES].get(side)
    return wish if wish is not None and wish.base == variants.base(st.session_state["model"]) else None


def _changed(side: Side) -> tuple[Mapping[str, Any], int]:
    """Return the changed switches of a side and its seed, as they are or as they are wished."""
    if (wish := _wish(side)) is not None:
        return wish.switches, wish.seed
    id = _id(side)
    return variants.changes(id), variants.seed(id)


def _change(side: Side, field: str) -> None:
    """Take a switch as the reader set it."""
    value, kinds = st.session_state[_key(side, field)], switches.KINDS[field]
    value = _read(field, value.strip().lower()) if field in TYPED or float in kinds else value
    changed, seed = _changed(side)
    _take(side, variants.base(_id(side)), {**changed, field: value}, seed)


def _draw_anew(side: Side) -> None:
    """Take another seed."""
    _take(side, variants.base(_id(side)), _changed(side)[0], st.session_state[_key(side, "seed")])


def _take(side: Side, base: str, changed: Mapping[str, Any], seed: int) -> None:
    """Put a side under switches, or keep them as a wish where they do not fit."""
    state = st.session_state
    try:
        with failures.told("Changing the switches", instead=_INSTEAD):
            id = loaded_models.canonical(switches.id_of(base, changed, seed=seed))
    except ValueError as error:
        state[_WISHES][side] = _Wish(base, changed, seed, _cut(str(error)))
        return
    state[_WISHES].pop(side, None)
    old, other = _id(side), _id("B" if side == "A" else "A")
    state[STATE[side]] = id
    if old != other:  # else it is the other side that a page keeps
        link.follow(old, id)
