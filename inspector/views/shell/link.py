"""Every view is a link: the query parameters restore it. What a link says is checked, and never loaded blindly.

A widget stands in the link by itself:

    st.toggle("Hide", key="hide", bind=link.bind_switch("hide"))

What no widget holds is declared by the page at its top, read, set by a click, and published in the address:

    link.parameters("layer", "head")
    layer = link.number("layer", default=3, last=5)
    link.assign("layer", 4)
    link.publish()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from inspector.views.server import gate
from inspector.views.shell import model_shelf, pages
from inspector.wording.reader import pages as page_words
from inspector.wording.reader import shell as wording
from models.formatting import layers_in_words

T = TypeVar("T", int, str)
Option = TypeVar("Option", bound=str)
Bind = Literal["query-params"] | None

TEXTS = ("text", "pair", "target", "a_text", "b_text", "c_text", "d_text")  # of the sidebar and of Compare's panels
_OF_SIDEBAR = ("model", *TEXTS[:3])
LANGUAGE = "lang"  # the parameter that names the reader's language; see languages.py
BESIDE = "side_b"  # in the session: the id of the model beside the sidebar's, or None
Value = int | str | tuple[int, ...] | tuple[str, ...]
MAX_NAME = 300  # characters of the name of another model
_DIGITS = 20  # of a number in a link, at most: Python reads no whole number of thousands of digits
MAX_TEXT = 1_000  # characters; a link is a header of a request, and servers refuse long ones


def read(page: str, *, known_models: Sequence[str], default_model: str, default_text: Callable[[str], str]) -> None:
    """Take model, texts and parameters from the link at a session's start; afterwards the widgets lead.

    default_model: what a link without a model means. default_text: of a model's id, the text that a link without a
    text means. Of a known model under changed switches,
    "minilm?scale=none", the switches are not checked here.

    A page's `parameters` are taken again on every whole run of the page that keeps them in its address, which is how
    the browser's Back reaches them. Other pages' addresses do not hold them, so there they stay as they are.
    """
    state = st.session_state
    if "link.problems" not in state:
        state["link.problems"], state["link.held"], state["link.clicked"] = [], {}, set()
        if gate.UNKNOWN in st.query_params:
            complain(page_words.NO_SUCH_PAGE)
            del st.query_params[gate.UNKNOWN]
        model = st.query_params.get("model", default_model)
        if model not in known_models and model.partition("?")[0] not in known_models:
            complain(sentence := wording.asks_for_model(model=_plain(model), instead=default_model))
            state["link.unlisted"] = model, sentence
            state["picker.other"], state["picker.open"] = model.partition("?")[0][:MAX_NAME], True
            model = default_model
        state["model"], state[BESIDE] = model, st.query_params.get("b")
        for name in TEXTS:
            state[name] = st.query_params.get(name, default_text(model) if name == "text" else "")
        state["link.asked"] = {name: _asked(name) for name in st.query_params}
    _arrive(page, known_models)
    state["link.same_page"] = state.get("link.page") == page
    state["link.page"], state["link.parameters"] = page, ()


def parameters(*names: str) -> None:
    """Declare what no widget of the page holds, at the page's top: the names that `publish` puts into its address."""
    state = st.session_state
    state["link.parameters"], state["link.followed"] = names, False
    if state["link.same_page"]:
        # What a click just set leads: it came before the run, and the address is still the old one.
        state["link.asked"] |= {name: _asked(name) for name in names if name not in state["link.clicked"]}
        return
    if (led := state.pop("link.led", None)) is not None:
        state["link.followed"] = True
        state["link.asked"] |= {name: led.get(name) for name in names}
    else:  # a link to the page, or the browser's Back
        found = [name for name in names if name in st.query_params and name not in state["link.clicked"]]
        state["link.asked"] |= {name: _asked(name) for name in found}


def lead(page: str, given: Mapping[str, str]) -> None:
    """Make a link to another page lead: that page follows it, and nothing that the session holds of it from before.

    Called where the link is drawn. page: its address. given: the names and values of the link; what is not among them
    goes back to its default. A model and texts among them are the sidebar's, and when the reader comes back to this
    page they have their own again, unless they chose others meanwhile.
    """
    leads: list[tuple[str, dict[str, str]]] = st.session_state.setdefault("link.leads", [])
    leads.append((page, dict(given)))


