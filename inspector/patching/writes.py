"""Writes to the residual stream: what each writer adds, and what of it stands before a reader.

Writers are the embedding (with the positions that are added to it), each head (its mix A V times its part of W_O), each
layer's attention and FFN. Behind a norm that stands on the stream itself (post-norm), and behind one on a sublayer's
output, a write is what that norm makes of it with its scale held: gamma (delta - mean(delta)) / deviation(x).

Shapes: H heads, Q positions, D width, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from inspector.probe import record_blocks
from inspector.probe.layer_runs import LayerRuns
from inspector.trace import NormRecord, Trace
from inspector.trace.blocks import Addition, Blocks, LayerRecord
from inspector.writers import Writer
from models import output_projection

ReaderPart = Literal["query", "key", "value", "ffn", "logit"]
_TOLERANCE = 1e-4  # of the largest entry of what attention adds


@dataclass(frozen=True, order=True)
class Reader:
    """A reader of the residual stream: a head's query, a kv head's key or value, a layer's FFN, or the logits.

    head: of a query the head, of a key or value the kv head.
    """

    part: ReaderPart
    stream: str
    layer: int = -1
    head: int = -1
    call: int = 0


@dataclass(frozen=True)
class _Stage:
    layer: int
    addition: Addition


@dataclass(frozen=True, eq=False)
class Writes:
    """The writes of one text. runs: its forward, kept by layer."""

    runs: LayerRuns
    trace: Trace

    @cached_property
    def blocks(self) -> Blocks:
        """The inside of every layer."""
        return record_blocks(self.runs.loaded, self.trace)

    def of(self, writer: Writer) -> Tensor:
        """Return what the writer adds to the stream at every token: [1, Q, D].

        Raises ValueError for a writer that there is not, and where what it adds cannot be told.
        """
        stream = _stack(writer.stream)
        if writer.kind == "embedding":
            return self.runs.whole().state(stream, 0)
        added = self._addition(writer)
        return added[None] if writer.kind != "head" else self._head(writer, added)[None]

    def before(self, writer: Writer, reader: Reader) -> Tensor:
        """Return what of the write stands in the stream that the reader reads: [1, Q, D].

        Raises ValueError where the writer writes behind the reader, or to another stream.
        """
        stream = _stack(writer.stream)
        if stream != _stack(reader.stream):
            raise ValueError(f"what writes to the {stream} is not read in the {_stack(reader.stream)} as such")
        begins, ends = self._written(writer), self._read(reader)
        if begins >= ends:
            raise ValueError(
                f"the {read_by(reader)} reads before the {written_by(writer)} writes; choose a later reader"
            )
        delta = self.of(writer)
        for place in range(max(begins, 0), ends):
            norm = self.norm(stream, self._stages[stream][place], "post")
            delta = delta if norm is None else share(norm, delta)
        return delta

    def shifts_at(self, reader: Reader) -> str:
        """The path of the norm on the stream right before what the reader reads, inside its layer; "" for none."""
        stream = _stack(reader.stream)
        if reader.part == "logit" or not self._read(reader):
            return ""
        stage = self._stages[stream][self._read(reader) - 1]
        norm = self.norm(stream, stage, "post")
        return "" if norm is None or stage.layer != reader.layer else norm.name

    def norm(self, stream: str, stage: _Stage, placement: str) -> NormRecord | None:
        """The norm of a sublayer at a placement."""
        want = (stream, stage.layer, stage.addition.part, placement)
        return next(
            (norm for norm in self.trace.norms if (norm.stream, norm.layer, norm.part, norm.placement) == want), None
        )

    @cached_property
    def _stages(self) -> dict[str, list[_Stage]]:
        return {
            stream: [
                _Stage(layer.layer, part)
                for layer in self.blocks.of(stream)
                for part in additions_of(layer, self.trace)
            ]
            for stream in self.runs.layers
        }

    def _written(self, writer: Writer) -> int:
        """The number of the stage that writes; -1 for the embedding."""
        if writer.kind == "embedding":
            return -1
        if writer.kind not in ("head", "attention", "ffn") or writer.layer is None or writer.source is not None:
            raise ValueError(f"edges are cut from the embedding, a head, an attention or an FFN, not from {writer}")
        part = "ffn" if writer.kind == "ffn" else "cross" if writer.stream == "cross" else "attention"
        return self._stage(_stack(writer.stream), writer.layer, part)

    def _read(self, reader: Reader) -> int:
        """Count the stages that have written when the reader reads."""
        stages = self._stages[_stack(reader.stream)]
        if reader.part == "logit":
            return len(stages)
        part = "ffn" if reader.part == "ffn" else "cross" if reader.stream == "cross" else "attention"
        place = self._stage(_stack(reader.stream), reader.layer, part)
        return place - 1 if stages[place].addition.beside else place

    def _stage(self, stream: str, layer: int, part: str) -> int:
        stages = self._stages[stream]
        place = next((at for at, one in enumerate(stages) if (one.layer, one.addition.part) == (layer, part)), None)
        if place is None:
            raise ValueError(f"no {part} of {self.trace.model} was seen to add to the {stream} in layer {layer}")
        return place

    def _addition(self, writer: Writer) -> Tensor:
        """Return what the writer's sublayer adds: [Q, D]."""
        stage = self._stages[_stack(writer.stream)][self._written(writer)]
        if stage.addition.added is None:
            raise ValueError(
                f"what the {stage.addition.part} of layer {stage.layer} of {self.trace.model} adds was not seen"
            )
        return torch.tensor(stage.addition.added)

    def _head(self, writer: Writer, added: Tensor) -> Tensor:
        """The head's part of what attention adds: z W_O, times what stands between W_O and the sum."""
        assert writer.layer is not None
        place = (writer.stream, writer.layer, writer.call)
        mixed = self.runs.mixed[place][0].float().cpu()
        if writer.head is None or not 0 <= writer.head < len(mixed):
            raise ValueError(f"head {writer.head} is out of range: layer {writer.layer} has 0 to {len(mixed) - 1}")
        projection = output_projection.find(self.runs.loaded)[place]
        each = torch.einsum("hqe,hed->hqd", mixed, projection.weight.float())
        bias = torch.zeros(()) if projection.bias is None else projection.bias.float()
        whole = each.sum(dim=0) + bias
        stage = self._stages[_stack(writer.stream)][self._written(writer)]
        norm = self.norm(_stack(writer.stream), stage, "output")
        if norm is not None and _same(whole, torch.tensor(norm.input)):
            return share(norm, each[writer.head])
        factor = float((added * whole).sum() / whole.square().sum().clamp(min=1e-30))
        if not _same(factor * whole, added):
            raise ValueError(
                f"what the heads of layer {writer.layer} of {self.trace.model} write does not sum up to what its "
                "attention adds, so no head's part can be cut; cut the layer's attention"
            )
        return factor * each[writer.head] if abs(factor - 1) > _TOLERANCE else each[writer.head]


