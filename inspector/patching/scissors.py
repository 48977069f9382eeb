"""Scissors: a head, the columns of some tokens, or the edge from a writer to a reader is cut, and the model runs again.

A writer adds delta to the residual stream; cutting its edge to a reader lets that reader alone read norm(x - delta),
and every other what it read before. The reader's layer is run a second time on x - delta, up to the point where its
queries, keys and values stand ready; those of the reader are put into the run. So rotary embeddings, norms of queries
and keys, fused matrices and latent keys are the model's own, and nothing is linear but where norms are held.

Norms live: the reader's norms divide by the deviation of x - delta. Held: by that of x, so that the reader loses
exactly the writer's share. Path patching puts another text's delta in the place of this text's (Wang et al. 2023,
"Interpretability in the Wild"; Goldowsky-Dill et al. 2023).

Shapes: H heads, K kv heads, Q query positions, D width, E head width.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import torch
from torch import Tensor, nn

from inspector.interventions.change import hidden_in, recorded
from inspector.patching.pair import Answer, answer_of
from inspector.patching.writes import Reader, Writes, held_share
from inspector.probe.layer_edits import LayerEdit, LayerInputs, NoEdit, editing_layers
from inspector.probe.layer_runs import Compute, LayerRuns, Place, keep_layers
from inspector.probe.norm_kinds import parameters
from inspector.probe.norm_places import stream_of
from inspector.probe.sublayer_sums import SumPlace, changing_sums, find_sum, operands
from inspector.trace import Trace
from inspector.writers import Inside, LogitWriters, Writer, look_inside, of_logit
from models import LoadedModel
from models.attention import AttentionCall, editing
from models.attention.dropping import ModelHead
from models.attention.running_layer import CallPlaces, following

Norms = Literal["live", "held"]
AttendAgain = Callable[[Place, AttentionCall, Compute], Tensor]


@dataclass(frozen=True, order=True)
class HeadCut:
    """A head's output A V set to zero, or to its mean over the text's tokens.

    The mean tells a decoder's token of those that come after it; zero tells nothing.
    """

    head: ModelHead
    to: Literal["zero", "mean"] = "zero"


@dataclass(frozen=True, order=True)
class SpanCut:
    """The columns of some tokens in one head's map: what these keys hand over is left out of A V.

    The weights of the other keys stay what they are: they are not made to sum to 1 again.
    """

    head: ModelHead
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class EdgeCut:
    """The edge from a writer to a reader: the reader alone reads the stream without the write."""

    writer: Writer
    reader: Reader
    norms: Norms = "live"


Cut = HeadCut | SpanCut | EdgeCut


@dataclass(frozen=True, eq=False)
class Uncut:
    """A text and its answer, before anything is cut."""

    loaded: LoadedModel
    trace: Trace
    answer: Answer

    @cached_property
    def runs(self) -> LayerRuns:
        """The forward, kept by layer."""
        return keep_layers(self.loaded, self.trace)

    @cached_property
    def writes(self) -> Writes:
        """The writes of the text."""
        return Writes(self.runs, self.trace)

    @cached_property
    def inside(self) -> Inside:
        """The inside of the layers, from which shares are told."""
        return look_inside(self.trace, self.loaded)

    @cached_property
    def split(self) -> LogitWriters:
        """The answer's logit, or the difference of two, by its writers."""
        asked = self.answer
        return of_logit(
            self.trace,
            self.loaded,
            position=asked.position,
            token=asked.token,
            against=asked.against,
            inside=self.inside,
        )

    @cached_property
    def measured(self) -> float:
        """The answer of the whole model."""
        return float(self.answer.of(self.runs.logits(self.runs.hidden, position=self.answer.position))[0])

    def reader(self, part: Literal["query", "key", "value"], head: ModelHead) -> Reader:
        """The reader that is a head's query, or the key or value of the kv head that it shares."""
        call = self.runs.attention.get((head.stream, head.layer, head.call))
        if call is None:
            raise ValueError(f"layer {head.layer} of the {head.stream} has no attention")
        group = 1 if part == "query" else call.query.shape[1] // call.key.shape[1]
        return Reader(part, head.stream, head.layer, head.head // group, head.call)

    def kv_heads(self, reader: Reader) -> tuple[int, ...]:
        """The query heads that read a reader's key or value; of a query the head itself."""
        if reader.part not in ("key", "value"):
            return (reader.head,)
        call = self.runs.attention[reader.stream, reader.layer, reader.call]
        group = call.query.shape[1] // call.key.shape[1]
        return tuple(range(reader.head * group, (reader.head + 1) * group))


@dataclass(frozen=True, eq=False)
class CutRun:
    """A run with cuts. before, after: the answer; calls: the attention calls as they ran, in layers that ran again.

    hidden: the last hidden state [1, Q, D].
    """

    cuts: tuple[Cut, ...]
    before: float
    after: float
    calls: dict[Place, AttentionCall]
    hidden: Tensor

    @property
    def effect(self) -> float:
        """The distance that the answer moved, signed."""
        return self.after - self.before


def read(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    answer: str | int | None = None,
    against: str | int | None = None,
    position: int | None = None,
    normalised: bool = False,
    target: str | None = None,
    hidden: Sequence[int] = (),
) -> Uncut:
    """Read a text whose paths are to be cut; answer and hidden as in `pair`, by default the likeliest token alone.

    Raises ValueError as `pair` does.
    """
    trace = hidden_in(loaded, recorded(loaded, text, target=target), hidden)
    asked = answer_of(loaded, [trace], answer=answer, against=against, position=position, normalised=normalised)
    return Uncut(loaded, trace, asked)


def cut(uncut: Uncut, cuts: Sequence[Cut], *, instead: Uncut | None = None) -> CutRun:
    """Run the model with all of the cuts together.

    instead: another text of equal length, whose write stands on each cut edge in the place of this text's (path
    patching); by default nothing does. What a writer writes is what it writes where nothing is cut.

    Raises ValueError for a head, token, writer or reader that there is not, for a reader before its writer, and for a
    norm that cannot be held.
    """
    runs = uncut.runs
    edit = _Cuts(uncut, tuple(cuts), instead)
    if not cuts:
        return CutRun((), uncut.measured, uncut.measured, {}, runs.hidden)
    with torch.inference_mode():
        hidden = edit.run()
        after = float(uncut.answer.of(runs.logits(hidden, position=uncut.answer.position))[0])
    return CutRun(tuple(cuts), uncut.measured, after, edit.calls, hidden)


class _MadeError(Exception):
    """Ends the second run of a layer once its queries, keys and values are there."""


@dataclass(frozen=True, eq=False)
class _Shift:
    """A part of the stream that some readers do not read: delta [1, Q, D], and whether norms are held meanwhile."""

    delta: Tensor
    held: bool

    @property
    def key(self) -> int:
        """A number that equal deltas share."""
        return hash(self.delta.numpy().tobytes())


class _Cuts(NoEdit):
    """One run with cuts, as an edit of its layers and its attention."""

    def __init__(self, uncut: Uncut, cuts: Sequence[Cut], instead: Uncut | None) -> None:
        self._uncut, self._runs, self._writes = uncut, uncut.runs, uncut.writes
        self.calls: dict[Place, AttentionCall] = {}
        self._mixed: dict[Place, Tensor] = {}
        self._made: dict[Place, list[tuple[Reader, AttentionCall]]] = defaultdict(list)
        self._heads: dict[Place, list[HeadCut | SpanCut]] = defaultdict(list)
        shifts: dict[tuple[Reader, bool], Tensor] = {}
        whole = {head.head for head in cuts if isinstance(head, HeadCut)}
        for one in cuts:
            if isinstance(one, EdgeCut):
                self._check(one.reader)
                if _head_of(one.writer) in whole:
                    raise ValueError(
                        f"head {one.writer.layer}.{one.writer.head} is cut whole, so its edges carry nothing"
                    )
                delta = uncut.writes.before(one.writer, one.reader)
                if instead is not None:
                    delta = delta - instead.writes.before(one.writer, one.reader)
                asked = (one.reader, one.norms == "held")
                shifts[asked] = shifts[asked] + delta if asked in shifts else delta
            else:
                self._check_head(one)
                self._heads[one.head.stream, one.head.layer, one.head.call].append(one)
        self._edges: dict[tuple[str, int], list[tuple[Reader, _Shift]]] = defaultdict(list)
        if not self._runs.resumes and any(reader.part != "logit" for reader, _ in shifts):
            raise ValueError(
                f"the layers of {uncut.loaded.card.id} cannot be run alone, so no edge into one can be cut; cut a "
                "head, or an edge into the logit"
            )
        for (reader, held), delta in shifts.items():
            self._edges[_stack(reader.stream), reader.layer].append((reader, _Shift(delta, held)))

        self._sums = {
            reader: self._ffn_sums(reader)
            for reader, _ in shifts
            if reader.part == "ffn" and self._writes.shifts_at(reader)
        }

    def run(self) -> Tensor:
        """Run the model from the lowest layer that is cut: the last hidden state [1, Q, D]."""
        runs = self._runs
        touched = [("decoder" if place[0] == "cross" else place[0], place[1]) for place in self._heads]
        touched += self._edges
        deepest = len(runs.layers[runs.last]) - 1
        first = min(deepest if layer < 0 else layer for _, layer in touched)
        if not runs.resumes or any(stream != runs.last for stream, _ in touched):
            return runs.forward(self, rows=1, edit=self.attends)
        with editing_layers(runs.loaded.network, self):
            return runs.resume(runs.last, first, runs.state(runs.last, first), edit=self.attends)

    # --- what the run asks ---

    def attends(self, place: Place, call: AttentionCall, compute: Compute) -> Tensor:
        """Put the cut queries, keys and values into the call, and cut heads and columns out of what it gives."""
        for reader, made in self._made.get(place, ()):
            name = reader.part
            put = getattr(call, name).clone()
            put[:, reader.head] = getattr(made, name)[:, reader.head]
            call = replace(call, **{name: put})
        self.calls[place] = call
        mixed = compute(call)
        for one in self._heads.get(place, ()):
            mixed = mixed.clone()
            if isinstance(one, HeadCut):
                head = mixed[:, one.head.head]
                mixed[:, one.head.head] = 0.0 if one.to == "zero" else head.mean(dim=1, keepdim=True)
            else:
                value = call.value.clone()
                value[:, :, list(one.tokens)] = 0.0
                mixed[:, one.head.head] = compute(replace(call, value=value))[:, one.head.head]
        self._mixed[place] = mixed
        return mixed

    def enters(self, inputs: LayerInputs) -> LayerInputs:
        """Make the cut queries, keys and values of the layer that begins."""
        edges = self._edges.get(self._at(inputs), ())
        calls: dict[tuple[Place, int, bool], AttentionCall] = {}  # readers that read the same share one
        for reader, shift in edges:
            if reader.part in ("query", "key", "value"):
                place: Place = (reader.stream, reader.layer, reader.call)
                asked = (place, shift.key, shift.held)
                if asked not in calls:
                    calls[asked] = self._made_call(inputs, place, reader, shift)
                self._made[place].append((reader, calls[asked]))
        return inputs

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        """Put what the FFN makes of the cut stream in the place of what it made; cut what the logits read."""
        stream, layer = self._at(inputs)
        for reader, shift in self._edges.get((stream, layer), ()):
            if reader.part == "ffn":
                state = self._with_ffn(inputs, reader, shift)
        last = stream == self._runs.last and layer == len(self._runs.layers[stream]) - 1
        for _, shift in self._edges.get((stream, -1), ()) if last else ():
            if not shift.held or self._runs.end is None:
                state = state - shift.delta.to(state)
        return state

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        """Take from the last norm's output what the logits do not read, where its scale is held."""
        if module is not self._runs.end:
            return output
        for _, shift in self._edges.get((self._runs.last, -1), ()):
            if shift.held:
                output = output - _held(module, x, shift.delta.to(x))
        return output

    # --- second runs of a layer ---

    def _made_call(self, inputs: LayerInputs, place: Place, reader: Reader, shift: _Shift) -> AttentionCall:
        """The attention call of a layer that reads the shifted stream."""
        before: dict[Place, Tensor] = {}
        if (place[0], place[2]) != (_stack(place[0]), 0):  # its query comes behind another attention of the layer
            self._again(inputs, None, lambda at, call, compute: before.setdefault(at, compute(call)))
        made: list[AttentionCall] = []

        def attend(at: Place, call: AttentionCall, compute: Compute) -> Tensor:
            if at != place:
                return before[at] if at in before else compute(call)
            made.append(call)
            raise _MadeError

        self._shifted(inputs, reader, shift, attend)
        return made[-1]

    def _with_ffn(self, inputs: LayerInputs, reader: Reader, shift: _Shift) -> Tensor:
        """Run the layer with its FFN on the shifted stream; its attention stays what it gave."""

        def held(at: Place, call: AttentionCall, compute: Compute) -> Tensor:
            return self._mixed[at]

        if not self._writes.shifts_at(reader):  # the stream goes past the FFN untouched
            delta = shift.delta.to(inputs.state)
            return self._shifted(inputs, reader, shift, held) + delta
        places, state = self._sums[reader], inputs.state
        assert state is not None
        seen: dict[SumPlace, Tensor] = {}
        with changing_sums(state, {place: partial(_keep, seen, place) for place in places}):
            self._shifted(inputs, reader, shift, held)
        with changing_sums(state, {place: partial(_put, seen, place) for place in places}):
            return self._again(inputs, None, held)

    def _shifted(self, inputs: LayerInputs, reader: Reader, shift: _Shift, attend: AttendAgain) -> Tensor:
        """Run a layer with the stream shifted where the reader reads it."""
        at = self._writes.shifts_at(reader)
        state = inputs.state
        assert state is not None
        delta = shift.delta.to(state)
        norms: list[tuple[Tensor, Tensor]] = []
        if shift.held:
            self._again(inputs, _Norms(norms), attend)
        moved = inputs if at else inputs.reading(state - delta)
        module = self._runs.loaded.network.get_submodule(at) if at else None
        return self._again(moved, _ShiftedNorms(module, delta, norms if shift.held else None), attend)

    def _again(self, inputs: LayerInputs, edit: LayerEdit | None, attend: AttendAgain) -> Tensor:
        """Run a layer another time, with its own hooks quiet: what leaves it, or its state where `attend` ends it."""
        places = CallPlaces()

        def seam(call: AttentionCall, compute: Compute) -> Tensor:
            return attend((call.stream, *places.next(call.stream, call.layer)), call, compute)

        path, layer = inputs.place
        with editing_layers(self._runs.loaded.network, edit), editing(seam), following({path: layer}):
            try:
                return inputs.alone().run()
            except _MadeError:
                assert inputs.state is not None
                return inputs.state

    def _ffn_sums(self, reader: Reader) -> list[SumPlace]:
        """The operands that are what a layer's FFN adds."""
        layer = next(one for one in self._writes.blocks.of(reader.stream) if one.layer == reader.layer)
        seen = operands(self._runs, reader.stream, reader.layer)
        added = [part.added for part in layer.additions if part.part == "ffn" and part.added is not None]
        places = [place for each in added if (place := find_sum(seen, each)) is not None]
        if not places:
            raise ValueError(f"the sum that takes what the FFN of layer {reader.layer} gives was not seen")
        return places

    def _at(self, inputs: LayerInputs) -> tuple[str, int]:
        return stream_of(inputs.place[0], self._runs.loaded.shape), inputs.place[1]

    # --- errors ---

    def _check(self, reader: Reader) -> None:
        runs = self._runs
        if reader.part in ("ffn", "logit"):
            if reader.part == "ffn" and not 0 <= reader.layer < len(runs.layers.get(reader.stream, ())):
                raise ValueError(f"layer {reader.layer} is out of range for the FFN of the {reader.stream}")
            return
        call = runs.attention.get((reader.stream, reader.layer, reader.call))
        if call is None:
            raise ValueError(f"layer {reader.layer} of the {reader.stream} has no attention")
        count = getattr(call, reader.part).shape[1]
        if not 0 <= reader.head < count:
            kind = "heads" if reader.part == "query" else "kv heads"
            raise ValueError(f"head {reader.head} is out of range: the {reader.part}s are of {count} {kind}")

    def _check_head(self, one: HeadCut | SpanCut) -> None:
        call = self._runs.attention.get((one.head.stream, one.head.layer, one.head.call))
        if call is None:
            raise ValueError(f"layer {one.head.layer} of the {one.head.stream} has no attention")
        if not 0 <= one.head.head < call.query.shape[1]:
            raise ValueError(f"head {one.head.head} is out of range: the layer has {call.query.shape[1]} heads")
        keys = call.key.shape[2]
        if isinstance(one, SpanCut) and not (one.tokens and all(0 <= token < keys for token in one.tokens)):
            raise ValueError(f"tokens {list(one.tokens)} are out of range: the keys are tokens 0 to {keys - 1}")


class _Norms(NoEdit):
    """Keeps what each norm of a layer takes and gives, in order."""

    def __init__(self, seen: list[tuple[Tensor, Tensor]]) -> None:
        self._seen = seen

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        """Keep it."""
        self._seen.append((x, output))
        return output


class _ShiftedNorms(NoEdit):
    """Takes delta from what one norm gives, and holds the scale of every norm where `kept` has what they took."""

    def __init__(self, shifted: nn.Module | None, delta: Tensor, kept: list[tuple[Tensor, Tensor]] | None) -> None:
        self._shifted, self._delta, self._kept = shifted, delta, iter(kept) if kept is not None else None

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        """Give the norm of x with the scale that it had, less delta where it is the one that is shifted."""
        if self._kept is not None:
            before, gave = next(self._kept)
            output = gave + _held(module, before, x - before)
        return output - self._delta if module is self._shifted else output


def _head_of(writer: Writer) -> ModelHead | None:
    if writer.kind != "head" or writer.layer is None or writer.head is None:
        return None
    return ModelHead(writer.stream, writer.layer, writer.head, writer.call)


def _keep(seen: dict[SumPlace, Tensor], place: SumPlace, operand: Tensor) -> Tensor:
    seen[place] = operand
    return operand


def _put(seen: dict[SumPlace, Tensor], place: SumPlace, operand: Tensor) -> Tensor:
    return seen[place]


def _held(module: nn.Module, x: Tensor, delta: Tensor) -> Tensor:
    """The share of delta in a norm of x whose scale is held."""
    norm = parameters(module, width=x.shape[-1])
    if norm is None:
        raise ValueError(
            f"the scale of {type(module).__name__} is not known, so it cannot be held; cut with live norms"
        )
    return held_share(
        x,
        delta,
        norm.gamma.to(x),
        kind=norm.kind,
        epsilon=norm.epsilon,
        groups=norm.groups,
        running=None if norm.running is None else norm.running.to(x),
    )


def _stack(stream: str) -> str:
    return "decoder" if stream == "cross" else stream
