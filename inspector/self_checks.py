"""Checks of a recording against itself: what every map must be, and norms and residual stream against their modules.

When a text is recorded, mean and deviation of every vector that a norm gave and that a layer left are written down at
the module; norms and residual stream, which are computed from the trace, are held to these. `inspector.exactness`
holds the trace to a second run of its model as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import torch

from inspector.trace import HALF, ROUNDING, AttentionSite, NormRecord, StateRecord, Trace, WeightBlock
from inspector.trace.norm_formula import rounding
from inspector.trace.second_run import SecondRun
from inspector.trace.value_mix import ValueMix, join, mix
from models.attention.functions import AttentionFunction, ComposedAttention
from models.attention.scores import FillWith
from models.placement import dtype_name

ROW_SUM_TOLERANCE = 1e-5
NO_MODEL = "the model was not at hand"
GIVEN = "these weights were given, not recorded, so there is no model to run"
_ROUNDINGS = 64  # last digits of a vector's largest entry: those of its own mean and deviation, and of a gate


@dataclass(frozen=True)
class HeldVectors:
    """Vectors that are shown, held to the vectors that the model's modules gave.

    shown, ran: how many norms, or layers of the residual stream, are shown, and how many ran. difference: the largest;
    None where nothing is shown. tolerance: the difference that rounding explains. holds: whether rounding explains each
    difference, and each stands in the layer that it is said to.
    """

    shown: int
    ran: int
    difference: float | None
    tolerance: float
    holds: bool

    @property
    def exact(self) -> bool:
        """True where it was checked and holds."""
        return self.difference is not None and self.holds


@dataclass(frozen=True)
class HeldMixers:
    """Layers that mix tokens without softmax attention: maps times values, held to what the layers' own cores left.

    shown, ran: how many have maps, and how many ran. difference: the largest of those shown, as a share of what a head
    left. again: how many cores of a model in half precision ran once more in float32, which their maps are of.
    """

    shown: int
    ran: int
    difference: float
    again: int


@dataclass(frozen=True)
class Exactness:
    """The results of the checks on one text.

    layers, expected: attentions recorded, and attentions that the configuration names; a layer may make none, or two.
    second: all that is shown, held to a second run of the model; None where none was made, and `not_held` says why.
    row_sum_error: largest distance of a row's sum from 1; with sinks, to which a part of each row goes, by how much the
    largest is over 1; of a sigmoid, whose rows sum to anything, by how much a weight is over 1. sigmoid: whether one
    makes the weights. finite: no map holds NaN or infinity. future: the largest weight on a token that is still to
    come, in a decoder's own attention; None where there is none. lets_through: whether the model fills masked scores
    with a finite number, or multiplies them, so that such a weight is the model's own.
    norms, states: norms and the residual stream, held to what the model's own modules gave; stream_unknown: why the
    stream is not shown, "" where it is. to_padding: the largest share of a row's weight that went to the padding of the
    text's batch: a mask that leaks. dtype: what the model computes in. row_sum_tolerance: what its rounding
    explains. fused: the text was recorded with attention in torch's fused kernel. mixers: layers that mix tokens
    without softmax attention; None where there is none. given: the weights were computed elsewhere and given.
    """

    layers: int
    expected: int
    row_sum_error: float
    finite: bool
    second: SecondRun | None
    future: float | None = None
    lets_through: bool = False
    sinks: bool = False
    sigmoid: bool = False
    not_held: str = NO_MODEL
    dtype: str = "float32"
    row_sum_tolerance: float = ROW_SUM_TOLERANCE
    norms: HeldVectors | None = None
    states: HeldVectors | None = None
    stream_unknown: str = ""
    to_padding: float = 0.0
    fused: bool = False
    mixers: HeldMixers | None = None
    given: bool = False

    @property
    def leaks(self) -> bool:
        """True if more weight than rounding explains went to the padding of the text's batch."""
        return self.to_padding > self.row_sum_tolerance

    @property
    def holds(self) -> bool:
        """True if every check passed."""
        return (
            self.layers == self.expected
            and self.finite
            and self.row_sum_error <= self.row_sum_tolerance
            and not self.leaks
            and (self.lets_through or not self.future)
            and (self.second is None or self.second.holds)
            and all(held.holds for held in (self.norms, self.states) if held is not None)
        )

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        total = "at most 1 (a part goes to sinks)" if self.sinks else "1"
        rows = (
            f"no weight is over 1 by more than {self.row_sum_error:.1e} (a sigmoid's rows sum to anything)"
            if self.sigmoid
            else f"rows sum to {total} within {self.row_sum_error:.1e} ({self.dtype} explains "
            f"{self.row_sum_tolerance:.1e})"
        )
        sentences = [
            f"{self.layers} attention layers given"
            if self.given
            else f"{self.layers} of {self.expected} attention layers recorded",
            rows,
            "all weights finite" if self.finite else "some weights are not finite",
        ]
        if self.fused:
            sentences.append("recorded with attention in torch's fused kernel")
        if self.mixers is not None:
            sentences.append(_mixers_in_words(self.mixers))
        if self.leaks:
            sentences.append(leak_in_words(self.to_padding))
        if self.future is not None:
            beyond = (
                ", which the model's own fill of masked scores lets through"
                if self.future and self.lets_through
                else ""
            )
            sentences.append(f"the largest weight on a token to come is {self.future:.3g}{beyond}")
        kept = "given" if self.given else "recorded"
        sentences.append(f"{kept}, not held: {self.not_held}" if self.second is None else str(self.second))
        if self.norms is not None:
            sentences.append(_norms_in_words(self.norms))
        if self.states is not None:
            sentences.append(_states_in_words(self.states, self.stream_unknown))
        return "; ".join(sentences) + "."


