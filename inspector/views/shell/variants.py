"""Models under changed switches (models.variant): their ids, and how large the page lets them be.

A variant has an id, "mini-bert?scale=none", and is a model like any other: side A is the one that the sidebar chose,
side B the one beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt
from typing import Any

import streamlit as st

from inspector.views.shell import link, model_shelf
from models.formatting import format_bytes
from models.limits import variable
from models.transformer import sizes, switches
from models.transformer.config import TransformerConfig

MOST_HEADS, MOST_MAPS = 128, 2_000  # of a layer, and of all, that switches make: each is a picture of the grid
FEWEST = 128  # tokens that a variant has room for
MOST_PAIRED = 64  # tokens of a score that is computed pair by pair in Python
MOST_HIDDEN = 10**9  # hidden units of additive scores, of all pairs, heads and layers: some seconds of a core


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


def takes_statistics(id: str) -> bool:
    """Return True for a variant whose BatchNorm has the statistics of the sidebar's text."""
    return switches.takes_statistics(changes(id))


def batch() -> tuple[str, ...]:
    """The texts of the sidebar, from which a new BatchNorm takes its statistics in one pass."""
    texts = (str(st.session_state.get(name, "")) for name in ("text", "pair"))
    first, *others = (text[: model_shelf.limits().characters] for text in texts)
    return first, *filter(str.strip, others)


def check_limits(config: TransformerConfig) -> None:
    """Raise ValueError where switches make a model larger than the limits allow."""
    here = model_shelf.limits()
    taken: dict[str, tuple[int, int, Callable[[int], str]]] = {
        "layers": (sizes.blocks(config), here.layers, str),
        "parameters": (sizes.parameters_at_most(config), here.parameters, "{:,}".format),
        "memory_bytes": (bytes_at_most(config), here.memory_bytes, format_bytes),
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


def bytes_at_most(config: TransformerConfig) -> int:
    """Return how much memory the weights take at most."""
    return sizes.parameters_at_most(config) * model_shelf.placement().torch_dtype(None).itemsize


def tokens_at_most(config: TransformerConfig) -> int:
    """Return how many tokens the page reads in a variant, whatever its longest text: memory and time are limited."""
    here = model_shelf.limits()
    allowed = min(here.tokens, here.capture_bytes // (4 * sizes.numbers_at_most(config)))
    if config.score.startswith("additive"):
        of_pair = sizes.blocks(config) * config.heads * config.head_width
        allowed = min(allowed, max(2, isqrt(MOST_HIDDEN // of_pair)))
    return min(allowed, MOST_PAIRED) if config.score == "additive_naive" else allowed
