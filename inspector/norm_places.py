"""Where each norm that ran stands: its stream, layer, part and placement; a part of the probe."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from models.config import NormPlacement, Shape, TransformerConfig

Site = tuple[str, int]  # stream and layer of an attention call


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


def places(calls: Sequence[NormCall], config: Any, *, shape: Shape, sites: Sequence[Site]) -> list[Place]:
    """The place of each norm call: in an own Transformer by its name, in a transformers model by what ran when.

    sites: of the attention calls, in call order.
    """
    if isinstance(config, TransformerConfig):
        stream = "decoder" if config.shape == "decoder" else "encoder"
        layers = _layers(calls)
        return [
            _own_place(call.name, layer, stream, config.norm_placement)
            for call, layer in zip(calls, layers, strict=True)
        ]
    return _found_places(calls, shape, sites)


def _own_place(name: str, layer: int | None, stream: str, placement: NormPlacement) -> Place:
    stack, leaf = name.split(".")[0], name.rpartition(".")[2]
    stream = stack if stack in ("encoder", "decoder") else stream
    if leaf in ENDS:
        return Place(stream, None, ENDS[leaf], ENDS[leaf])
    return Place(stream, layer, PARTS[leaf], placement)


def _found_places(calls: Sequence[NormCall], shape: Shape, sites: Sequence[Site]) -> list[Place]:
    """A norm with a number in its path stands in that layer (one layer on where a shared module runs again, as in
    ALBERT); one without stands at the embedding or at the end. Which sublayer it belongs to: `_parts`.
    """
    streams = [_stream(call.name, shape) for call in calls]
    layers = _layers(calls)
    found: dict[int, Place] = {}
    inside: defaultdict[Site, list[int]] = defaultdict(list)
    for number, (call, stream, layer) in enumerate(zip(calls, streams, layers, strict=True)):
        if layer is not None:
            inside[stream, layer].append(number)
        else:
            seen = any(site[0] == stream for site in sites[: call.attentions_before])
            end = "final" if seen else "embedding"
            found[number] = Place(stream, None, end, end)
    ending = {found[number].stream for number in found if found[number].part == "final"}
    first = {key: _before(calls[numbers[0]], key, sites) == 0 for key, numbers in inside.items()}
    for (stream, layer), numbers in inside.items():
        pre = any(
            begins for (its, _), begins in first.items() if its == stream
        )  # a first layer may go without (ModernBERT)
        before = [_before(calls[number], (stream, layer), sites) for number in numbers]
        names = [calls[number].name for number in numbers]
        sublayers = _SUBLAYERS["cross" if ("cross", layer) in sites and stream == "decoder" else "alone"]
        parts = _parts(names, before, sublayers, pre=pre, ends=stream in ending)
        for number, (part, placement) in zip(numbers, parts, strict=True):
            found[number] = Place(stream, layer, part, placement)
    return [found[number] for number in range(len(calls))]


_OF = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
_SUBLAYERS = {"alone": ("attention", "ffn"), "cross": ("attention", "cross", "ffn")}
_OF_THE_OUTPUT = re.compile("post_(attention|feedforward|mlp|self_attn)_?(layer)?norm")
_OF_THE_FFN = ("post_feedforward", "post_mlp")


def _before(call: NormCall, where: Site, sites: Sequence[Site]) -> int:
    """How many attention calls of the norm's own layer came before it."""
    stream, layer = where
    return sum(site[1] == layer and site[0] in _OF[stream] for site in sites[: call.attentions_before])


def _parts(
    names: Sequence[str], before: Sequence[int], sublayers: Sequence[str], *, pre: bool, ends: bool
) -> list[tuple[str, str]]:
    """Part and placement of the norms of one layer, in the order in which they ran.

    before: how many attention calls of the layer came before each. ends: whether a norm stands behind the last layer,
    as where the residual stream itself goes without. In a pre-norm stack, whose layers begin with a norm,
    what comes before a sublayer is that sublayer's; in a post-norm stack what comes after it. Where a layer has a norm
    behind its FFN and is named so (Gemma 2, OLMo 2), those behind a sublayer stand on the sublayer's output, before the
    residual sum: "output".
    """
    last = len(sublayers) - 1
    leaves = [name.rpartition(".")[2] for name in names]
    sandwich = (pre or ends) and any(leaf.startswith(_OF_THE_FFN) for leaf in leaves)
    named_twice = any(leaf.startswith("post_self_attn") for leaf in leaves)  # GLM-4: "post_attention" is the FFN's then
    parts, seen = [], Counter[int]()
    for leaf, done in zip(leaves, before, strict=True):
        output = _OF_THE_OUTPUT.fullmatch(leaf) and not (named_twice and leaf.startswith("post_attention"))
        if sandwich and output:
            parts.append((sublayers[last if "attention" not in leaf and "attn" not in leaf else 0], "output"))
        elif pre:  # a second norm before the first attention is that of an FFN beside it (parallel sublayers)
            parts.append((sublayers[min(done, last) if not seen[done] or done else last], "pre"))
        else:
            parts.append((sublayers[min(done - 1 + seen[done], last)], "post"))
        seen[done] += 1
    return parts


def _stream(name: str, shape: Shape) -> str:
    if shape == "encoder-decoder":
        return "decoder" if "decoder" in name.split(".") else "encoder"
    return shape


def _layers(calls: Sequence[NormCall]) -> list[int | None]:
    """The number in each norm's path; one more for each time that attention ran since the same norm did (ALBERT)."""
    runs: defaultdict[str, set[int]] = defaultdict(set)
    layers: list[int | None] = []
    for call in calls:
        runs[call.name].add(call.attentions_before)
        numbers = [int(part) for part in call.name.split(".") if part.isdigit()]
        layers.append(numbers[0] + len(runs[call.name]) - 1 if numbers else None)
    return layers
