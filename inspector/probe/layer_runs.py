"""A text's forward that can be taken up again at any layer, with something changed there; a part of the probe.

What each layer was given is kept from one run. A changed run begins at its layer: what lies below is the same, and is
not run again. In a causal decoder the tokens before the first that differs are the same too: their keys and values are
kept. Whether a network can be taken up so is no matter of its family: it is tried on the text itself, with noise in the
residual stream, and held to the whole forward; where it cannot, the whole forward is run.

Shapes: B changed runs side by side, H heads, K kv heads, Q query positions, S positions that are run, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from inspector.probe.inputs import ModelInputs
from inspector.probe.layer_edits import LayerEdit, LayerInputs, NoEdit, editing_layers
from inspector.probe.norm_places import stream_of
from inspector.probe.recording import forward
from inspector.trace import Trace
from models import LoadedModel
from models.attention import AttentionCall, attend_rows, editing, row_blocks
from models.attention.running_layer import CallPlaces, following
from models.placement import turn

Place = tuple[str, int, int]
"""Stream, layer and call of an attention, as in a recording."""
Compute = Callable[[AttentionCall], Tensor]
"""Computes the output [B, H, S, E] of an attention call, of the positions that are run."""
EditAttention = Callable[[Place, AttentionCall, Compute], Tensor]
"""Given an attention's place, its call and what computes it, gives the output that the model reads on."""
_TOLERANCE = 1e-5  # of the largest entry of the last hidden state; half precision: 8 of its last digits


@dataclass(frozen=True, eq=False)
class LayerRuns:
    """A text's forward, kept by layer.

    layers: the calls of each stream's layers, in order, with all the text's tokens; the last stream's give the last
    hidden state. attention: each attention call, and mixed: its output [1, H, Q, E]. hidden: the last hidden state
    [1, Q, D]. end: the norm behind the last layer, None for none. window: the positions that are run, None for all.
    resumes: True where runs begin at their layer; else the whole forward is run. seconds: what a whole forward took.
    """

    loaded: LoadedModel
    inputs: ModelInputs
    layers: Mapping[str, tuple[LayerInputs, ...]]
    attention: Mapping[Place, AttentionCall]
    mixed: Mapping[Place, Tensor]
    hidden: Tensor
    end: nn.Module | None
    window: slice | None
    resumes: bool
    seconds: float

    @property
    def rows(self) -> slice:
        """The positions that are run, as a slice of the text's."""
        return slice(None) if self.window is None else self.window

    @property
    def start(self) -> int:
        """The first position that is run."""
        return 0 if self.window is None else self.window.start

    def whole(self) -> LayerRuns:
        """Give the same runs of all tokens."""
        return replace(self, window=None)

    def within(self, start: int) -> LayerRuns:
        """Give the same runs of the tokens from `start` on, where the tokens before can be left out."""
        return replace(self, window=slice(start, self.window.stop)) if self.window and self.window.start else self

    def state(self, stream: str, layer: int) -> Tensor:
        """The residual stream [1, S, D] that enters a layer, at the positions that are run."""
        return self._entering(stream, layer)[:, self.rows]

    def resume(self, stream: str, layer: int, state: Tensor, *, edit: EditAttention | None = None) -> Tensor:
        """Run the model from a layer on, with `state` [B, S, D] entering it -> the last hidden state [B, S, D].

        edit: changes the output of every attention call from this layer on.
        """
        if self.resumes and stream == self.last:
            for number in range(layer, len(self.layers[stream])):
                state = self.run_layer(stream, number, state, edit=edit)
            return self._ended(state)
        return self.forward(Enters(self.layers[stream][layer].place, state), rows=len(state), edit=edit)

    def run_layer(self, stream: str, layer: int, state: Tensor, *, edit: EditAttention | None = None) -> Tensor:
        """Run one layer alone: state [B, S, D] -> the residual stream that leaves it [B, S, D]."""
        call = self.layers[stream][layer]
        cut = _Cut(self.window, self._entering(stream, layer).shape[1], rows=len(state))
        inputs = LayerInputs(call.place, call.module, cut.positional(call), cut.named(call))
        with (
            torch.inference_mode(),
            turn(self.loaded.network),
            editing(_Attention(self, edit)),
            following({call.place[0]: call.place[1]}),
        ):
            return inputs.reading(state).run()

    def leave(self, stream: str, layer: int, state: Tensor) -> Tensor:
        """Run the model on from behind a layer, which left `state` [B, S, D] -> the last hidden state [B, S, D]."""
        if layer + 1 < len(self.layers[stream]):
            return self.resume(stream, layer + 1, state)
        if self.resumes and stream == self.last:
            return self._ended(state)
        return self.forward(_Leaves(self.layers[stream][layer].place, state), rows=len(state))

    def attend(self, place: Place, edit: EditAttention, *, rows: int) -> Tensor:
        """Run the model B times with `edit` at one attention -> the last hidden state [B, S, D]."""
        stream, layer = "decoder" if place[0] == "cross" else place[0], place[1]
        if not self.resumes:
            return self.forward(None, rows=rows, edit=edit)
        state = self.state(stream, layer).expand(rows, -1, -1)
        return self.leave(stream, layer, self.run_layer(stream, layer, state, edit=edit))

    def logits(self, hidden: Tensor, *, position: int) -> Tensor:
        """Ask the head about the last hidden state [B, S, D] at a position of the text: [B, V], float32."""
        assert self.loaded.predict is not None
        with torch.inference_mode():
            return self.loaded.predict(hidden[:, position - self.start][:, None])[:, 0].float()

    def forward(self, change: LayerEdit | None, *, rows: int, edit: EditAttention | None = None) -> Tensor:
        """Run the whole forward of B equal rows, with layers and attention changed -> [B, S, D]."""
        inputs, loaded = self.inputs, self.loaded
        with torch.inference_mode(), editing_layers(loaded.network, change), editing(_Attention(None, edit)):
            if inputs.target is None or loaded.run_pair is None:
                return forward(loaded, [inputs] * rows, padding="right")[:, self.rows]
            ids = torch.tensor([inputs.encoding.ids] * rows)
            target = torch.tensor([inputs.target.ids] * rows)
            return loaded.run_pair(ids, torch.ones_like(ids, dtype=torch.bool), target)

    @property
    def last(self) -> str:
        """The stream whose last layer gives the last hidden state."""
        return list(self.layers)[-1]

    def _entering(self, stream: str, layer: int) -> Tensor:
        state = self.layers[stream][layer].state
        assert state is not None
        return state

    def _ended(self, state: Tensor) -> Tensor:
        with torch.inference_mode(), turn(self.loaded.network):
            return (state if self.end is None else self.end(state)).cpu()