def leak_in_words(to_padding: float) -> str:
    """Say that a mask leaks; to_padding: the largest share of a row's weight that went to padding."""
    return (
        f"the mask leaks: up to {to_padding:.3g} of a token's weight went to the padding of the batch, so these "
        "numbers are not those of the text alone"
    )


def _mixers_in_words(mixers: HeldMixers) -> str:
    shown = f"{mixers.shown} of {mixers.ran} layers that mix tokens without softmax attention have maps"
    if mixers.shown:
        shown += f", whose products with the values are within {mixers.difference:.1e} of what the layers' cores left"
    if mixers.again:
        shown += f"; {mixers.again} cores ran again in float32 on what they were given, for maps of half precision"
    return shown


def _norms_in_words(norms: HeldVectors) -> str:
    shown = f"{norms.shown} of {norms.ran} norms of the stack shown"
    if norms.difference is None:
        return shown
    return (
        f"{shown}, mean and deviation of what each gives within {norms.difference:.1e} of its module's "
        f"(rounding explains {norms.tolerance:.1e})"
    )


def _states_in_words(states: HeldVectors, unknown: str) -> str:
    if states.difference is None:
        return f"the residual stream is not shown: {unknown or 'it was not recorded'}"
    shown = f"residual stream within {states.difference:.1e} of what the layers took and left"
    explained = f"(rounding explains {states.tolerance:.1e})"
    return f"{shown} {explained}" + ("" if states.holds else ", or a norm stands in another layer than it is said to")


