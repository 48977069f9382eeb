"""The models that a visitor can choose from: those of the catalogue, and those that were loaded in this session.

Weights live once for all visitors, under the budget of Limits.memory_bytes; what is known of a model (its card, its
files) outlives them, so that it is loaded again when a page needs it. A session holds ids only.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

import models
from inspector.memory.cache import SharedModels
from inspector.views.shell import queue
from models.limits import Limits
from models.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from models.loaded import Backend, Shape
    from models.untrusted.candidates import Candidate

BACKENDS: dict[Backend, str] = {
    "own": "The model is this project's own Transformer, whose attention hands over its queries, keys and values.",
    "probe": "The library transformers runs the model, and hands over the queries, keys and values of each attention.",
    "eager output": "The library transformers runs the model; what goes into its attention's softmax is written down, "
    "and maps are computed again from it.",
}
KEEPS_MAPS = (
    "The library transformers runs the model; what its attention's softmax gives is written down, which takes memory "
    "as the square of the text."
)

_REMEMBERED = 100  # models that were looked at and perhaps never loaded


@dataclass(frozen=True)
class Found:
    """A model outside the catalogue that was fetched: how to load it, and again when it had to leave."""

    candidate: Candidate
    folder: Path
    version: str


@dataclass(frozen=True)
class Facts:
    """The facts about a model that loading it reveals."""

    card: models.Card
    max_tokens: int
    backend: Backend
    linear: bool
    placed: str

    @property
    def seen(self) -> str:
        """A sentence on how the model's attention is recorded."""
        return BACKENDS[self.backend] if self.linear else KEEPS_MAPS


@dataclass(frozen=True)
class _Shelf:
    weights: SharedModels
    candidates: dict[str, Candidate] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    facts: dict[str, Facts] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def _shelf() -> _Shelf:
    return _Shelf(SharedModels(limits().memory_bytes))


def limits() -> Limits:
    """Return the page's limits on a model and a text; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Limits.from_environment()


def placement() -> Placement:
    """Return the device and dtype of the page's models; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Placement.from_environment()


# --- what can be chosen ----------------------------------------------------------------------------------------------


def ids() -> list[str]:
    """The trained models of the catalogue, then those that this session has added, then the untrained ones."""
    known = models.catalogue()
    added = [id for id in st.session_state.get("added", ()) if id in _shelf().facts]
    return [card.id for card in known if card.trained] + added + [card.id for card in known if not card.trained]


def card(id: str) -> models.Card:
    """The card of one of the `ids`."""
    own = {card.id: card for card in models.catalogue()}
    return own[id] if id in own else _shelf().facts[id].card


def title(id: str) -> str:
    """Name a model for the reader: its card's title; the id itself of a saved trace's model that is not at hand."""
    return card(id).title if id in ids() else id


def shape(id: str) -> Shape:
    """encoder, decoder or encoder-decoder."""
    return card(id).shape


def trained(id: str) -> bool:
    """Return True if the model was trained; a model outside the catalogue is taken to be trained."""
    return all(card.trained for card in models.catalogue() if card.id == id)


# --- in memory -------------------------------------------------------------------------------------------------------


def version(id: str) -> str:
    """Return what tells two states of a model with the same id apart: a commit, or the time a folder was written."""
    found = _shelf().found.get(id)
    return "" if found is None else found.version


def load(id: str) -> models.LoadedModel:
    """The model, one copy for all visitors; ValueError where it cannot be loaded."""
    shelf, here = _shelf(), placement()
    found = shelf.found.get(id)
    if found is None:
        expected, make = 0, partial(models.load, id, dtype=here.dtype, device=here.device)
    else:
        stored = found.candidate.config.dtype
        expected, make = found.candidate.memory_bytes(here.torch_dtype(stored)), partial(_load, id, found)
    key = (id, version(id), here)
    with nullcontext() if shelf.weights.holds(key) else queue.turn("Loading the model"):
        loaded = shelf.weights.get(key, make, expected=expected)
    shelf.facts[id] = Facts(loaded.card, loaded.max_tokens, loaded.backend, loaded.linear, loaded.placed)
    return loaded


