"""Where each norm that ran stands: its stream, layer, part and placement; a part of the probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from models.config import NormPlacement, TransformerConfig


@dataclass(frozen=True)
class NormCall:
    """A norm that ran: its path in the network, its input [B, T, D], and how many attention calls came before."""

    name: str
    module: nn.Module
    input: Tensor
    attentions_before: int


@dataclass(frozen=True)
class Place:
    """As in NormRecord: stream, layer (None outside the layers), part and placement."""

    stream: str
    layer: int | None
    part: str
    placement: str


PARTS = {"attention_norm": "attention", "cross_norm": "cross", "ffn_norm": "ffn"}
ENDS = {"embedding_norm": "embedding", "final_norm": "final"}
"""What the own Transformer calls its norms, and what each is."""


def places(calls: Sequence[NormCall], config: Any) -> list[Place]:
    """The place of each norm call: in an own Transformer by its name, in a transformers encoder by what ran when."""
    if isinstance(config, TransformerConfig):
        stream = "decoder" if config.shape == "decoder" else "encoder"
        layers = _layers(calls)
        return [
            _own_place(call.name, layer, stream, config.norm_placement)
            for call, layer in zip(calls, layers, strict=True)
        ]
    return _found_places(calls)


def _own_place(name: str, layer: int | None, stream: str, placement: NormPlacement) -> Place:
    stack, leaf = name.split(".")[0], name.rpartition(".")[2]
    stream = stack if stack in ("encoder", "decoder") else stream
    if leaf in ENDS:
        return Place(stream, None, ENDS[leaf], ENDS[leaf])
    return Place(stream, layer, PARTS[leaf], placement)


def _found_places(calls: Sequence[NormCall]) -> list[Place]:
    """A norm with a number in its path stands in that layer (one layer on where a shared module runs again, as in
    ALBERT); one without stands at the embedding or at the end. A model whose layers begin with a norm is pre-norm:
    what comes before a layer's attention is the attention's, what comes after is the FFN's. Else it is post-norm: the
    first norm after the attention is the attention's, the next the FFN's.
    """
    layers = _layers(calls)
    pre = any(layer is not None and call.attentions_before <= layer for call, layer in zip(calls, layers, strict=True))
    seen: Counter[int] = Counter()
    found: list[Place] = []
    for call, layer in zip(calls, layers, strict=True):
        if layer is None:
            end = "final" if call.attentions_before else "embedding"
            found.append(Place("encoder", None, end, end))
            continue
        first = call.attentions_before <= layer if pre else seen[layer] == 0
        seen[layer] += 1
        found.append(Place("encoder", layer, "attention" if first else "ffn", "pre" if pre else "post"))
    return found


def _layers(calls: Sequence[NormCall]) -> list[int | None]:
    runs: Counter[str] = Counter()
    layers: list[int | None] = []
    for call in calls:
        numbers = [int(part) for part in call.name.split(".") if part.isdigit()]
        layers.append(numbers[0] + runs[call.name] if numbers else None)
        runs[call.name] += 1
    return layers