class WeightChecks:
    """The checks that every weight of a trace must pass, block by block."""

    def __init__(self, trace: Trace) -> None:
        self._records = {_place(record.site): record for record in trace.attentions}
        self._mixes: dict[tuple[str, int, int], list[ValueMix]] = {place: [] for place in self._records}
        self._to_sinks = {_place(record.site): record.function.sinks for record in trace.attentions}
        self._lets_through = any(_lets_through(record.function) for record in trace.attentions)
        self._error, self._finite, self._sigmoid = 0.0, True, False
        self._dtype = dtype_name(torch.bfloat16 if trace.given else trace.hidden.dtype)
        self._row_sum_tolerance = row_sum_tolerance(trace)
        self._norms = None if trace.given else check_norms(trace)
        self._states = None if trace.given else check_residual_stream(trace)
        self._mixers = check_mixers(trace)
        unknown = [refused.reason for refused in trace.refused if refused.what == "residual stream"]
        self._to_padding, self._fused, self._given = trace.to_padding, trace.fused, trace.given
        self._stream_unknown = next(iter(unknown), "")
        self._future = 0.0 if "decoder" in trace.streams else None

    def see(self, site: AttentionSite, block: WeightBlock) -> None:
        """Look at a block of a layer's weights; blocks come in order."""
        self._mixes[_place(site)].append(mix(self._records[_place(site)], block))
        self._finite = self._finite and bool(np.isfinite(block.weights).all())
        if block.normalised:
            over = block.weights.sum(axis=-1, dtype=np.float64) - 1
            over = over if self._to_sinks[_place(site)] else np.abs(over)
        else:
            self._sigmoid, over = True, block.weights - 1
        self._error = max(self._error, float(over.max()))
        if self._future is not None and site.stream == "decoder":
            coming = np.triu(block.weights, k=1 + block.queries.start - block.keys.start)
            self._future = max(self._future, float(coming.max(initial=0.0)))

    @property
    def mixes(self) -> dict[tuple[str, int, int], ValueMix]:
        """The mixes that the weights make of the values, by stream, layer and call, for `inspector.hold`."""
        return {place: join(blocks) for place, blocks in self._mixes.items() if blocks}

    def result(
        self, *, expected_layers: int | None = None, second: SecondRun | None = None, not_held: str = NO_MODEL
    ) -> Exactness:
        """Return the result for all blocks seen.

        expected_layers: how many attentions the model makes (`LoadedModel.layers`); as many as were recorded where left
        out. second: the result of `inspector.hold`; not_held: the reason why there is none.
        """
        return Exactness(
            len(self._to_sinks),
            len(self._to_sinks) if expected_layers is None else expected_layers,
            self._error,
            self._finite,
            second,
            self._future,
            self._lets_through,
            any(self._to_sinks.values()),
            self._sigmoid,
            GIVEN if self._given else not_held,
            dtype=self._dtype,
            row_sum_tolerance=self._row_sum_tolerance,
            norms=self._norms,
            states=self._states,
            stream_unknown=self._stream_unknown,
            to_padding=self._to_padding,
            fused=self._fused,
            mixers=self._mixers,
            given=self._given,
        )


def _lets_through(function: AttentionFunction) -> bool:
    return isinstance(function, ComposedAttention) and function.fill != FillWith(-inf)


def _place(site: AttentionSite) -> tuple[str, int, int]:
    return site.stream, site.layer, site.call


def row_sum_tolerance(trace: Trace) -> float:
    """Return how far rounding can move the sum of a row from 1: 1e-5 in float32; in half precision u more.

    Each weight w is rounded to w (1 + d), |d| <= u = eps / 2, so that a sum of 1 moves by at most u: 2^-8 in bfloat16,
    2^-11 in float16. Weights that were given may have been in bfloat16 before.
    """
    if trace.given:
        return ROUNDING
    dtype = trace.hidden.dtype
    return ROW_SUM_TOLERANCE + (torch.finfo(dtype).eps / 2 if dtype in HALF else 0.0)


# --- norms and the residual stream -----------------------------------------------------------------------------------


def check_norms(trace: Trace) -> HeldVectors:
    """Hold the output of every norm that is shown to what its module gave."""
    left_out = sum(refused.what == "norm" for refused in trace.refused)
    differences = [_norm(norm, trace) for norm in trace.norms]
    return _held(len(trace.norms), len(trace.norms) + left_out, differences)


def check_residual_stream(trace: Trace) -> HeldVectors:
    """Hold every state of the residual stream to what its layer took or left, and norms to the layers they are said to
    stand in: the norm that takes the stream after a layer stands in the next, the one that gives it in the layer."""
    differences = [_state(record, trace) for record in trace.states]
    ran = len(set(trace.streams) - {"cross"}) if not trace.states else len(trace.states)
    held = _held(len(trace.states), ran, differences)
    placed = all(_stands(record, trace) for record in trace.states if record.norm is not None)
    return HeldVectors(held.shown, held.ran, held.difference, held.tolerance, held.holds and placed and _whole(trace))


