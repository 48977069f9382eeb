"""The place of each norm that ran: its stream, layer, part and placement; a part of the probe."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from inspector.probe.norm_kinds import NormParameters
from inspector.probe.residual_sums import NormUses
from models.attention import AttentionCall
from models.huggingface.eager_attention import in_decoder
from models.loaded import Shape
from models.transformer.config import NormPlacement, TransformerConfig


@dataclass(eq=False)
class LayerCall:
    """One run of a layer: its input and its output, [B, T, D].

    path: of its stack; number: of the model's layer. left_norm: the norm call whose output is what it left, where there
    is one; `left` is None then. given: its output while the model runs. attentions: which calls of the seam it made.
    """

    path: str
    number: int
    entered: Tensor
    started: int
    left: Tensor | None = None
    left_norm: int | None = None
    given: Tensor | None = None
    whole: bool = True
    attentions: slice = field(init=False)

    def __post_init__(self) -> None:
        self.attentions = slice(self.started, self.started)

    def gave(self, x: Tensor) -> bool:
        """Return True if x is the output of this call."""
        return is_same(self.given, x)


@dataclass(eq=False)
class NormCall:
    """A norm that ran: its path, what it computes, its input and gate [B, T, D], how many attentions came before.

    difference: the largest between its formula and what the module gave. truth: mean and deviation of what the module
    gave, [B, T, 2]; None where the formula gives the same bits. output: what it gave, while that can still be what its
    layer leaves. call: the layer's run, None outside the layers. sublayer: in which kind it ran. uses: what became of
    it. leaves: whether its output is the layer's.
    """

    name: str
    parameters: NormParameters
    input: Tensor
    gate: Tensor | None
    attentions_before: int
    difference: float
    truth: Tensor | None
    output: Tensor | None = None
    call: LayerCall | None = None
    sublayer: str = ""
    uses: NormUses = field(default_factory=NormUses)
    leaves: bool = False

    def gave(self, x: Tensor) -> bool:
        """Return True if x is the output of this call."""
        return is_same(self.output, x)


@dataclass(frozen=True)
class MixerCall:
    """A run of what stands in attention's place: in which layer, after how many norms and attentions."""

    call: LayerCall
    norms_before: int
    attentions_before: int


@dataclass(frozen=True)
class NormPlace:
    """Stream, layer (None outside the layers), part and placement, as in NormRecord."""

    stream: str
    layer: int | None
    part: str
    placement: str


PARTS = {"attention_norm": "attention", "cross_norm": "cross", "ffn_norm": "ffn"}
ENDS = {"embedding_norm": "embedding", "final_norm": "final"}
"""The own Transformer's names of its norms, and the part that each belongs to."""


def is_same(tensor: Tensor | None, other: Tensor) -> bool:
    """Return True if two tensors are the same object, or views of the same memory with the same shape."""
    return tensor is other or (
        tensor is not None and tensor.data_ptr() == other.data_ptr() and tensor.shape == other.shape
    )


def stream_of(name: str, shape: Shape) -> str:
    """The stream of a module, by its path in the network."""
    if shape == "encoder-decoder":
        return "decoder" if in_decoder(name) else "encoder"
    return shape


def places(
    calls: Sequence[NormCall],
    config: Any,
    *,
    shape: Shape,
    attentions: Sequence[AttentionCall],
    mixers: Sequence[MixerCall] = (),
) -> list[NormPlace]:
    """The place of each norm call: in an own Transformer by its name, else by what ran and was added to what.

    attentions: the calls of the seam, in call order.
    """
    layers = _layers(calls)
    if isinstance(config, TransformerConfig):
        stream = "decoder" if config.shape == "decoder" else "encoder"
        return [
            _own_place(call.name, layer, stream, config.norm_placement)
            for call, layer in zip(calls, layers, strict=True)
        ]
    streams = [stream_of(call.name, shape) for call in calls]
    inside: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, (stream, layer) in enumerate(zip(streams, layers, strict=True)):
        if layer is not None:
            inside[stream, layer].append(number)
    placements = _placements(calls, layers)
    runs = Counter((call.name, layer) for call, layer in zip(calls, layers, strict=True))
    leaving = {call.name for call in calls if call.leaves}
    for number, (call, layer) in enumerate(zip(calls, layers, strict=True)):
        if (
            call.name not in leaving and layer is not None and runs[call.name, layer] > 1
        ):  # of no one sublayer (the router of Gemma 3n's streams)
            placements[number] = "inside"
    for numbers in inside.values():
        for number in _nested(calls, numbers):
            placements[number] = "inside"
    by_number: dict[int, NormPlace] = {}
    for (stream, layer), numbers in inside.items():
        parts = _parts(calls, numbers, placements, attentions=attentions, mixers=mixers)
        by_number |= {number: NormPlace(stream, layer, part, placements[number]) for number, part in parts.items()}
    for number, (call, stream) in enumerate(zip(calls, streams, strict=True)):
        if number not in by_number:
            before = attentions[: call.attentions_before]
            seen = any(_is_of(attention, stream) for attention in before) or (
                not attentions and any(layer is not None for layer in layers[:number])
            )
            end = "final" if seen else "embedding"
            by_number[number] = NormPlace(stream, None, end, end)
    finals = {place.stream: number for number, place in sorted(by_number.items()) if place.placement == "final"}
    for number, place in by_number.items():
        if place.placement == "final" and number != finals[place.stream]:  # between runs of the layers (HRM)
            by_number[number] = NormPlace(place.stream, None, "other", "inside")
    return [by_number[number] for number in range(len(calls))]


