"""Output gates in transformers' models, seen from both ends: what an attention left, and what its `o_proj` is given.

The hook goes in once, at load, where a layer's own code has a sigmoid of its gate; it does nothing outside a recording.
"""

from __future__ import annotations

import re
from functools import partial
from inspect import getsource
from typing import Any

from torch import Tensor, nn

from models.attention.output_gate import report_gate
from models.build_lock import LOADING
from models.mixers import mark_begun, take_begun

_GATES = re.compile(r"sigmoid\((gate|gate_states|self\.g_proj)\b|\bgate\.sigmoid\(")
_GATED = "_headlight_gated"  # an attribute of a module whose answer is gated


def install(network: nn.Module) -> None:
    """Hook the projection behind every gated attention of the network, once, before anyone shares the network."""
    with LOADING:
        for module in network.modules():
            projection = getattr(module, "o_proj", None)
            if isinstance(projection, nn.Module) and not hasattr(module, _GATED) and _gates(type(module)):
                setattr(module, _GATED, True)
                projection.register_forward_pre_hook(partial(_left, module))


def began(module: nn.Module, mixed: Tensor) -> None:
    """Keep what an attention left, [B, Q, H, E], where its layer has a gate and a recording looks on."""
    if hasattr(module, _GATED):
        mark_begun(module, mixed)


def _gates(kind: type[nn.Module]) -> bool:
    try:
        return _GATES.search(getsource(kind)) is not None
    except (OSError, TypeError):  # code without a file
        return False


def _left(module: nn.Module, projection: nn.Module, args: tuple[Any, ...]) -> None:
    mixed = take_begun(module)
    if mixed is not None and args[0].numel() == mixed.numel():
        report_gate(mixed, args[0].view(mixed.shape))