def keep_layers(loaded: LoadedModel, trace: Trace, *, window: slice | None = None) -> LayerRuns:
    """Run a recorded text once more, keep what each layer is given, and try whether it can be taken up again there.

    window: the positions whose changes matter, in a causal decoder without other mixers than attention; the tokens
    before are those of the text, and the tokens behind are not run. All by default.

    Raises ValueError for a model that does its attention by itself, and one whose layers hand on no one state.
    """
    if loaded.backend == "eager output":
        raise ValueError(
            f"{loaded.card.id} does its attention by itself, so no part of it can be put in the place of another; "
            "choose a model whose attention goes through transformers' registry"
        )
    inputs = ModelInputs(trace.encoding, trace.target)
    kept = _Kept()
    network = loaded.network
    begun = perf_counter()
    with torch.inference_mode(), editing_layers(network, kept), editing(kept.attends):
        hidden = forward(loaded, [inputs], padding="right")
    seconds = perf_counter() - begun
    layers: dict[str, list[LayerInputs]] = {}
    for call in kept.layers:
        layers.setdefault(stream_of(call.place[0], loaded.shape), []).append(call)
    for stream, calls in layers.items():
        if [call.place[1] for call in calls] != list(range(len(calls))) or len({call.place[0] for call in calls}) > 1:
            raise ValueError(f"the layers of {loaded.card.id}'s {stream} do not run once each, in their order")
        if any(call.state is None or call.state.ndim != 3 or len(call.state) != 1 for call in calls):
            raise ValueError(f"the layers of {loaded.card.id}'s {stream} hand on no one state for each token")
    causal = loaded.shape == "decoder" and not trace.mixers
    runs = LayerRuns(
        loaded,
        inputs,
        {stream: tuple(calls) for stream, calls in layers.items()},
        kept.calls,
        kept.mixed,
        hidden,
        kept.end,
        None,
        True,
        seconds,
    )
    starts = (window.start, 0) if window is not None and causal else (None,)
    for start in dict.fromkeys(starts):  # a network may be taken up with all tokens, and not with a part of them
        attempt = runs if start is None or window is None else replace(runs, window=slice(start, window.stop))
        if _fits(attempt):
            return attempt
    return replace(runs, resumes=False)


def _fits(runs: LayerRuns) -> bool:
    """Take a run up at the first layer, with noise and without, and return True if it is what the whole forward gives.

    The first layer of each stream, run alone, is to give what the next layer took.
    """
    stream = runs.last
    state = runs.state(stream, 0)
    noise = torch.randn(state.shape, generator=torch.Generator().manual_seed(0)).to(state) * state.std()
    try:
        taken_up = runs.resume(stream, 0, torch.cat([state, state + noise]))
        alone = [(runs.run_layer(name, 0, runs.state(name, 0).expand(2, -1, -1)), name) for name in runs.layers]
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):  # such a layer cannot be called alone
        return False
    noised = runs.layers[stream][0].state
    assert noised is not None
    noised = noised.clone()
    noised[:, runs.rows] += noise
    whole = runs.whole().forward(Enters(runs.layers[stream][0].place, noised), rows=1)
    pairs = [(taken_up, torch.cat([runs.hidden, whole])[:, runs.rows])]
    pairs += [(state, runs.state(name, 1).expand_as(state)) for state, name in alone if len(runs.layers[name]) > 1]
    return all(_agree(got, want) for got, want in pairs)


