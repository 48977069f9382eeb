"""Names of layers, wherever a reader meets them."""

from __future__ import annotations

from collections.abc import Sequence


def layer_name(layer: int, call: int = 0, *, short: bool = False) -> str:
    """The name of a layer, and which of its attentions where that is not the first: "layer 3 (2nd attention)".

    short: "layer 3 (2nd)", for the rows of a grid.
    """
    which = {1: "2nd", 2: "3rd"}.get(call, f"{call + 1}th") + ("" if short else " attention")
    return f"layer {layer} ({which})" if call else f"layer {layer}"


def layers_in_words(attend: Sequence[int]) -> str:
    """Which layers attend, of a model in which not all do: "layers 1, 3 and 5 attend"."""
    *first, last = map(str, attend)
    return f"layers {', '.join(first)} and {last} attend" if first else f"layer {last} attends"