def to(page: str, given: Mapping[str, str], *, label: str, icon: str | None = ":material/open_in_new:") -> None:
    """Draw a link that leads to another page (`lead`).

    link.to("scores", {"section": "Theory"}, label="See it on Scores")
    """
    lead(page, given)
    st.page_link(pages.FILES[page], label=label, icon=icon, query_params=of_sidebar() | dict(given))


def followed() -> bool:
    """Return True on the run in which a link of another page led here: what it names is meant for its own text."""
    came: bool = st.session_state["link.followed"]
    return came


def of_sidebar() -> dict[str, str]:
    """Give what the address says of model, texts and language, for a link to another page, perhaps in a new tab."""
    names = (*_OF_SIDEBAR, LANGUAGE)
    return {name: value for name in names if (value := st.query_params.get(name)) is not None}


def _arrive(page: str, known_models: Sequence[str]) -> None:
    """Follow a link that leads here, and give back what a link from here has lent."""
    state = st.session_state
    origin, leads = state.get("link.page"), state.pop("link.leads", [])
    lent_by, lent = state.get("link.lent", (None, {}))
    if lent_by == page:
        for name, (before, lent_value) in lent.items():
            if state.get(name) == lent_value:
                state[name] = before
        del state["link.lent"]
    state.pop("link.led", None)
    followed = [given for led_to, given in leads if led_to == page != origin and given and _is_address(given)]
    if not followed:
        return
    given = state["link.led"] = followed[0]
    bound: dict[str, set[str]] = state.get("link.bound", {})
    for name in (bound.get(page, set()) | set(given)) - set(_OF_SIDEBAR):
        if name in state:
            del state[name]
    if page == "compare":
        state.update({name: given.get(name, "") for name in TEXTS if name not in _OF_SIDEBAR})
    model = given.get("model", "")
    if model and model not in known_models and model.partition("?")[0] not in known_models:
        return
    sidebar = {name: given[name] for name in _OF_SIDEBAR if name in given}
    state["link.lent"] = origin, {name: (state.get(name), value) for name, value in sidebar.items()}
    for name, value in sidebar.items():
        state[name] = value


def _is_address(given: Mapping[str, str]) -> bool:
    """Return True if the address says what the link gave, and nothing else of the page: Back leads to others."""
    anywhere = {*_OF_SIDEBAR, LANGUAGE}
    same = all(st.query_params.get(name) == value for name, value in given.items())
    return same and set(st.query_params) - anywhere == set(given) - anywhere


def write(*, default_model: str, beside: str, default_text: str, language: str | None) -> None:
    """Put model, the model beside it ("" for none) and texts into the link where they differ from the page's start.

    language: the one that was chosen, None where none was. A page that is opened takes it into its address; where the
    browser's Back leads to an address without a language, that address stays.
    """
    here = TEXTS if st.session_state["link.page"] == "compare" else _OF_SIDEBAR[1:]  # panels' texts are for Compare
    texts = {name: str(st.session_state.get(name, "")) for name in here}
    length = sum(len(text) for text in texts.values())
    ids = {"model": st.session_state["model"], "b": beside}
    shown = {**{name: model_shelf.in_link(id) for name, id in ids.items()}, **(texts if length <= MAX_TEXT else {})}
    defaults = {"model": default_model, "text": default_text}
    # A link may say what it need not: it stays as it is, for another address would be a step of the browser's Back.
    there = {name for name, value in shown.items() if st.query_params.get(name) == value}
    told = {name: value for name, value in shown.items() if value != defaults.get(name, "") or name in there}
    page = st.session_state["link.page"]
    if language is not None and st.session_state.get("link.in_language") != page:  # a first run may have been cut short
        told[LANGUAGE] = language
    st.session_state["link.in_language"] = page
    _put(dict.fromkeys(("model", "b", *TEXTS)) | told)
    if length > MAX_TEXT:
        st.sidebar.caption(wording.too_long_for_link(characters=length, most=MAX_TEXT))


# --- widgets that stand in the link ----------------------------------------------------------------------------------


def bind_number(name: str, *, default: float, last: float, first: float = 0) -> Bind:
    """Bind a widget's number from `first` to `last`; whole, or any where `default` is a float.

    A value that the session still holds from a longer text or a larger model goes back to `default` without a word.
    """
    _heal(name, lambda value: isinstance(value, int | float) and first <= value <= last, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and _in_range(asked[0], last, first=first, whole=isinstance(default, int)),
        but=wording.out_of_range(first=first, last=last, but="", shown=default),
    )


