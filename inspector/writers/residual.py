"""The residual stream of one token as a sum of writers: embedding, positions, each head, each FFN, each bias.

x = e + p + sum_l (sum_h z_h W_O^h + b_O) + FFN_l. With the scales of this text held, a norm is linear: behind a norm
each writer is written on through gamma / deviation, and beta is a writer (Elhage et al. 2021; Kobayashi et al. 2021).

Shapes: N writers, H heads, Q positions, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from inspector import block, positional
from inspector.probe import record_blocks, record_projections
from inspector.probe.projections import CallProjections
from inspector.trace import AttentionRecord, NormRecord, Trace
from inspector.trace.blocks import Blocks, LayerRecord
from models import LoadedModel, output_projection
from models.attention import attend_rows
from models.output_projection import OutputProjection, ProjectionPlace

Floats = NDArray[np.float64]
Kind = Literal["embedding", "positions", "head", "attention", "ffn", "bias", "beta", "distance"]

TOLERANCE = 1e-4  # of the largest entry of what is compared; in half precision some of its last digits
_HALF_DIGITS = 8
_CALLS = 4  # attention calls whose projections are kept


@dataclass(frozen=True)
class Writer:
    """A part of a model that writes to the residual stream.

    kind: "head"; "attention", where the heads of a layer are one writer, `whole` says why; "ffn"; "bias", the parameter
    `name`; "beta", of the norm `name`; "embedding"; "positions"; "distance", a vector of the attention function. layer:
    None for what is written before the first layer or behind the last. call: of a layer that attends more than once.
    source: the token that a head took it from, where the head is opened.
    """

    kind: Kind
    stream: str
    layer: int | None = None
    head: int | None = None
    call: int = 0
    name: str = ""
    whole: str = ""
    source: int | None = None


@dataclass(frozen=True, eq=False)
class Written:
    """A state of one token as a sum: a vector [D] of each of the writers, float64 [N, D]."""

    writers: tuple[Writer, ...]
    vectors: Floats

    def then(self, writers: Sequence[Writer], vectors: Floats) -> Written:
        """Add writers and their vectors [n, D]."""
        return Written((*self.writers, *writers), np.concatenate([self.vectors, vectors]))

    def through(self, norm: NormRecord, position: int, *, stream: str) -> Written:
        """Pass every writer through a norm with the scales that it has at a token; beta becomes a writer."""
        vectors, beta = held(norm, self.vectors, position)
        passed = Written(self.writers, vectors)
        return passed.then([Writer("beta", stream, norm.layer, name=norm.name)], beta[None]) if beta.any() else passed


def held(norm: NormRecord, vectors: Floats, position: int) -> tuple[Floats, Floats]:
    """Pass vectors [N, D] through a norm whose scale is the one of a token; also give what it adds to their sum, [D].

    norm(x) = gamma (x - mean) / deviation + beta, so each vector gives gamma (v - mean(v)) / deviation.
    """
    x = norm.input[position].astype(np.float64)
    gamma, beta = norm.gamma.astype(np.float64), norm.beta.astype(np.float64)
    if norm.gate is not None:
        raise ValueError(f"the norm {norm.name} multiplies by a gate, which is not followed")
    if norm.kind == "batch":
        assert norm.running is not None
        mean, variance = norm.running.astype(np.float64)
        scale = gamma / np.sqrt(variance + norm.epsilon)
        return vectors * scale, beta - mean * scale
    if norm.kind == "layer":
        centred = vectors - vectors.mean(axis=-1, keepdims=True)
        return gamma * centred / np.sqrt(x.var() + norm.epsilon), beta
    squares = np.square(x).reshape(norm.groups, -1).mean(axis=-1)
    return gamma * vectors / np.sqrt(squares + norm.epsilon).repeat(len(x) // norm.groups), beta


@dataclass(frozen=True, eq=False)
class Inside:
    """A recorded text with the inside of its layers: what all questions about its writers share.

    blocks: as `record_blocks` gives them. outputs: W_O of each attention call, and unsplit: why there is none.
    """

    trace: Trace
    loaded: LoadedModel
    blocks: Blocks
    outputs: Mapping[ProjectionPlace, OutputProjection]
    unsplit: str = ""
    _sublayers: dict[str, list[Sublayer]] = field(default_factory=dict, repr=False)
    _projections: dict[ProjectionPlace, CallProjections] = field(default_factory=dict, repr=False)

    def sublayers(self, stream: str) -> list[Sublayer]:
        """Every sublayer of a stream in its order. Raises ValueError where a layer's block is not followed."""
        if stream not in self._sublayers:
            layers = self.blocks.of(stream)
            if not layers or layers[0].layer != 0:
                raise ValueError(f"the layers of {self.trace.model}'s {stream} were not all seen")
            self._sublayers[stream] = [part for layer in layers for part in _sublayers(self.trace, layer)]
        return self._sublayers[stream]

    def projections(self, *, layer: int, stream: str, call: int = 0) -> CallProjections:
        """The projections of an attention call; those of the last calls are kept."""
        place = stream, layer, call
        if place not in self._projections:
            if len(self._projections) >= _CALLS:
                del self._projections[next(iter(self._projections))]
            self._projections[place] = record_projections(
                self.loaded, self.trace, layer=layer, stream=stream, call=call
            )
        return self._projections[place]

    @cached_property
    def tables(self) -> tuple[positional.PositionTable, ...]:
        """The model's tables of absolute positions."""
        return positional.tables(self.loaded)

    @cached_property
    def allowed(self) -> float:
        """The share of the largest entry by which two computations of a state may differ."""
        digits = torch.finfo(self.trace.hidden.dtype).eps
        return max(TOLERANCE, _HALF_DIGITS * digits if digits > 1e-5 else 0.0)

    def same(self, a: Floats, b: Floats) -> bool:
        """Return True where two vectors are equal but for rounding."""
        return a.shape == b.shape and bool(np.abs(a - b).max() <= self.allowed * max(np.abs(b).max(), 1e-30))


