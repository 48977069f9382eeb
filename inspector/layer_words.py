"""What layers are called, wherever a reader meets them."""

from __future__ import annotations

from collections.abc import Sequence


def layer_name(layer: int, call: int = 0) -> str:
    """The name of a layer, and which of its attentions where that is not the first: "layer 3 (2nd attention)"."""
    endings = {1: "2nd", 2: "3rd"}
    return f"layer {layer}" + (f" ({endings.get(call, f'{call + 1}th')} attention)" if call else "")


def layers_in_words(attend: Sequence[int]) -> str:
    """Which layers attend, of a model in which not all do: "layers 1, 3 and 5 attend"."""
    *first, last = map(str, attend)
    return f"layers {', '.join(first)} and {last} attend" if first else f"layer {last} attends"