def refusals(trace: Trace) -> dict[str, str]:
    """Say why a norm (by its path) or a stream's residual stream (by its name) is not shown."""
    return {
        refused.name if refused.what == "norm" else f"residual stream of the {refused.name}": refused.reason
        for refused in trace.refused
    }


def check_mixers(trace: Trace) -> HeldMixers | None:
    """Hold each mixer's maps, times its values, to what its own core left; None for a model that has none."""
    if not trace.mixers:
        return None
    shown = [record for record in trace.mixers if record.exact]
    difference = max((record.difference for record in shown), default=0.0)
    return HeldMixers(len(shown), len(trace.mixers), difference, sum(record.again for record in shown))


def _held(shown: int, ran: int, differences: list[tuple[float, float]]) -> HeldVectors:
    """found: differences and what rounding explains of each."""
    if not differences:
        return HeldVectors(shown, ran, None, 0.0, True)
    worst = max(differences, key=lambda pair: pair[0] / pair[1] if pair[1] else pair[0] * np.inf)
    return HeldVectors(
        shown, ran, worst[0], worst[1], all(difference <= allowed for difference, allowed in differences)
    )


def _norm(norm: NormRecord, trace: Trace) -> tuple[float, float]:
    assert norm.truth is not None
    x, gamma, beta = (torch.tensor(array).float() for array in (norm.input, norm.gamma, norm.beta))
    digits = torch.finfo(trace.hidden.dtype).eps
    running = None if norm.running is None else torch.tensor(norm.running).float()
    allowed = rounding(x, gamma, beta, kind=norm.kind, epsilon=norm.epsilon, digits=digits, running=running)
    if norm.gate is not None:
        allowed = _ROUNDINGS * digits * torch.tensor(norm.output).abs().amax(dim=-1)
    difference, explained = _worst(norm.output, norm.truth, allowed.numpy())
    return max(difference, norm.difference or 0.0), explained


def _state(record: StateRecord, trace: Trace) -> tuple[float, float]:
    state = trace.state(record)
    digits = torch.finfo(trace.hidden.dtype).eps
    allowed = _ROUNDINGS * digits * np.abs(state).max(axis=-1)
    return _worst(state, record.truth, allowed)


def _worst(shown: np.ndarray, truth: np.ndarray, allowed: np.ndarray) -> tuple[float, float]:
    """The difference of mean and deviation that is the largest against what is allowed, and what is allowed there."""
    difference = np.abs(_summary(shown) - truth).max(axis=-1)
    if not np.isfinite(difference).all():
        return float("inf"), 0.0
    worst = int(np.argmax(difference - allowed))
    return float(difference[worst]), float(allowed[worst])


def _summary(vectors: np.ndarray) -> np.ndarray:
    exact = vectors.astype(np.float64)
    return np.stack([exact.mean(axis=-1), exact.std(axis=-1)], axis=-1)


def _stands(record: StateRecord, trace: Trace) -> bool:
    assert record.norm is not None
    norm = trace.norms[record.norm]
    if record.side == "output":
        return norm.layer == record.layer and norm.stream == record.stream
    last = max(state.layer for state in trace.states if state.stream == record.stream)
    return norm.stream == record.stream and norm.layer in ({record.layer + 1} if record.layer < last else {None})


def _whole(trace: Trace) -> bool:
    """Tell whether each stream has states after every layer, and no norm or attention in a layer beyond them."""
    for stream in {record.stream for record in trace.states}:
        layers = [record.layer for record in trace.states if record.stream == stream]
        named = {norm.layer for norm in trace.norms if norm.stream == stream and norm.layer is not None}
        named |= {site.layer for site in trace.sites_of(stream)}
        if layers != list(range(layers[0], len(layers) + layers[0])) or layers[0] > 0 or max(named) > layers[-1]:
            return False
    return True