def look_inside(trace: Trace, loaded: LoadedModel, *, blocks: Blocks | None = None) -> Inside:
    """Run a trace's text once more and keep what its writers are told from.

    blocks: what `record_blocks` gave, where it is at hand.

    Raises ValueError where the layers cannot be told, or the model gives other numbers than the trace has.
    """
    blocks = record_blocks(loaded, trace) if blocks is None else blocks
    try:
        outputs, unsplit = output_projection.find(loaded), ""
    except ValueError as error:
        outputs, unsplit = {}, str(error)
    return Inside(trace, loaded, blocks, outputs, unsplit)


def written(
    inside: Inside,
    *,
    stream: str,
    position: int,
    before: tuple[int, str, int] | None = None,
    opened: Writer | None = None,
) -> Written:
    """Tell who wrote the residual stream of a token before the sublayer (layer, part, call), or after the last layer.

    opened: a head that is split by the tokens that it read.

    Raises ValueError where a layer's block is not followed, and where the writers do not sum up to the state.
    """
    groups = _groups(inside.sublayers(stream))
    state = _embedded(inside, stream, position)
    for group in groups:
        if before in [part.place for part in group]:
            target = group[0].before(position)
            break
        for part in group:
            state = _added(inside, state, part, position, opened)
        norm = group[-1].norm
        state = state if norm is None else state.through(norm, position, stream=stream)
    else:
        target = inside.blocks.of(stream)[-1].leaves[position].astype(np.float64)
        if before is not None:
            raise ValueError(f"layer {before[0]} of {inside.trace.model}'s {stream} has no {before[1]} {before[2]}")
    total = state.vectors.sum(axis=0)
    if not inside.same(total, target):
        off = np.abs(total - target).max() / np.abs(target).max()
        raise ValueError(
            f"what the parts of {inside.trace.model} write to token {position} of the {stream} does not sum up to its "
            f"state: it differs by {off:.2g} of the largest number, so the writers cannot be told"
        )
    return state


def entered(
    inside: Inside, state: Written, norms: Sequence[NormRecord], given: Floats, position: int, *, what: str
) -> Written:
    """Pass a state's writers on to what is given [D]: the state itself, or what one of the norms makes of it.

    Raises ValueError where it is neither; what: what is given, in words.
    """
    total = state.vectors.sum(axis=0)
    ways = [state]
    for norm in norms:
        if inside.same(total, norm.input[position].astype(np.float64)):
            ways.append(state.through(norm, position, stream=state.writers[0].stream))
    if given.shape == total.shape:
        nearest = min(ways, key=lambda way: float(np.abs(way.vectors.sum(axis=0) - given).max()))
        if inside.same(nearest.vectors.sum(axis=0), given):
            return nearest
    raise ValueError(
        f"{what} at token {position} of {inside.trace.model} is neither the residual stream nor its norm, so who wrote "
        "it cannot be told"
    )


# --- before the first layer ----------------------------------------------------------------------------------------