def _agree(got: Tensor, want: Tensor) -> bool:
    digits = torch.finfo(want.dtype).eps if want.dtype.itemsize < 4 else 0.0
    allowed = max(_TOLERANCE, 8 * digits) * float(want.abs().max())
    return got.shape == want.shape and float((got.float() - want.float()).abs().max()) <= allowed


class _Kept(NoEdit):
    """Keeps what each layer and attention of one run is given, and the norm that takes what the last layer left."""

    def __init__(self) -> None:
        self.layers: list[LayerInputs] = []
        self.calls: dict[Place, AttentionCall] = {}
        self.mixed: dict[Place, Tensor] = {}
        self._places = CallPlaces()
        self.end: nn.Module | None = None  # whether it is the end is tried
        self._left: Tensor | None = None

    def attends(self, call: AttentionCall, compute: Compute) -> Tensor:
        place = (call.stream, *self._places.next(call.stream, call.layer))
        self.calls[place] = call
        self.mixed[place] = compute(call)
        return self.mixed[place]

    def enters(self, inputs: LayerInputs) -> LayerInputs:
        self.layers.append(inputs.alone())
        self._left = self.end = None
        return inputs

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        self._left = state
        return state

    def normed(self, module: nn.Module, x: Tensor, output: Tensor) -> Tensor:
        if x is self._left:
            self.end = module
        return output


@dataclass(frozen=True)
class Enters(NoEdit):
    """Puts a residual stream in the place of what enters a layer."""

    place: tuple[str, int]
    state: Tensor

    def enters(self, inputs: LayerInputs) -> LayerInputs:
        """Give the layer the state."""
        return inputs.reading(self.state) if inputs.place == self.place else inputs


@dataclass(frozen=True)
class _Leaves(NoEdit):
    """Puts a residual stream in the place of what a layer leaves."""

    place: tuple[str, int]
    state: Tensor

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        return self.state if inputs.place == self.place else state


class _Attention:
    """Stands in for the attention of a changed run. runs: None where all tokens are run."""

    def __init__(self, runs: LayerRuns | None, edit: EditAttention | None) -> None:
        self._runs, self._edit, self._places = runs, edit, CallPlaces()

    def __call__(self, call: AttentionCall, compute: Compute) -> Tensor:
        place = (call.stream, *self._places.next(call.stream, call.layer))
        runs = self._runs
        if runs is not None and runs.window is not None:
            compute = partial(_windowed, kept=runs.attention[place], window=runs.window)
        return compute(call) if self._edit is None else self._edit(place, call, compute)


def _windowed(call: AttentionCall, kept: AttentionCall, window: slice) -> Tensor:
    """Attend with the queries of the window: to the kept keys before, and to the window's."""

    def joined(old: Tensor, new: Tensor) -> Tensor:
        old = old.expand(len(new), -1, -1, -1)
        return torch.cat([old[:, :, : window.start], new, old[:, :, window.stop :]], dim=2)

    key, value = joined(kept.key, call.key), joined(kept.value, call.value)
    parts = []
    for rows in row_blocks(kept.query.shape[2], key.shape[2], among=window):
        inside = slice(max(rows.start, window.start), min(rows.stop, window.stop))
        query = call.query[:, :, inside.start - window.start : inside.stop - window.start]
        parts.append(attend_rows(kept.function, query, key, value, mask=kept.mask, rows=inside).output)
    return torch.cat(parts, dim=2)


@dataclass(frozen=True)
class _Cut:
    """Cuts a layer's arguments to the positions of a window, and spreads them over the rows of a batch.

    An axis as long as the text counts its tokens, the first such axis of a tensor; a wrong guess is found by the trial.
    """

    window: slice | None
    tokens: int
    rows: int

    def positional(self, call: LayerInputs) -> tuple[Any, ...]:
        return tuple(value if value is call.state else self._of(value) for value in call.positional)

    def named(self, call: LayerInputs) -> dict[str, Any]:
        return {name: value if value is call.state else self._of(value) for name, value in call.named.items()}

    def _of(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(self._of(part) for part in value)
        if not isinstance(value, Tensor):
            return value
        if self.window is not None and self.tokens in value.shape:
            axis = value.shape.index(self.tokens)
            value = value.narrow(axis, self.window.start, self.window.stop - self.window.start)
        return value.expand(self.rows, *value.shape[1:]) if value.ndim > 1 and len(value) == 1 else value
