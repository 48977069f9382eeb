"""The models that a visitor can choose from: those of the catalogue, and those that were loaded in this session.

Weights live once for all visitors, under the budget of Limits.memory_bytes; what is known of a model (its card, its
files) outlives them, so that it is loaded again when a page needs it. A session holds ids only.

A model under changed switches (models.variant) has an id too, "mini-bert?scale=none", and is a model like any other:
side A is the one that the sidebar chose, side B the one beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

import models
from inspector.memory.cache import SharedModels, weight_bytes
from inspector.views.server import queue
from inspector.views.server.shared import Shared
from inspector.views.shell import link
from inspector.wording import switches as words
from models.formatting import format_bytes
from models.limits import Limits, variable
from models.placement import Placement
from models.transformer import sizes, switches
from models.transformer.config import TransformerConfig

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

_REMEMBERED = 100  # models that were looked at and perhaps never loaded, and variants that were
MOST_HEADS, MOST_MAPS = 128, 2_000  # of a layer, and of all, that switches make: each is a picture of the grid
FEWEST = 128  # tokens that a variant has room for
MOST_PAIRED = 64  # tokens of a score that is computed pair by pair in Python
MOST_HIDDEN = 10**9  # hidden units of additive scores, of all pairs, heads and layers: some seconds of a core


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
    of_variants: dict[str, Facts] = field(default_factory=dict)
    configs: dict[tuple[str, str], TransformerConfig] = field(default_factory=dict)


@Shared
def _shelf() -> _Shelf:
    return _Shelf(SharedModels(limits().memory_bytes, left=queue.release_later))


def limits() -> Limits:
    """Return the page's limits on a model and a text; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Limits.from_environment()


def placement() -> Placement:
    """Return the device and dtype of the page's models; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Placement.from_environment()


# --- what can be chosen ----------------------------------------------------------------------------------------------


def ids() -> list[str]:
    """The trained models of the catalogue, then those that this session has added, then the untrained ones.

    A variant that is in use, side A or side B, follows the model whose weights it has.
    """
    in_use = [id for id in dict.fromkeys((st.session_state.get("model"), side_b())) if id and is_variant(id)]
    return [id for known in _bases() for id in (known, *(one for one in in_use if base(one) == known))]


def _bases() -> list[str]:
    """All but the variants."""
    known = models.catalogue()
    added = [id for id in st.session_state.get("added", ()) if id in _shelf().facts]
    return [card.id for card in known if card.trained] + added + [card.id for card in known if not card.trained]


def card(id: str) -> models.Card:
    """The card of one of the `ids`; of a variant what is known before it is built."""
    own = {card.id: card for card in models.catalogue()}
    if not is_variant(id):
        return own[id] if id in own else _shelf().facts[id].card
    summary = f"The weights of {name(base(id))} in the own Transformer, under other switches."
    return replace(card(base(id)), id=id, title=f"{name(base(id))}: {words.changes(changes(id))}", summary=summary)


def title(id: str) -> str:
    """Name a model for the reader: its card's title; the id itself of a saved trace's model that is not at hand.

    A variant in use is told from the other side: "mini-BERT, A: scale none".
    """
    if id not in ids():
        return id
    if not is_variant(id):
        return card(id).title
    side = "A" if id == st.session_state.get("model") else "B"
    return f"{name(base(id))}, {side}: {words.changes(changes(id), most=3)}"


def name(id: str) -> str:
    """Name a model within a sentence: "MiniLM", "mini-BERT with scale none"; the id itself of one not at hand."""
    if id not in ids() and base(id) not in ids():
        return id
    short = card(base(id)).title.split(",")[0]
    return f"{short} with {words.changes(changes(id), most=3)}" if is_variant(id) else short


def shape(id: str) -> Shape:
    """encoder, decoder or encoder-decoder."""
    return card(id).shape


def trained(id: str) -> bool:
    """Return True if the model was trained; a model outside the catalogue is taken to be trained.

    A variant is what its base is; `facts` say which share of it was redrawn.
    """
    return all(card.trained for card in models.catalogue() if card.id == base(id))


# --- under changed switches ------------------------------------------------------------------------------------------


def is_variant(id: str) -> bool:
    """Return True for the id of a model under changed switches; a folder's name may hold a question mark too."""
    return "?" in id and id not in st.session_state.get("added", ())


