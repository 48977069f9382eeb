"""A second run of a recorded text, watched: what the model computes once more is held to all that its trace shows.

Attention runs in torch's fused kernel, which shares no code with the recorded path, and in the model's own function
where the kernel cannot, or where the text was recorded in the kernel. In half precision it runs in the model's own
function always: the kernel rounds otherwise, and such a rounding sends a token to another expert now and then, which
changes all that comes behind.

Each call is compared as it is made, so no more than a call is kept: its queries, keys, values and mask, and what the
maps that the trace shows make of the trace's values, A V. A V alone would not do: keys and values that are moved
together leave it as it is.

Shapes: H heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from math import inf, isnan, sqrt
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import models
from inspector.probe.inputs import ModelInputs
from inspector.probe.norm_hooks import WatchedForward, install, watch_norms
from inspector.probe.norm_places import places
from inspector.probe.recording import OnProgress, forward
from inspector.probe.states import State, states_of
from inspector.trace import HALF, AttentionRecord, Trace, read_only
from inspector.trace.second_run import Compared, HeldDifference, SecondRun, worst
from inspector.trace.value_mix import ValueMix, directions, join, mix
from models import LoadedModel
from models.attention import AttentionCall, AttentionFunction, fused, row_blocks, watch
from models.attention.given import ONLY_GIVEN
from models.attention.masks import Mask, window_of
from models.attention.running_layer import CallPlaces
from models.tokenizers import token_names

TOLERANCE = 1e-4  # of the largest entry, float32; the worst of the families takes a tenth of it
_WHOLE = 1e-2  # a row whose sum is so near 1 leaves nothing to a sink that counts
_HALF_ROUNDINGS = 3  # eps of the largest entry; of 2 to 48 random layers the worst took 2


def hold(
    loaded: LoadedModel | nn.Module,
    trace: Trace,
    *,
    mixes: Mapping[tuple[str, int, int], ValueMix] | None = None,
    on_progress: OnProgress | None = None,
) -> SecondRun:
    """Run the model once more on the tokens of a trace, and hold all that the trace shows to what it computes.

    ```python
    trace = inspector.record(loaded, "The cat sat on the mat.")
    print(inspector.hold(loaded, trace))  # run a second time in torch's fused attention: maps of layer 3, head 1 ...
    ```

    Held are every attention's query, key, value, mask, window and heads; the trace's maps, by what they make of the
    values; norms and their places, the residual stream, the last hidden state; the names of the tokens, and those of
    each map's rows and columns. No more than one call's numbers and the norms' inputs is kept at a time. mixes: what
    the maps make of the values by stream, layer and call, where they were computed already (`WeightChecks.mixes`).

    Raises ValueError for a model that does its attention by itself: no other kernel can be put in its place; and for
    weights that were given.
    """
    loaded = models.of(loaded)
    if trace.given:
        raise ValueError(f"attention that was given cannot be held to a run: {ONLY_GIVEN}")
    if loaded.backend == "eager output":
        raise ValueError("the model does its attention by itself, so no other kernel can be put in its place")
    install(loaded.network)
    in_kernel = not trace.fused and trace.hidden.dtype not in HALF
    holding = _Holding(trace, loaded, on_progress, mixes=mixes or {}, fused=in_kernel)
    with (
        torch.inference_mode(),
        fused() if in_kernel else nullcontext(),
        watch(holding.begin, output=holding.end),
        watch_norms(loaded.network, holding.calls, sums=loaded.backend != "own") as seen,
    ):
        hidden = forward(loaded, [ModelInputs(trace.encoding, trace.target)], padding="right")
    return holding.result(seen, hidden)


def tolerance(dtype: torch.dtype, *, calls: int) -> float:
    """Return what rounding explains, of the largest entry of what is compared, behind so many attentions.

    1e-4 in float32. In half precision 3 eps sqrt(calls): the calls' roundings add up like the steps of a random walk.
    """
    return _HALF_ROUNDINGS * torch.finfo(dtype).eps * sqrt(max(calls, 1)) if dtype in HALF else TOLERANCE


class _Holding:
    """The comparison of a trace with the run that is under way, call by call.

    calls: the attentions so far, without their tensors.
    """

    def __init__(
        self,
        trace: Trace,
        loaded: LoadedModel,
        on_progress: OnProgress | None,
        *,
        mixes: Mapping[tuple[str, int, int], ValueMix],
        fused: bool,
    ) -> None:
        self.calls: list[AttentionCall] = []
        self._mixes = mixes
        self._trace, self._loaded, self._on_progress = trace, loaded, on_progress
        self._places = CallPlaces()
        self._running: AttentionCall | None = None
        self._masks: list[tuple[Mask | None, Mask | None, bool, int | None]] = []  # layers share them
        self._differences: list[HeldDifference] = []
        self._mislabelled = list(_mislabelled_tokens(loaded, trace))
        self._kernel, self._fused = fused, 0

    def begin(self, call: AttentionCall) -> None:
        """Take a call before it is computed."""
        if self._on_progress is not None:
            self._on_progress(len(self.calls), self._loaded.layers)
        self._running = call

    def end(self, output: Tensor) -> None:
        """Hold the call that was begun, with its output [1, H, Q, E]."""
        call, number = self._running, len(self.calls)
        assert call is not None
        nothing = output.new_empty(0)
        self.calls.append(replace(call, query=nothing, key=nothing, value=nothing, mask=None))
        self._fused += self._kernel and call.function.scale is not None
        layer, again = self._places.next(call.stream, call.layer)
        try:
            record = self._trace.record_of(layer, call.stream, call=again)
        except ValueError as error:
            self._mislabelled.append(f"attention {number} is not where it ran: {error}")
            return
        if number >= len(self._trace.attentions) or self._trace.attentions[number] is not record:
            self._mislabelled.append(f"{_named(record)} is not in its place in the order of the calls")
        self._compare("queries", record.query, call.query[0], call.stream, layer)
        self._compare("keys", record.key, call.key[0], call.stream, layer)
        self._compare("values", record.value, call.value[0], call.stream, layer)
        if all(difference.relative < inf for difference in self._differences[-3:]):  # of one shape
            self._label(record, call)
            ran = output[0].detach().cpu().float() @ directions(output.shape[-1])
            blocks = self._trace.bands(layer=layer, stream=call.stream, call=again)
            shown = self._mixes.get((call.stream, layer, again)) or join(mix(record, block) for block in blocks)
            self._compare("maps", _as_long(shown, ran, record.function), ran, call.stream, layer)

    def result(self, seen: WatchedForward, hidden: Tensor) -> SecondRun:
        """Hold what the whole run gave: norms, the residual stream and the last hidden state."""
        trace = self._trace
        if len(self.calls) != len(trace.attentions):
            self._mislabelled.append(f"{len(trace.attentions)} attentions are shown, and {len(self.calls)} ran")
        self._norms(seen)
        self._states(states_of(seen, shape=self._loaded.shape, hidden=hidden)[0])
        last = trace.streams[-1] if trace.target is None else "decoder"
        self._compare("last hidden state", trace.hidden, hidden[0], last)
        kinds = [
            [difference for difference in self._differences if difference.what == what] for what in get_args(Compared)
        ]
        return SecondRun(
            tuple(worst(of_kind) for of_kind in kinds if of_kind),
            tuple(self._mislabelled),
            len(self.calls),
            self._fused,
            trace.refused,
        )

    def _label(self, record: AttentionRecord, call: AttentionCall) -> None:
        site, name = record.site, _named(record)
        same, window = self._mask(record, call)
        labels = {
            "heads and kv heads": ((site.heads, site.kv_heads), (call.query.shape[1], call.key.shape[1])),
            "scale": (record.function.scale, call.function.scale),
            "mask": (same, True),
            "window": (site.window, None if call.stream == "cross" else window),
        }
        wrong = [what for what, (shown, ran) in labels.items() if shown != ran]
        self._mislabelled += [f"the {what} of {name} {'are' if what[-1] == 's' else 'is'} another" for what in wrong]

    def _mask(self, record: AttentionRecord, call: AttentionCall) -> tuple[bool, int | None]:
        """Tell whether the trace's mask shows the same keys as the call's, and find the window of the call's."""
        for mine, theirs, same, window in self._masks:
            if mine is record.mask and theirs is call.mask:
                return same, window
        queries, keys = len(record.site.queries), len(record.site.keys)
        same = all(_sees_alike(record.mask, call.mask, rows) for rows in row_blocks(queries, keys))
        window = None if call.mask is None else window_of(call.mask, tokens=queries)
        self._masks.append((record.mask, call.mask, same, window))
        return same, window

    def _norms(self, seen: WatchedForward) -> None:
        stand = places(
            seen.norms, self._loaded.config, shape=self._loaded.shape, attentions=self.calls, mixers=seen.mixers
        )
        if len(seen.norms) != len(self._trace.norms):
            self._mislabelled.append(f"{len(self._trace.norms)} norms are shown, and {len(seen.norms)} ran")
        for norm, call, place in zip(self._trace.norms, seen.norms, stand, strict=False):
            norm_parameters = call.parameters
            shown = (norm.name, norm.stream, norm.layer, norm.part, norm.placement, norm.kind, norm.epsilon)
            ran = (
                call.name,
                place.stream,
                place.layer,
                place.part,
                place.placement,
                norm_parameters.kind,
                norm_parameters.epsilon,
            )
            parameters = ((norm.gamma, norm_parameters.gamma), (norm.beta, norm_parameters.beta))
            if shown != ran or not all(np.array_equal(mine, read_only(theirs)) for mine, theirs in parameters):
                self._mislabelled.append(
                    f"the norm {call.name} is shown in another place, or with other parameters: was the model changed?"
                )
            self._compare("norms", norm.input, call.input, norm.stream, norm.layer, calls=call.attentions_before)

    def _states(self, known: list[State]) -> None:
        ran = {(state.stream, state.layer): state for state in known}
        for shown in self._trace.states:
            state = ran.get((shown.stream, shown.layer))
            if state is None or (state.norm, state.side) != (shown.norm, shown.side):
                self._mislabelled.append(f"the residual stream after layer {shown.layer} ({shown.stream}) is another")
            elif shown.state is not None and state.tensor is not None:
                self._compare("residual stream", shown.state, state.tensor, shown.stream, shown.layer)

    def _compare(
        self,
        what: Compared,
        shown: Tensor | NDArray[Any],
        ran: Tensor,
        stream: str,
        layer: int | None = None,
        *,
        calls: int | None = None,
    ) -> None:
        """Compare tensors [H, T, E] head by head, others whole; calls: how many attentions came before."""
        behind = len(self.calls) if calls is None else calls
        allowed = tolerance(self._trace.hidden.dtype, calls=behind)
        mine, theirs = torch.as_tensor(np.array(shown)) if isinstance(shown, np.ndarray) else shown, ran.detach().cpu()
        if mine.numel() != theirs.numel():
            self._differences.append(HeldDifference(what, inf, allowed, stream, layer))
            return
        apart = (mine.float() - theirs.float().reshape(mine.shape)).abs()  # torch's own norms take six times as long
        by_head = apart.amax(dim=(1, 2)) if apart.ndim == 3 else apart.amax()[None]
        head, largest = int(by_head.argmax()), float(theirs.float().abs().amax())
        relative = float(by_head[head]) / largest if largest else float(by_head[head])
        relative = inf if isnan(relative) else relative  # NaN is no agreement
        self._differences.append(
            HeldDifference(what, relative, allowed, stream, layer, head if apart.ndim == 3 else None)
        )