def _embedded(inside: Inside, stream: str, position: int) -> Written:
    """Split the state that goes into layer 0 by what was added up before it."""
    trace, states = inside.trace, inside.blocks.of(stream)[0].enters
    norm = next((norm for norm in trace.norms if norm.stream == stream and norm.placement == "embedding"), None)
    whole = states[position].astype(np.float64)
    if norm is not None and (norm.input.shape[-1] != len(whole) or not inside.same(norm.output[position], whole)):
        norm = None
    given = states if norm is None else norm.input
    writers, vectors = _summands(inside, stream, position, given.astype(np.float64))
    start = Written(tuple(writers), vectors)
    return start if norm is None else start.through(norm, position, stream=stream)


def _summands(inside: Inside, stream: str, position: int, given: Floats) -> tuple[list[Writer], Floats]:
    """Take the token's row, times 1 or sqrt(D), and the position's row apart; what is left has to be one vector.

    given [Q, D]: the sum. Where the sum is not such, the whole is the writer "embedding".
    """
    whole = [Writer("embedding", stream)], given[position][None]
    if not inside.blocks.embedding:
        return whole
    table = inside.loaded.network.get_parameter(inside.blocks.embedding)
    ids = list(inside.trace.read_by(stream).ids)
    if table.shape[-1] != given.shape[-1] or len(ids) != len(given):
        return whole
    rows = table[ids].detach().double().cpu().numpy()
    largest = np.abs(given).max()
    for times in (1.0, float(np.sqrt(given.shape[-1]))):
        rest = given - times * rows
        for positions in (None, *(table.values for table in inside.tables)):
            if positions is not None and (positions.shape[-1] != given.shape[-1] or len(positions) < len(given)):
                continue
            left = rest if positions is None else rest - positions[: len(given)]
            if np.abs(left - left[0]).max() > inside.allowed * largest:
                continue
            writers, vectors = [Writer("embedding", stream)], [times * rows[position]]
            if positions is not None:
                writers.append(Writer("positions", stream))
                vectors.append(positions[position].astype(np.float64))
            if np.abs(left[0]).max() > inside.allowed * largest:
                writers.append(Writer("bias", stream, name="embedding"))
            else:
                vectors[0] = vectors[0] + left[position]  # rounding
                return writers, np.stack(vectors)
            return writers, np.stack([*vectors, left[position]])
    return whole


# --- sublayers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sublayer:
    """A sublayer of a layer: its part and which of its like it is, as `call`; what it adds, [Q, D].

    stream: of its attention, "cross" for cross-attention. norm: behind the sum. beside: it reads the stream before the
    sublayer ahead of it. enters: the layer's input; earlier: the sublayers ahead of it in the layer.
    """

    stream: str
    layer: int
    part: str
    call: int
    added: NDArray[np.floating[Any]]
    norm: NormRecord | None
    beside: bool
    enters: NDArray[np.floating[Any]]
    earlier: tuple[Sublayer, ...]

    @property
    def place(self) -> tuple[int, str, int]:
        """Layer, part and call."""
        return self.layer, self.part, self.call

    def before(self, position: int) -> Floats:
        """Add up the state of a token that the sublayer reads, [D]."""
        state: Floats = self.enters[position].astype(np.float64)
        for part in self.earlier:
            state = state + part.added[position]
            if part.norm is not None:
                state = part.norm.output[position].astype(np.float64)
        return state


def _sublayers(trace: Trace, layer: LayerRecord) -> list[Sublayer]:
    """Hold what the parts of a layer add to what the layer leaves, and keep the parts without the states between."""
    parts: list[Sublayer] = []
    for stage in block.of_layer(trace, layer):
        stream = "cross" if stage.part == "cross" else layer.stream
        call = sum(part.part == stage.part for part in parts)
        parts.append(
            Sublayer(
                stream=stream,
                layer=layer.layer,
                part=stage.part,
                call=call,
                added=stage.added,
                norm=stage.norm,
                beside=stage.beside,
                enters=layer.enters,
                earlier=tuple(parts),
            )
        )
    return parts


def _groups(parts: Sequence[Sublayer]) -> list[list[Sublayer]]:
    """Group the sublayers that read one state."""
    groups: list[list[Sublayer]] = []
    for part in parts:
        if part.beside and groups:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _added(inside: Inside, state: Written, part: Sublayer, position: int, opened: Writer | None) -> Written:
    added = part.added[position].astype(np.float64)
    if part.part == "ffn":
        return state.then([Writer("ffn", part.stream, part.layer, call=part.call)], added[None])
    heads = _heads(inside, part, position, added, opened)
    if isinstance(heads, str):
        return state.then([Writer("attention", part.stream, part.layer, call=part.call, whole=heads)], added[None])
    return state.then(heads.writers, heads.vectors)


