"""The subject of the page: the sidebar's model on its text, a known shape, or a configuration from the reader.

A link restores the choice and the length. A pasted configuration is no part of a link, and a name on the hub in a link
is prefilled and asked about, never fetched by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from inspector import costs
from inspector.costs import clock
from inspector.views.shell import available_models, header, link, session, widgets
from models import failures

if TYPE_CHECKING:
    import models
    from inspector.costs.clock import Kernel, LayerShape
    from inspector.costs.counted.counting import Counted
    from inspector.costs.kv_cache import KVCache

Source = Literal["model", "shape", "config"]
SOURCES: dict[Source, str] = {"model": "This model", "shape": "A known shape", "config": "Your config"}
MOST_TOKENS = 10**9
COUNTING = "Counting: the model's code runs once without weights (the first model of a kind loads its code)"
PLACEHOLDER = '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, ...}'


@dataclass(frozen=True)
class Subject:
    """A configuration whose costs are shown, and the length of the text.

    title: as a sentence names it. key: tells configurations apart. python: the lines that make `config`. tokens,
    target_tokens: of the text; target_tokens None without a second text. loaded: the model itself, where it is loaded.
    """

    title: str
    config: Any
    key: Hashable
    python: str
    tokens: int
    target_tokens: int | None = None
    loaded: models.LoadedModel | None = None

    @property
    def lengths(self) -> tuple[int, int]:
        """The tokens of the text, and of a target, which is as long where none is given."""
        return self.tokens, self.tokens if self.target_tokens is None else self.target_tokens

    def counted(self) -> Counted:
        """Count the model, once for all visitors; raises ValueError where it cannot be counted."""

        def make() -> Counted:
            told = failures.told("Counting this model", instead="Choose another one.")
            with told, st.spinner(COUNTING):
                return costs.count(self.config)

        return session.cached(("costs", self.key), make)

    def activations(self, kernel: Kernel) -> int | str:
        """Count the bytes that a kernel of attention keeps for a backward, or say why they are not known."""

        def make() -> int | str:
            source, target = self.lengths
            try:
                with failures.told("Counting activations", instead="Choose a shorter text."), st.spinner(COUNTING):
                    return costs.saved_bytes(self.config, tokens=source, target_tokens=target, kernel=kernel)
            except ValueError as error:
                return str(error)

        return session.cached(("activations", self.key, self.lengths, kernel), make)

    def cache(self) -> KVCache | None:
        """Derive the KV cache; None for an encoder, which keeps none."""
        try:
            return costs.kv_cache(self.config)
        except ValueError:
            return None

    def layer_shape(self) -> LayerShape:
        """Read the shape of the first layer; raises ValueError for one with other parts than the clock times."""
        return session.cached(("layer shape", self.key), lambda: clock.layer_shape(self.config))


def chosen() -> Subject | None:
    """Let the reader choose; None where there is nothing to show yet, and why is said."""
    source = widgets.bar("Whose costs", list(SOURCES), "of", words=SOURCES.__getitem__)
    if source == "model":
        return _model()
    found = _shape() if source == "shape" else _config()
    if found is None:
        return None
    header.name("Shape" if source == "shape" else "Configuration", found.title)
    return found


def _model() -> Subject:
    inspected = session.inspected()
    loaded = session.at_hand(inspected, so="its costs are not")
    target = inspected.trace.target
    return Subject(
        title=loaded.card.title,
        config=loaded.config,
        key=("model", inspected.model, None if inspected.model is None else available_models.version(inspected.model)),
        python=f"config = models.load({loaded.card.id!r}).config",
        tokens=len(inspected.trace.tokens),
        target_tokens=None if target is None else len(target),
        loaded=loaded,
    )


def _shape() -> Subject:
    names = list(costs.SHELF)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Shape",
            names,
            index=names.index("llama-2-70b"),
            format_func=lambda one: costs.SHELF[one].title,
            key="shape",
            bind=link.bind_choice(
                "shape", default="llama-2-70b", options=names, label=lambda one: costs.SHELF[one].title
            ),
            width=220,
        )
        tokens = _length()
        shape = costs.SHELF[name]
        note = f": {shape.note}" if shape.note else ""
        st.caption(f"Sizes from {shape.source}. Published with {shape.parameters:,} parameters{note}.", width="stretch")
    return of_shape(name, tokens=tokens)


def of_shape(name: str, *, tokens: int) -> Subject:
    """Give a shape of the shelf at a length."""
    shape = costs.SHELF[name]
    with st.spinner("Loading transformers (a few seconds, once)"):
        config = shape.config()
    return Subject(shape.title, config, ("shape", name), f"config = inspector.costs.SHELF[{name!r}].config()", tokens)


def _length() -> int:
    return widgets.number("Text length, tokens", "length", default=128, first=1, last=MOST_TOKENS, width=180)


def _config() -> Subject | None:
    """Read what the reader pasted or named: the configuration alone, never a weight."""
    with st.form("config", border=False):
        text = st.text_area(
            "Paste a config.json",
            key="pasted",
            height=140,
            placeholder=PLACEHOLDER,
            help="Its numbers are read, no code of it is run, nothing is fetched. It stays out of the link.",
            persist_state="session",
        )
        name = st.text_input(
            "Or name a folder, or a model on the hub",
            key="named",
            max_chars=link.MAX_NAME,
            placeholder="org/name or the path of a folder",
            bind=link.bind_words("named", default="", most=link.MAX_NAME),
        )
        asked = st.form_submit_button("Count it", type=widgets.main_button())
    tokens = _length()
    state = st.session_state
    if asked:
        state["costs.asked"] = (text.strip(), name.strip())
    if state.get("costs.asked") != (text.strip(), name.strip()) or not any(state["costs.asked"]):
        st.caption(
            "Press Count it: a configuration of some hundred bytes is enough to say what a model of any size costs. "
            "No weight is read or downloaded."
        )
        return None
    try:
        told = failures.told("Reading the configuration", instead="Check it, or choose a known shape.")
        with told, st.spinner("Reading the configuration"):
            config, title, ignored = _read(text, name)
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return None
    if ignored:
        st.caption(f"Left out of it: {', '.join(ignored)}.")
    key = hashlib.sha256(str(config.to_dict()).encode()).hexdigest()
    python = "config = ...  # a configuration of transformers, such as AutoConfig.from_pretrained(folder)"
    return Subject(title, config, ("config", key), python, tokens)


def _read(text: str, name: str) -> tuple[Any, str, tuple[str, ...]]:
    """Read a configuration by the rules for strangers' files, with its title and what was left out."""
    from pathlib import Path

    from models.untrusted import folders, hub
    from models.untrusted.hub_id import parse
    from models.untrusted.safe_config import pasted, safe_config

    limits = available_models.limits()
    if text.strip():
        found = pasted(text, limits=limits)
        found.config.architectures = [found.architecture.__name__]
        return found.config, f"the pasted {found.config.model_type}", found.ignored
    name = name.strip()
    if name.startswith(("/", "~", ".")):
        folder = folders.allowed(name, limits=limits)
        found = safe_config(folder, limits=limits)
        title = Path(folder).name
    else:
        candidate = hub.describe(parse(name), limits=limits)
        found, title = candidate.config, candidate.name
    found.config.architectures = [found.architecture.__name__]
    return found.config, title, found.ignored