def bind_choice(name: str, *, default: Option, options: Sequence[Option], label: Callable[[Option], str] = str) -> Bind:
    """Bind a widget's choice of one of the options, which `label` names in the link as on the page.

    A value that the session still holds from another choice of options goes back to `default` without a word.
    """
    labels = [label(option) for option in options]
    st.session_state.setdefault("link.labels", {})[name] = dict(zip(options, labels, strict=True))
    asked = st.query_params.get(name)
    if name not in st.session_state and asked in options and asked not in labels:
        # By its own name, as code leads here; a link of the page itself names it as the page does.
        st.session_state[name] = asked
        del st.query_params[name]
    _heal(name, options.__contains__, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0] in labels,
        but=wording.one_of(options=[_safe(label) for label in labels], shown=_safe(label(default))),
    )


def opens(name: str, label: str) -> None:
    """Keep for `open_choice` what a choice that no widget binds shows, as a link names it."""
    st.session_state.setdefault("link.labels", {})[name] = label


def open_choice(name: str) -> str | None:
    """Return what is chosen in a choice that `bind_choice` bound or `opens` told; None where there was none."""
    if isinstance(shown := st.session_state.get("link.labels", {}).get(name), str):
        return shown
    value = st.session_state.get(name)
    label: str | None = st.session_state.get("link.labels", {}).get(name, {}).get(value)
    return label


def bind_several(name: str, *, options: range, default: Sequence[int] = ()) -> Bind:
    """Bind a widget's choice of several numbers; a number that is no option any more leaves it."""
    state, shown = st.session_state, ", ".join(map(str, default)) or wording.NONE
    if any(value not in options for value in state.get(name, ())):
        state[name] = [value for value in state[name] if value in options] or list(default)
    labels = set(map(str, options))
    return _bind(
        name,
        lambda asked: labels.issuperset(asked) and len(set(asked)) == len(asked),
        but=wording.out_of_range(first=options[0], last=options[-1], but="", shown=shown),
    )


def bind_layer(
    name: str, *, default: int, attend: Sequence[int], said: Callable[[Sequence[int]], str] = layers_in_words
) -> Bind:
    """Bind a widget's choice of one of the layers that attend, in a model in which not all do; said: see `layer`."""
    _heal(name, attend.__contains__, default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0] in map(str, attend),
        but=wording.other_layers(layers=attend, said=said, shown=default),
    )


def bind_switch(name: str, *, default: bool = False) -> Bind:
    """Bind a toggle."""
    _heal(name, lambda value: isinstance(value, bool), default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and asked[0].lower() in ("true", "false"),
        but=wording.true_or_false(shown=str(default).lower()),
    )


def bind_words(name: str, *, default: str, most: int) -> Bind:
    """Bind a line of text of `most` characters at most."""
    _heal(name, lambda value: isinstance(value, str), default=default)
    return _bind(
        name,
        lambda asked: len(asked) == 1 and len(asked[0]) <= most,
        but=wording.at_most(characters=most, shown=_safe(default)),
    )


def _heal(name: str, fits: Callable[[Any], bool], *, default: object) -> None:
    state = st.session_state
    if name in state and (state[name] is None or not fits(state[name])):
        state[name] = default


def _bind(name: str, fits: Callable[[list[str]], bool], *, but: str) -> Bind:
    """Bind a widget to the query parameter `name`, unless the link asks for what does not fit: then say so, with `but`.

    Streamlit itself would take some of these values (an empty choice is None, 1e309 overflows), so it never sees them:
    the parameter leaves the address, and the widget is bound from its next run on.
    """
    asked = st.query_params.get_all(name)
    st.session_state.setdefault("link.bound", {}).setdefault(st.session_state.get("link.page"), set()).add(name)
    if name in st.session_state or not asked or fits(asked):
        return "query-params"
    refuse(name, *asked[:3], but=but)
    del st.query_params[name]
    st.session_state["link.unbound"] = True
    return None


# --- what no widget holds ---------------------------------------------------------------------------------------------