def additions_of(layer: LayerRecord, trace: Trace) -> tuple[Addition, ...]:
    """List what a layer's sublayers add; a mixture of experts adds what the others leave over."""
    parts = layer.additions
    on_stream = any(norm.placement == "post" for norm in trace.norms if norm.layer == layer.layer)
    if on_stream or any(part.part == "ffn" or part.added is None for part in parts):
        return parts
    rest = layer.leaves - layer.enters - sum(part.added for part in parts if part.added is not None)
    return (*parts, Addition("ffn", rest))


def share(norm: NormRecord, delta: Tensor) -> Tensor:
    """Pass delta [..., Q, D] through a recorded norm whose scale is held."""
    x = torch.tensor(norm.input)
    gamma, running = torch.tensor(norm.gamma), None if norm.running is None else torch.tensor(norm.running)
    return held_share(x, delta, gamma, kind=norm.kind, epsilon=norm.epsilon, groups=norm.groups, running=running)


def held_share(
    x: Tensor,
    delta: Tensor,
    gamma: Tensor,
    *,
    kind: str,
    epsilon: float,
    groups: int = 1,
    running: Tensor | None = None,
) -> Tensor:
    """The share of delta [..., D] in the norm of x, whose scale is held: gamma (delta - mean(delta)) / deviation(x).

    kind, epsilon, groups, running: as in `norm_formula.normalise`; an RMSNorm takes no mean off.
    """
    if kind == "batch":
        assert running is not None
        return gamma * delta * torch.rsqrt(running[1] + epsilon)
    if kind == "layer":
        x, delta = x - x.mean(dim=-1, keepdim=True), delta - delta.mean(dim=-1, keepdim=True)
    parts = x.reshape(*x.shape[:-1], groups, -1)
    scale = torch.rsqrt(parts.square().mean(dim=-1, keepdim=True) + epsilon)
    return gamma * (delta.reshape(*delta.shape[:-1], groups, -1) * scale).flatten(-2)


def _same(a: Tensor, b: Tensor) -> bool:
    return float((a - b.float()).abs().max()) <= _TOLERANCE * float(b.abs().max())


def _stack(stream: str) -> str:
    return "decoder" if stream == "cross" else stream


def written_by(writer: Writer, *, stream: str = "") -> str:
    """Name a writer by its place, as `notation` reads it: "head 2.4"; stream: that need not be named."""
    head = "" if writer.head is None else f".{writer.head}"
    return _prefix(writer.stream, stream) + writer.kind + ("" if writer.layer is None else f" {writer.layer}{head}")


def read_by(reader: Reader, *, stream: str = "") -> str:
    """Name a reader by its place, as `notation` reads it: "query 2.4"; stream: that need not be named."""
    head = "" if reader.head < 0 else f".{reader.head}"
    return _prefix(reader.stream, stream) + reader.part + ("" if reader.layer < 0 else f" {reader.layer}{head}")


def _prefix(stream: str, known: str) -> str:
    return f"{stream} " if stream == "cross" or known not in ("", stream) else ""