def _heads(inside: Inside, at: Sublayer, position: int, added: Floats, opened: Writer | None) -> Written | str:
    """Tell what each head adds at a token, and the bias behind W_O; or why the heads cannot be told apart."""
    projection = inside.outputs.get((at.stream, at.layer, at.call))
    if projection is None:
        return inside.unsplit or f"no output projection of layer {at.layer} was seen"
    mixed, _ = attended(inside.trace.record_of(at.layer, at.stream, call=at.call), position)
    if not mixed.size:
        return "the values of its heads were not seen"
    writers = [Writer("head", at.stream, at.layer, head, at.call) for head in range(len(mixed))]
    vectors = np.einsum("he,hed->hd", mixed, projection.weight.double().numpy())
    heads = Written(tuple(writers), vectors)
    if opened in writers:
        heads = _by_source(inside, heads, opened, position)
    if projection.bias is not None:
        bias = Writer("bias", at.stream, at.layer, call=at.call, name="W_O")
        heads = heads.then([bias], projection.bias.double().numpy()[None])
    return _to_sum(inside, heads, at, position, added)


def _to_sum(inside: Inside, heads: Written, at: Sublayer, position: int, added: Floats) -> Written | str:
    """Pass what heads write through what stands before the sum: an output norm, a constant factor."""
    cross = at.stream == "cross"
    place = "decoder" if cross else at.stream, at.layer, "cross" if cross else "attention", "output"
    norms = [norm for norm in inside.trace.norms if (norm.stream, norm.layer, norm.part, norm.placement) == place]
    passed = heads.through(norms[0], position, stream=at.stream) if norms else heads
    total = passed.vectors.sum(axis=0)
    if inside.same(total, added):
        return passed
    factor = float(total @ added / max(total @ total, 1e-30))
    if inside.same(factor * total, added):
        return Written(passed.writers, factor * passed.vectors)
    off = np.abs(total - added).max() / max(np.abs(added).max(), 1e-30)
    return f"its heads do not sum up to what its attention adds on this text: they differ by {off:.2g} of it"


def attended(record: AttentionRecord, position: int) -> tuple[Floats, Floats]:
    """Attend with one query as the model does: the mixed values before W_O [H, E], and the weights [H, T].

    E is 0 where the values were not seen.
    """
    rows = slice(position, position + 1)
    query = record.query[None, :, rows].contiguous()
    with torch.no_grad():
        made = attend_rows(record.function, query, record.key[None], record.value[None], mask=record.mask, rows=rows)
    weights = np.zeros((len(record.query), len(record.key[0])))
    weights[:, made.band] = made.weights[0, :, 0, : made.band.stop - made.band.start].double().cpu().numpy()
    return made.output[0, :, 0].double().cpu().numpy(), weights


def _by_source(inside: Inside, heads: Written, writer: Writer, position: int) -> Written:
    """Split a head by the tokens that it took its output from: weight_j v_j W_O^h, a writer for each.

    Raises ValueError for a head whose output is no weighted sum of values.
    """
    assert writer.layer is not None
    assert writer.head is not None
    record = inside.trace.record_of(writer.layer, writer.stream, call=writer.call)
    projection = inside.outputs[writer.stream, writer.layer, writer.call]
    _, weights = attended(record, position)
    value = record.value[record.site.kv_group(writer.head)].double().cpu().numpy()
    vectors = (weights[writer.head][:, None] * value) @ projection.weight[writer.head].double().numpy()  # [T, D]
    at = heads.writers.index(writer)
    if not inside.same(vectors.sum(axis=0), heads.vectors[at]):
        raise ValueError(
            f"head {writer.head} of {record.site.name} takes more than a weighted sum of the values of tokens, so it "
            "cannot be split by token"
        )
    tokens = [replace(writer, source=token) for token in range(len(vectors))]
    others = Written(heads.writers[:at] + heads.writers[at + 1 :], np.delete(heads.vectors, at, axis=0))
    return others.then(tokens, vectors)


# --- as tables -----------------------------------------------------------------------------------------------------


def table(writers: Sequence[Writer]) -> pd.DataFrame:
    """List writers, a row each: kind, stream, layer, head, call, source, name, whole, as in `Writer`."""
    return pd.DataFrame(
        {
            "kind": [writer.kind for writer in writers],
            "stream": [writer.stream for writer in writers],
            "layer": pd.array([writer.layer for writer in writers], dtype="Int64"),
            "head": pd.array([writer.head for writer in writers], dtype="Int64"),
            "call": [writer.call for writer in writers],
            "source": pd.array([writer.source for writer in writers], dtype="Int64"),
            "name": [writer.name for writer in writers],
            "whole": [writer.whole for writer in writers],
        }
    )