def base(id: str) -> str:
    """Return the model whose weights a variant has; the id itself where it is none."""
    return id.partition("?")[0] if is_variant(id) else id


def changes(id: str) -> Mapping[str, Any]:
    """The switches that a variant changes, by their names; none of a model as it is."""
    return switches.parse(id)[1] if is_variant(id) else {}


def seed(id: str) -> int:
    """Return the seed that draws what is new in a variant."""
    return switches.parse(id)[2]


def side_b() -> str | None:
    """Return the model beside the sidebar's, of the same weights under other switches; None where both are the same.

    Where switches of the sidebar's model alone were changed, that is the model as it is.
    """
    state = st.session_state
    if "model" not in state or state.get("file") is not None:
        return None
    model = state["model"]
    beside: str = state.get(link.BESIDE) or base(model)
    beside = beside if base(beside) == base(model) else base(model)
    return None if beside == model else beside


def own_config(id: str) -> TransformerConfig:
    """Return the configuration of a model in the own Transformer, whose fields are the switches.

    Raises ValueError that says why for a model that the own Transformer cannot hold, or not within the limits.
    """
    configs, key = _shelf().configs, (id, version(id))
    if key not in configs:
        configs[key] = _own(id).config
    return configs[key]


def canonical(id: str) -> str:
    """Write the id of a variant in the one way that names it: the switches that change something, in their order.

    Nothing is built. Raises ValueError for what is no switch, for switches that do not fit, and over a limit.
    """
    known, asked, drawn = switches.parse(id)
    config, changed = switches.under_switches(own_config(known), asked)
    _check_limits(config)
    return switches.id_of(known, changed, seed=drawn) if changed else known


def takes_statistics(id: str) -> bool:
    """Return True for a variant whose BatchNorm has the statistics of the sidebar's text."""
    return switches.takes_statistics(changes(id))


def _check_limits(config: TransformerConfig) -> None:
    here = limits()
    taken: dict[str, tuple[int, int, Callable[[int], str]]] = {
        "layers": (sizes.blocks(config), here.layers, str),
        "parameters": (sizes.parameters_at_most(config), here.parameters, "{:,}".format),
        "memory_bytes": (_bytes_at_most(config), here.memory_bytes, format_bytes),
        "capture_bytes": (FEWEST * 4 * sizes.numbers_at_most(config), here.capture_bytes, format_bytes),
    }
    for limit, (asked, most, written) in taken.items():
        if asked > most:
            raise ValueError(
                f"These switches ask for up to {written(asked)} where {variable(limit)} allows {written(most)}; choose "
                "fewer layers or smaller sizes."
            )
    if config.heads > MOST_HEADS or sizes.blocks(config) * config.heads > MOST_MAPS:
        raise ValueError(
            f"These switches make {config.heads:,} heads in each of {sizes.blocks(config):,} layers; the page draws at "
            f"most {MOST_HEADS:,} in a layer and {MOST_MAPS:,} together."
        )


def _bytes_at_most(config: TransformerConfig) -> int:
    return sizes.parameters_at_most(config) * placement().torch_dtype(None).itemsize


def _own(id: str) -> models.LoadedModel:
    """The model in the own Transformer: itself, or converted, and then shared like any other."""
    from models.transformer.runner import OwnRunner

    loaded, shelf = load(id), _shelf()
    if isinstance(loaded.runner, OwnRunner):
        return loaded
    expected = weight_bytes(loaded.network)
    key = (id, version(id), placement(), "own")
    return shelf.weights.get(key, partial(models.own_implementation, loaded), expected=expected)