def _own_place(name: str, layer: int | None, stream: str, placement: NormPlacement) -> NormPlace:
    stack, leaf = name.split(".")[0], name.rpartition(".")[2]
    stream = stack if stack in ("encoder", "decoder") else stream
    if leaf in ENDS:
        return NormPlace(stream, None, ENDS[leaf], ENDS[leaf])
    return NormPlace(stream, layer, PARTS[leaf], placement)


def _is_of(attention: AttentionCall, stream: str) -> bool:
    return attention.stream == stream or (attention.stream == "cross" and stream == "decoder")


def _layers(calls: Sequence[NormCall]) -> list[int | None]:
    """The layer's run that each ran in; by its path where no module is the layer (XLM)."""
    lists = {call.call.path for call in calls if call.call is not None}
    layers: list[int | None] = []
    for call in calls:
        numbers = [int(part) for part in call.name.split(".") if part.isdigit()]
        by_path = numbers[0] if numbers and not lists else None
        layers.append(by_path if call.call is None else call.call.number)
    return layers


# --- placement ---------------------------------------------------------------------------------------------------


def _placements(calls: Sequence[NormCall], layers: Sequence[int | None]) -> list[str]:
    """Place each norm on the residual stream; a norm of unknown use is placed like its like in other layers."""
    seen = [None if layer is None else _placement(call) for call, layer in zip(calls, layers, strict=True)]
    like: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call, placement in zip(calls, seen, strict=True):
        if placement is not None:
            like[_leaf(call)][placement] += 1
    return [
        placement or (like[_leaf(call)].most_common(1) or [("inside", 0)])[0][0]
        for call, placement in zip(calls, seen, strict=True)
    ]


def _leaf(call: NormCall) -> str:
    return re.sub(r"\d+", "", call.name)


def _placement(call: NormCall) -> str | None:
    """ "pre", "post", "output" or "inside"; None where nothing was seen."""
    uses, enters = call.uses, call.call is not None and is_same(call.call.entered, call.input)
    if call.sublayer == "mixer":
        return "inside"
    if call.leaves:
        return "post"
    if uses.input_added and uses.read_in:
        return "pre"
    if uses.output_added and uses.read_in:
        return "post" if uses.input_summed or enters else "inside"
    if uses.output_added:
        return "post" if enters else "output"  # of what enters the layer: the embeddings' (RWKV)
    if uses.input_summed and not uses.input_added and uses.read_in == "ffn":
        return "post"  # the sum goes no further, and no new attention begins (the end of MobileBERT's inner stream)
    return "pre" if uses.read_in or uses.input_added or enters else None


def _nested(calls: Sequence[NormCall], numbers: Sequence[int]) -> list[int]:
    """The norms inside a layer's FFN (of a router): it reads them after the norm that it stands behind."""
    nested: list[int] = []
    begun = False
    for number in numbers:
        uses = calls[number].uses
        if begun and uses.reads == {"ffn"} and not (uses.input_added or uses.input_summed or uses.output_added):
            nested.append(number)
        begun = begun or (uses.input_added and uses.read_in == "ffn")
    return nested


# --- parts -------------------------------------------------------------------------------------------------------


def _parts(
    calls: Sequence[NormCall],
    numbers: Sequence[int],
    placements: Sequence[str],
    *,
    attentions: Sequence[AttentionCall],
    mixers: Sequence[MixerCall],
) -> dict[int, str]:
    """The sublayer of each norm of one layer.

    A norm before a sublayer belongs to the sublayer that reads it. A norm after a sublayer belongs to the last
    attention (or its stand-in) before it, or to the FFN where that attention has a norm already. A norm on any other
    output (Gemma 3n's side branches) is "other".
    """
    parts: dict[int, str] = {}
    taken: set[str] = set()
    last = -2
    for number in numbers:
        call, placement = calls[number], placements[number]
        before = _ran_before(call, number, attentions, mixers)
        fresh = [what for when, what in before if when > last]
        if call.sublayer == "mixer":
            parts[number] = "mixer"
        elif placement == "inside":
            parts[number] = "other"
        elif placement == "pre" or (placement == "post" and not before):
            parts[number] = _read_by(call, attentions)
        elif fresh:
            parts[number] = "attention" if "attention" in fresh else fresh[-1]
        elif placement == "output" and ("ffn" in taken or (not before and _mixes(call, mixers))):
            parts[number] = "other"
        else:
            parts[number] = "ffn"
        if before and (placement in ("post", "output") or parts[number] == "ffn"):
            last = max(when for when, _ in before)
        if before and placement in ("post", "output"):
            taken.add(parts[number])
    return parts


def _mixes(call: NormCall, mixers: Sequence[MixerCall]) -> bool:
    """Return True if the norm's layer mixes tokens at all."""
    layer_call = call.call
    return layer_call is not None and (
        layer_call.attentions.stop > layer_call.attentions.start or any(m.call is layer_call for m in mixers)
    )


def _read_by(call: NormCall, attentions: Sequence[AttentionCall]) -> str:
    reads = call.uses.read_in or "ffn"
    following = attentions[call.attentions_before : call.attentions_before + 1]
    return "cross" if reads == "attention" and following and following[0].stream == "cross" else reads


def _ran_before(
    call: NormCall, number: int, attentions: Sequence[AttentionCall], mixers: Sequence[MixerCall]
) -> list[tuple[int, str]]:
    """List what mixed tokens in the norm's layer before the norm ran: when, and what."""
    start = 0 if call.call is None else call.call.attentions.start
    before = attentions[start : call.attentions_before]
    ran = [
        (2 * (start + when), "cross" if attention.stream == "cross" else "attention")
        for when, attention in enumerate(before)
    ]
    ran += [
        (2 * mixer.attentions_before - 1, "mixer")
        for mixer in mixers
        if mixer.call is call.call and mixer.norms_before <= number
    ]
    return sorted(ran)
