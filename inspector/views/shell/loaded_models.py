"""Loaded models, one copy for all visitors: from the catalogue, from fetched files, or made by changed switches."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from hashlib import sha256

import models
from inspector.memory.cache import weight_bytes
from inspector.views.server import queue
from inspector.views.shell import available_models, model_shelf, variants
from inspector.views.shell.model_shelf import Facts, Fetched, limits, placement, shelf
from inspector.views.shell.variants import base, changes, is_variant
from models.limits import needs_for_weights
from models.registry import is_installed
from models.transformer import switches
from models.transformer.config import TransformerConfig


def version(id: str) -> str:
    """Return what tells two states of a model with the same id apart: a commit, or the time a folder was written.

    A variant has its base's, and where its BatchNorm has the statistics of the sidebar's text, the text's hash.
    """
    fetched = shelf().fetched.get(base(id))
    of_text = sha256(ascii(variants.batch()).encode()).hexdigest() if variants.takes_statistics(id) else ""
    return ("" if fetched is None else fetched.version) + of_text


def load(id: str) -> models.LoadedModel:
    """The model, one copy for all visitors; ValueError where it cannot be loaded."""
    here = placement()
    if is_variant(id):
        return _remembered(id, _variant(id))
    fetched = shelf().fetched.get(id)
    if fetched is None:
        expected, make = _checked_bytes(id), partial(models.load, id, dtype=here.dtype, device=here.device)
    else:
        stored = fetched.candidate.config.dtype
        expected, make = fetched.candidate.memory_bytes(here.torch_dtype(stored)), partial(_load, id, fetched)
    key, weights = (id, version(id), here), shelf().weights
    with nullcontext() if weights.holds(key) else queue.loading("Loading the model"):
        loaded = weights.get(key, make, expected=expected)
    return _remembered(id, loaded)


def is_loaded(id: str | None) -> bool:
    """Return True if nothing has to be loaded: of no model, and of one that is in memory."""
    return id is None or shelf().weights.holds((id, version(id), placement()))


def is_at_hand(id: str) -> bool:
    """Return True for a model of the catalogue that is installed and within the limit on memory; nothing is loaded."""
    return is_installed(id) and _weight_bytes(id) <= limits().memory_bytes


def _checked_bytes(id: str) -> int:
    """Return the bytes that a model of the catalogue takes, 0 for a small one; ValueError over the limit."""
    needed = _weight_bytes(id)
    limits().check(available_models.name(id), needs_for_weights(placement().dtype, needed))
    return needed


def _weight_bytes(id: str) -> int:
    parameters = available_models.card(id).parameters
    return parameters * placement().torch_dtype(None).itemsize if parameters else 0


def _load(id: str, fetched: Fetched) -> models.LoadedModel:
    from models.registry import load_candidate

    loaded, root = load_candidate(fetched.candidate, fetched.folder, placement=placement()), limits().root
    title = id if root is None or fetched.candidate.commit else f"{fetched.folder.relative_to(root)} (folder)"
    return replace(loaded, card=replace(loaded.card, id=id, title=title))


def _remembered(id: str, loaded: models.LoadedModel) -> models.LoadedModel:
    """Keep a model's facts, those of a variant until many others were looked at."""
    of_variants = shelf().of_variants
    kept = of_variants if is_variant(id) else shelf().facts
    known = kept.get(id)
    if known is None or (known.card, known.placed) != (loaded.card, loaded.placed):  # they walk through all its modules
        kept[id] = Facts.of(loaded)
    for oldest in list(of_variants)[: -model_shelf.REMEMBERED]:
        of_variants.pop(oldest, None)
    return loaded


def facts(id: str) -> Facts:
    """Return the facts about a model, which is loaded once for them."""
    known = (shelf().of_variants if is_variant(id) else shelf().facts).get(id)
    return Facts.of(load(id)) if known is None else known


def tokens_allowed(id: str) -> int:
    """Return how many tokens of a text the page records in this model, special tokens included: its limit or less."""
    from models.untrusted.candidates import tokens_that_fit

    known, fetched, here = facts(id), shelf().fetched.get(id), limits()
    allowed = here.tokens if fetched is None else tokens_that_fit(fetched.candidate, here, maps=not known.linear)
    if is_variant(id):
        config, _ = switches.under_switches(own_config(base(id)), changes(id))
        allowed = variants.tokens_at_most(config)
    return min(known.max_tokens, allowed)


# --- under changed switches ------------------------------------------------------------------------------------------


def own_config(id: str) -> TransformerConfig:
    """Return the configuration of a model in the own Transformer, whose fields are the switches.

    Raises ValueError that says why for a model that the own Transformer cannot hold, or not within the limits.
    """
    configs, key = shelf().configs, (id, version(id))
    if key not in configs:
        configs[key] = _own(id).config
    return configs[key]


def canonical(id: str) -> str:
    """Write the id of a variant in the one way that names it: the switches that change something, in their order.

    Nothing is built. Raises ValueError for what is no switch, for switches that do not fit, and over a limit.
    """
    known, asked, drawn = switches.parse(id)
    config, changed = switches.under_switches(own_config(known), asked)
    variants.check_limits(config)
    return switches.id_of(known, changed, seed=drawn) if changed else known


def _own(id: str) -> models.LoadedModel:
    """The model in the own Transformer: itself, or converted, and then shared like any other."""
    from models.transformer.runner import OwnRunner

    loaded = load(id)
    if isinstance(loaded.runner, OwnRunner):
        return loaded
    expected = weight_bytes(loaded.network)
    key = (id, version(id), placement(), "own")
    return shelf().weights.get(key, partial(models.own_implementation, loaded), expected=expected)


def _variant(id: str) -> models.LoadedModel:
    """Build a variant from its base, which is loaded before: what is new is drawn, and nothing else is read."""
    known, asked, drawn = switches.parse(id)
    implementation, config, key = _own(known), own_config(known), (id, version(id), placement())
    made, _ = switches.under_switches(config, asked)
    variants.check_limits(made)
    texts = variants.batch() if variants.takes_statistics(id) else ()

    def make() -> models.LoadedModel:
        most = min(implementation.max_tokens, variants.tokens_at_most(made))  # of the statistics' texts
        read = replace(implementation, max_tokens=most)
        loaded = models.variant(read, seed=drawn, batch=texts, **asked)
        longest = min(implementation.max_tokens, made.max_positions)
        card = replace(loaded.card, id=id, title=available_models.card(id).title)
        return replace(loaded, max_tokens=longest, card=card)

    weights = shelf().weights
    with nullcontext() if weights.holds(key) else queue.loading("Changing the switches"):
        return weights.get(key, make, expected=variants.bytes_at_most(made))