def _named(record: AttentionRecord) -> str:
    return f"{record.site.name} ({record.site.stream})"


def _as_long(shown: ValueMix, ran: Tensor, function: AttentionFunction) -> Tensor:
    """The shown mix, with rows as long as the second run's where sinks shorten the output and not the weights.

    Such weights (Granite's) sum to 1, and how much of the output is the sinks' is not in the trace.
    """
    whole = function.sinks and bool(((shown.mass - 1).abs() < _WHOLE).all())
    squares = shown.mixed.square().sum(dim=-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)
    return shown.mixed * ((shown.mixed * ran).sum(dim=-1, keepdim=True) / squares) if whole else shown.mixed


def _sees_alike(first: Mask | None, second: Mask | None, rows: slice) -> bool:
    seen = [
        torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask.rows(rows.start, rows.stop).cpu()
        for mask in (first, second)
    ]
    return bool((seen[0] == seen[1]).all())


def _mislabelled_tokens(loaded: LoadedModel, trace: Trace) -> Iterator[str]:
    """Yield a sentence for each token not named as its id is, and for each map whose tokens are not its text's."""
    for encoding in (trace.encoding, trace.target):
        names = () if encoding is None else token_names(loaded.tokenizer, encoding.ids)
        for place, (shown, name) in enumerate(zip(encoding.tokens if encoding else (), names, strict=False)):
            if shown != name:
                yield f"token {place} is {name!r}, not {shown!r}"
    for site in trace.sites:
        queries = trace.read_by(site.stream).tokens
        keys = trace.encoding.tokens if site.stream == "cross" else queries
        follows = site.predicts is None or site.predicts[:-1] == queries[1:]
        if (site.queries, site.keys) != (queries, keys) or not follows:
            yield f"the tokens of {site.name} ({site.stream}) are not those of its text"
