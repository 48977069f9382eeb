"""Rotary positions that remember nothing from one text to the next.

RoPE of type "dynamic" scales its frequencies by the longest text that it has seen, and keeps them for shorter texts;
"longrope" overwrites the frequencies of the text before with each text's. A network here is shared by all its readers,
so one reader's text would change the numbers of another's. `keep_fresh` has every call of such a rotary module run on a
copy of the module as it was loaded: each text gets the frequencies that a freshly loaded network gives it, in whatever
order and from whatever thread the texts come. Within a text that grows token by token nothing changes, for its length
only grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any

from torch import nn


def keep_fresh(network: nn.Module) -> None:
    """Let each rotary module that remembers lengths forget them, once, before readers share the network."""
    for module in list(network.modules()):
        if remembers(module):
            # accelerate keeps the module's own forward under another name, and calls it between its hooks
            name = "_old_forward" if hasattr(module, "_hf_hook") else "forward"
            setattr(module, name, partial(_forward_of_a_copy, module))


def remembers(module: nn.Module) -> bool:
    """Return True for a rotary module whose frequencies depend on the length of a text."""
    kind = getattr(module, "rope_type", "")
    kinds = kind.values() if isinstance(kind, Mapping) else (kind,)
    return any("dynamic" in kind or kind == "longrope" for kind in kinds if isinstance(kind, str))


def _forward_of_a_copy(module: Any, *inputs: Any, **named: Any) -> Any:
    fresh = copy(module)
    fresh._buffers = {name: None if buffer is None else buffer.clone() for name, buffer in module._buffers.items()}
    return type(module).forward(fresh, *inputs, **named)