def number(name: str, *, default: int | None, last: int, first: int = 0) -> int | None:
    """Return a number from `first` to `last`: what was assigned, else what the link asks for, else `default`.

    A run of a fragment does not read the link: a click that comes before the browser has the new address would undo
    the last click.
    """
    shown = wording.NONE if default is None else default
    _consume(
        name,
        lambda raw: int(raw) if _in_range(raw, last, first=first) else None,
        but=wording.out_of_range(first=first, last=last, but="", shown=shown),
    )
    value: int | None = st.session_state["link.held"].get(name, default)
    return default if value is not None and value > last else value


def layer(
    name: str, *, default: int, attend: Sequence[int], said: Callable[[Sequence[int]], str] = layers_in_words
) -> int:
    """Return one of the model's layers that attend, like `number`; a link to another layer is told which attend.

    said: says it, where layers do something else than attend.
    """
    if list(attend) == list(range(len(attend))):
        asked = number(name, default=default, last=attend[-1])
    else:
        _consume(
            name,
            lambda raw: int(raw) if raw in map(str, attend) else None,
            but=wording.other_layers(layers=attend, said=said, shown=default),
        )
        asked = st.session_state["link.held"].get(name, default)
    return default if asked is None or asked not in attend else asked


def choice(name: str, *, default: str, options: Sequence[str]) -> str:
    """Return one of the options, like `number`: for a widget that names them otherwise than the link."""
    _consume(
        name,
        lambda raw: raw if raw in options else None,
        but=wording.one_of(options=[_safe(option) for option in options], shown=_safe(default)),
    )
    value: str = st.session_state["link.held"].get(name, default)
    return value if value in options else default


def text(name: str, *, pattern: str) -> str:
    """Return a short text that matches the whole `pattern`, like `number`; "" where nothing was set."""
    _consume(
        name,
        lambda raw: raw if not raw or re.fullmatch(pattern, raw, re.DOTALL) else None,
        but=wording.NO_OPTION,
    )
    value: str = st.session_state["link.held"].get(name, "")
    return value


def several(
    name: str,
    *,
    default: Sequence[T],
    allowed: Sequence[T],
    most: int | None = None,
    but: str = ", without special tokens",
) -> tuple[T, ...]:
    """Return one or several of `allowed`, like `number`; in the link a space or a comma stands between them.

    default: what is seen at first, () for nothing. most: how many the link can ask for, None for any number.
    but: what the sentence about a link out of range leaves out.
    """

    def read(raw: str) -> tuple[T, ...] | None:
        asked = set(raw.replace(",", " ").split())
        known = 0 < len(asked) <= (most or len(asked)) and asked <= set(map(str, allowed))
        return tuple(item for item in allowed if str(item) in asked) if known else None

    shown = ", ".join(map(str, default)) or wording.NONE
    _consume(name, read, but=wording.out_of_range(first=allowed[0], last=allowed[-1], but=but, shown=shown))
    value: tuple[T, ...] = st.session_state["link.held"].get(name, tuple(default))
    return value if set(value) <= set(allowed) else tuple(default)


def words(name: str, *, allowed: Sequence[str], but: str = "") -> tuple[str, ...]:
    """Return words of `allowed`, like `number`, by default none; in the link a comma stands between them.

    but: what is said of others, where `allowed` is too long to be listed.
    """

    def read(raw: str) -> tuple[str, ...] | None:
        asked = tuple(filter(None, raw.split(",")))
        return asked if set(asked) <= set(allowed) else None

    _consume(name, read, but=wording.some_of(options=allowed, but=but))
    value: tuple[str, ...] = st.session_state["link.held"].get(name, ())
    return value if set(value) <= set(allowed) else ()


def assign(name: str, value: Value | None) -> None:
    """Assign a parameter a number, a text, several numbers or words; None goes back to the default."""
    state = st.session_state
    state["link.asked"].pop(name, None)
    state["link.clicked"].add(name)
    if value is None:
        state["link.held"].pop(name, None)
    else:
        state["link.held"][name] = value


def of_page(name: str) -> None:
    """Forget what another page held for `name`: the page's own starts anew, unless the address has it."""
    state = st.session_state
    if not state["link.same_page"] and name not in state["link.asked"]:
        state["link.held"].pop(name, None)


def follow(old: str, new: str) -> None:
    """Assign `new` to every parameter that was assigned `old`, as where a model's id changes with its switches."""
    for name in [name for name, value in st.session_state["link.held"].items() if value == old]:
        assign(name, new)