def _variant(id: str) -> models.LoadedModel:
    """Build a variant from its base, which is loaded before: what is new is drawn, and nothing else is read."""
    known, asked, drawn = switches.parse(id)
    own, config, key = _own(known), own_config(known), (id, version(id), placement())
    made, _ = switches.under_switches(config, asked)
    _check_limits(made)
    texts = batch() if takes_statistics(id) else ()

    def make() -> models.LoadedModel:
        read = replace(own, max_tokens=min(own.max_tokens, _tokens_of_variant(made)))  # of the statistics' texts
        loaded = models.variant(read, seed=drawn, batch=texts, **asked)
        longest = min(own.max_tokens, made.max_positions)
        return replace(loaded, max_tokens=longest, card=replace(loaded.card, id=id, title=card(id).title))

    weights = _shelf().weights
    with nullcontext() if weights.holds(key) else queue.loading("Changing the switches"):
        return weights.get(key, make, expected=_bytes_at_most(made))


def batch() -> tuple[str, ...]:
    """The texts of the sidebar, from which a new BatchNorm takes its statistics in one pass."""
    texts = (str(st.session_state.get(name, "")) for name in ("text", "pair"))
    first, *others = (text[: limits().characters] for text in texts)
    return first, *filter(str.strip, others)


# --- in memory -------------------------------------------------------------------------------------------------------


def version(id: str) -> str:
    """Return what tells two states of a model with the same id apart: a commit, or the time a folder was written.

    A variant has its base's, and where its BatchNorm has the statistics of the sidebar's text, the text's hash.
    """
    found = _shelf().found.get(base(id))
    of_text = sha256(ascii(batch()).encode()).hexdigest() if takes_statistics(id) else ""
    return ("" if found is None else found.version) + of_text


def load(id: str) -> models.LoadedModel:
    """The model, one copy for all visitors; ValueError where it cannot be loaded."""
    shelf, here = _shelf(), placement()
    if is_variant(id):
        return _remembered(id, _variant(id))
    found = shelf.found.get(id)
    if found is None:
        expected, make = 0, partial(models.load, id, dtype=here.dtype, device=here.device)
    else:
        stored = found.candidate.config.dtype
        expected, make = found.candidate.memory_bytes(here.torch_dtype(stored)), partial(_load, id, found)
    key = (id, version(id), here)
    with nullcontext() if shelf.weights.holds(key) else queue.loading("Loading the model"):
        loaded = shelf.weights.get(key, make, expected=expected)
    return _remembered(id, loaded)


def _remembered(id: str, loaded: models.LoadedModel) -> models.LoadedModel:
    """Keep a model's facts, those of a variant until many others were looked at."""
    shelf, found = _shelf(), Facts(loaded.card, loaded.max_tokens, loaded.backend, loaded.linear, loaded.placed)
    facts = shelf.of_variants if is_variant(id) else shelf.facts
    facts[id] = found
    for oldest in list(shelf.of_variants)[:-_REMEMBERED]:
        shelf.of_variants.pop(oldest, None)
    return loaded


def facts(id: str) -> Facts:
    """Return the facts about a model, which is loaded once for them."""
    known = _shelf().of_variants if is_variant(id) else _shelf().facts
    found = known.get(id)
    if found is None:
        loaded = load(id)
        found = Facts(loaded.card, loaded.max_tokens, loaded.backend, loaded.linear, loaded.placed)
    return found


def tokens_allowed(id: str) -> int:
    """Return how many tokens of a text the page records in this model, special tokens included: its limit or less."""
    from models.untrusted.candidates import tokens_that_fit

    seen, found, here = facts(id), _shelf().found.get(id), limits()
    allowed = here.tokens if found is None else tokens_that_fit(found.candidate, here, maps=not seen.linear)
    if is_variant(id):
        config, _ = switches.under_switches(own_config(base(id)), changes(id))
        allowed = _tokens_of_variant(config)
    return min(seen.max_tokens, allowed)


def _tokens_of_variant(config: TransformerConfig) -> int:
    """Return how many tokens the page reads in a variant, whatever its longest text: memory and time are limited."""
    here = limits()
    allowed = min(here.tokens, here.capture_bytes // (4 * sizes.numbers_at_most(config)))
    if config.score.startswith("additive"):
        of_pair = sizes.blocks(config) * config.heads * config.head_width
        allowed = min(allowed, max(2, isqrt(MOST_HIDDEN // of_pair)))
    return min(allowed, MOST_PAIRED) if config.score == "additive_naive" else allowed


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