def facts(id: str) -> Facts:
    """Return the facts about a model, which is loaded once for them."""
    if id not in _shelf().facts:
        load(id)
    return _shelf().facts[id]


def tokens_allowed(id: str) -> int:
    """Return how many tokens of a text the page records in this model, special tokens included: its limit or less."""
    from models.untrusted.candidates import tokens_that_fit

    seen, found, here = facts(id), _shelf().found.get(id), limits()
    allowed = here.tokens if found is None else tokens_that_fit(found.candidate, here, maps=not seen.linear)
    return min(seen.max_tokens, allowed)


def _load(id: str, found: Found) -> models.LoadedModel:
    from models.registry import load_candidate

    loaded, root = load_candidate(found.candidate, found.folder, placement=placement()), limits().root
    title = id if root is None or found.candidate.commit else f"{found.folder.relative_to(root)} (folder)"
    return replace(loaded, card=replace(loaded.card, id=id, title=title))


# --- models outside the catalogue ------------------------------------------------------------------------------------


def look(name: str) -> str:
    """Describe "org/name", "org/name@revision" or a folder without loading a weight; its id.

    Raises ValueError in a sentence for all that keeps it from being loaded safely.
    """
    from models.untrusted import folders, hub, hub_id

    here, name = limits(), name.strip()
    if not name:
        raise ValueError("Nothing is written there; write org/name, such as google-bert/bert-base-cased")
    if name in ids():
        raise ValueError(f"{name} is in the list of models already; choose it there")
    if _is_path(name, here):
        relative = here.root is not None and not Path(name).is_absolute() and not name.startswith("~")
        candidate = folders.local(f"{here.root}/{name}" if relative else name, limits=here)
        id = candidate.name
    else:
        asked = hub_id.parse(name)
        candidate, id = hub.describe(asked, limits=here), str(asked)
    placement().torch_dtype(candidate.config.dtype)
    candidates = _shelf().candidates
    candidates[id] = candidate
    for oldest in list(candidates)[:-_REMEMBERED]:
        candidates.pop(oldest, None)
    return id


def looked_at(id: str) -> Candidate | None:
    """Return the candidate that `look` found; None before `look`."""
    return _shelf().candidates.get(id)


def add(
    id: str, *, progress: Callable[[int, int], object], stop: Callable[[], bool], before: Callable[[], object]
) -> None:
    """Fetch and load what `look` found, and add it to this session's models.

    progress: called with the bytes that are there and the bytes of all files. before: called when loading begins.
    Raises ValueError over a limit, when stopped, and where it cannot be fetched or loaded.
    """
    from models.untrusted import hub
    from models.untrusted.candidates import check

    candidate = looked_at(id)
    if candidate is None:
        raise ValueError(f"{id} has not been looked at; press Look first")
    check(candidate, limits(), placement=placement())
    folder = hub.fetch(candidate, limits=limits(), progress=progress, stop=stop)
    before()
    changed = max(int((folder / file.name).stat().st_mtime_ns) for file in candidate.files)
    found, before_it = _shelf().found, _shelf().found.get(id)
    found[id] = Found(candidate, folder, candidate.commit or str(changed))
    try:
        load(id)
    except ValueError:
        del found[id]
        if before_it is not None:  # what others look at stays
            found[id] = before_it
        raise
    if id not in st.session_state.setdefault("added", []):
        st.session_state["added"].append(id)


def on_this_machine() -> list[str]:
    """List the models that load without a network: those in the hub's cache, and folders right under the root."""
    from models.untrusted.hub import cached

    try:
        here = limits()
    except ValueError:  # said where the field is
        return []
    folders = [] if here.root is None else sorted(path.parent for path in here.root.glob("*/config.json"))
    names = list(cached()) if here.hub else []
    return [name for name in [*names, *map(str, folders)] if name not in ids()]


def _is_path(name: str, here: Limits) -> bool:
    if name.startswith(("/", "./", "../", "~", "\\")) or name[1:3] in (":\\", ":/"):
        return True
    return here.root is not None and "/" not in name and (here.root / name).is_dir()