def remembered(name: str, default: int) -> int:
    """Return what was assigned for another page's parameter, else `default`."""
    value: int = st.session_state["link.held"].get(name, default)
    return value


def held(name: str) -> Value | None:
    """Return what was assigned for a parameter, on this page or another, or what the session's first link asked for it.

    None where neither is. What a link asks for is not checked here.
    """
    values, asked = (st.session_state.get(kept, {}) for kept in ("link.held", "link.asked"))
    value: Value | None = values.get(name, asked.get(name))
    return value


def publish() -> None:
    """Put the page's parameters into the address, at once: one step of the browser's Back.

    A click may arrive after its page was left: then the address is another page's, and nothing is put there.
    """
    held: dict[str, Value] = st.session_state["link.held"]
    names: tuple[str, ...] = st.session_state["link.parameters"]
    _put({name: _written(held.get(name, ())) or None for name in names})


def _consume(name: str, read: Callable[[str], Value | None], *, but: str) -> None:
    """Take what the link asks for, once: held where `read` makes something of it, else said to the reader, with `but`.

    Within a run of a fragment nothing is left to take, see `number`.
    """
    held, asked = st.session_state["link.held"], st.session_state["link.asked"]
    st.session_state["link.clicked"].discard(name)
    if name not in asked:
        return
    raw = asked.pop(name)
    held.pop(name, None)
    if raw is None:
        return
    value = read(raw)
    if value is None:
        refuse(name, raw, but=but)
    else:
        held[name] = value


def _written(value: Value) -> str:
    if isinstance(value, int | str):
        return str(value)
    return (" " if all(isinstance(item, int) for item in value) else ",").join(map(str, value))


def _in_range(raw: str, last: float, *, first: float = 0, whole: bool = True) -> bool:
    digits = raw if whole else raw.replace(".", "", 1)
    return len(raw) <= _DIGITS and digits.isdecimal() and first <= float(raw) <= last


def forget_model_problem(model: str) -> None:
    """Take back the problem with the link's model, which was loaded after all."""
    asked, sentence = st.session_state.get("link.unlisted", ("", ""))
    problems: list[str] = st.session_state["link.problems"]
    if asked in (model, model_shelf.in_link(model)) and sentence in problems:
        problems.remove(sentence)


def show_problems() -> None:
    """Say what was wrong with the link, until the reader dismisses it.

    Where a widget could not be bound the page is run once more, so that the reader's first click is in the address.
    """
    if st.session_state.pop("link.unbound", False):
        st.rerun()
    problems: list[str] = st.session_state["link.problems"]
    for problem in problems:
        st.warning(problem, icon=":material/link_off:")
    if problems:
        st.button(wording.DISMISS, on_click=problems.clear, key="dismiss")


def refuse(name: str, *asked: str, but: str) -> None:
    """Say over the page that a link asks for what there is not; but: the end of the sentence, of `wording`."""
    complain(wording.asks_for(name=name, values=[_plain(value) for value in asked], but=but))


def complain(sentence: str) -> None:
    """Say over the page, until the reader dismisses it, what in the link was not followed; read as markdown."""
    if sentence not in st.session_state["link.problems"]:
        st.session_state["link.problems"].append(sentence)


def _asked(name: str) -> str | None:
    """Return what the link says of `name`; values given several times are joined, which only `several` can read."""
    return ",".join(st.query_params.get_all(name)) if name in st.query_params else None


def _put(values: Mapping[str, str | None]) -> None:
    """Put values into the address, without those that are None; what it says already is not written again.

    Streamlit sends every write to the browser, which takes the same values in another order for a step of its Back.
    """
    for name in [name for name, value in values.items() if value is None and name in st.query_params]:
        del st.query_params[name]
    changed = {name: value for name, value in values.items() if value is not None}
    changed = {name: value for name, value in changed.items() if st.query_params.get(name) != value}
    if changed:
        st.query_params.update(changed)


def _plain(value: str) -> str:
    """Quote a value for a sentence shown as markdown: only letters, digits and a few marks, at most 60 characters."""
    return f'"{_safe(value[:60])}"'


def _safe(value: str) -> str:
    """Make a value safe for markdown: a question mark for all but letters, digits and harmless marks."""
    return "".join(character if character.isalnum() or character in "-_@./(),' " else "?" for character in value)
