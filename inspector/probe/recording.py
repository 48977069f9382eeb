"""The only place that watches: run a model on a text and record what its attention and its norms were given.

Attention is seen through `models.attention.watch`, the seam that every model's attention goes through, norms through
the hooks of norm_hooks.py. Both write to a context variable, so each thread collects its own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, cast, overload
from weakref import WeakKeyDictionary

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import models
from inspector.memory.held import storages
from inspector.probe.inputs import UNLIMITED, ModelInputs, TextLimits, inputs_of_ids, tokenize_inputs
from inspector.probe.norm_hooks import WatchedForward, install, summary, watch_norms
from inspector.probe.norm_places import NormCall, NormPlace, places
from inspector.probe.on_cpu import Transfer
from inspector.probe.states import State, states_of
from inspector.trace import (
    AttentionRecord,
    AttentionSite,
    MixerRecord,
    MixerSite,
    NormRecord,
    PaddedBatch,
    Refusal,
    StateRecord,
    Trace,
    read_only,
)
from models import LoadedModel
from models.attention import AttentionCall, attend_rows, row_blocks, watch
from models.attention import fused as fused_kernel
from models.attention.functions import AttentionFunction, ComposedAttention, DotProductAttention
from models.attention.masks import DenseMask, Mask, window_of
from models.attention.output_gate import watch_gates
from models.attention.running_layer import CallPlaces
from models.attention.scores import FillWith
from models.huggingface.eager_attention import EagerAttention
from models.in_memory import forget_tokenizer
from models.mixers import Core, MixerCall, of_sequence, part_of, watch_mixers
from models.placement import is_on_cpu
from models.tokenizers import Encoding

READS_PADDING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("rwkv", "recurrent_gemma"), ("left",)),
    "yoso": ("left", "right"),
}
"""Types of models that use no mask: padding on these sides is text to them, which changes the text's own numbers."""
PaddingSide = Literal["right", "left"]
OnProgress = Callable[[float, int], None]
"""A function that is told how many attention calls are done, a part of one included, of how many. It may raise."""


@dataclass(frozen=True)
class _Run:
    """The results of one forward: attention calls, other mixers, norms and layers, and the last hidden state [B, T, D].

    fused: whether attention ran in torch's fused kernel. gates: of an attention call by its place, see
    models/attention/output_gate.py.
    """

    attentions: list[AttentionCall]
    gates: Mapping[int, Tensor]
    mixers: list[MixerCall]
    seen: WatchedForward
    hidden: Tensor
    fused: bool


def record(
    loaded: LoadedModel | nn.Module,
    text: str | None = None,
    *,
    tokens: Sequence[int] | None = None,
    tokenizer: Any = None,
    text_pair: str | None = None,
    target: str | None = None,
    limits: TextLimits = UNLIMITED,
    fused: bool = False,
    on_progress: OnProgress | None = None,
) -> Trace:
    """Run the model on a text (or a pair of texts) and record every layer and head of every stream.

    ```python
    trace = inspector.record(models.load("minilm"), "The cat sat on the mat.")
    trace = inspector.record(model, "The cat sat on the mat.", tokenizer=tokenizer)  # a model of yours: see models.of
    trace = inspector.record(model, tokens=[101, 1996, 4937, 102])
    ```

    tokens: ids that the model reads in the place of a text; none is added, and none is left out. tokenizer: of a model
    in memory, where it was not given before. A decoder is teacher-forced: each token that it reads has the next one to
    predict. target: what an encoder-decoder is given to write; without a target it writes by itself first. limits: the
    most that may be read and kept; nothing is limited by default. fused: run attention in torch's fused kernel, which
    is faster on a long text; what a layer hands on then differs from that of the model's own function by rounding, and
    the maps are those of the queries and keys that ran. on_progress: called as the model goes, see OnProgress; an
    exception in it aborts the recording.

    A text that does not fit the model or the limits is cut: see `trace.cut`. Raises ValueError where there is nothing
    to read, for ids that do not fit or that the model does not have, for a model in memory as `models.of` does, where
    the recording takes more memory than the limit (how much a map that cannot be computed again takes is known once it
    was made), and for `fused` where the model does its attention by itself.
    """
    given, loaded = loaded, models.of(loaded, tokenizer=tokenizer)
    try:
        trace = _recorded(
            loaded,
            text,
            tokens,
            text_pair=text_pair,
            target=target,
            limits=limits,
            fused=fused,
            on_progress=on_progress,
        )
    except ValueError:
        if tokenizer is not None:  # perhaps another model's
            forget_tokenizer(given)
        raise
    limits.check_recording(trace)
    return trace


def _recorded(
    loaded: LoadedModel,
    text: str | None,
    tokens: Sequence[int] | None,
    *,
    text_pair: str | None,
    target: str | None,
    limits: TextLimits,
    fused: bool,
    on_progress: OnProgress | None,
) -> Trace:
    if tokens is None:
        inputs = tokenize_inputs(loaded, text, text_pair=text_pair, target=target, limits=limits)
    elif text is not None or text_pair is not None:
        raise ValueError("tokens stand in the place of a text: give tokens, or a text and its pair")
    else:
        inputs = inputs_of_ids(loaded, tokens, target=target, limits=limits)
        text = loaded.tokenizer.decode(list(inputs.encoding.ids), skip_special_tokens=True)
    return record_inputs(
        loaded,
        inputs,
        text=limits.shorten(cast("str", text)),
        text_pair=text_pair and limits.shorten(text_pair),
        target=target and limits.shorten(target),
        fused=fused,
        on_progress=on_progress,
    )


def record_inputs(
    loaded: LoadedModel,
    inputs: ModelInputs,
    *,
    text: str,
    text_pair: str | None = None,
    target: str | None = None,
    fused: bool = False,
    on_progress: OnProgress | None = None,
) -> Trace:
    """Like `record`, but for tokens that are already there (edited by an intervention, or just generated)."""
    run = _run(loaded, lambda: forward(loaded, [inputs], padding="right"), fused=fused, on_progress=on_progress)
    return _trace(loaded, run, inputs, text=text, text_pair=text_pair, target=target)


@overload
def record_batch(
    loaded: LoadedModel | nn.Module,
    texts: Sequence[str],
    *,
    tokenizer: Any = None,
    padding: PaddingSide = "right",
    keep_padding: Literal[False] = False,
    columns: int | None = None,
) -> list[Trace]: ...


@overload
def record_batch(
    loaded: LoadedModel | nn.Module,
    texts: Sequence[str],
    *,
    tokenizer: Any = None,
    padding: PaddingSide = "right",
    keep_padding: Literal[True],
    columns: int | None = None,
) -> PaddedBatch: ...


def record_batch(
    loaded: LoadedModel | nn.Module,
    texts: Sequence[str],
    *,
    tokenizer: Any = None,
    padding: PaddingSide = "right",
    keep_padding: bool = False,
    columns: int | None = None,
) -> list[Trace] | PaddedBatch:
    """Run the model once on all texts, padded to the longest, and record each: a Trace of its real tokens alone.

    A mask that leaks onto the padding shows in `trace.to_padding`, in rows that sum to less than 1, and in exactness.
    keep_padding: record the batch as it ran instead, padding and all, as one PaddedBatch. columns: T, how many tokens
    each is padded to; the longest text's where None. Raises ValueError for a padding that is no side, for more columns
    than the model reads or fewer than the longest text has, for a model that writes a target for each text, and for
    padding on a side where the model reads it as text. loaded, tokenizer: as in `record`.
    """
    loaded = models.of(loaded, tokenizer=tokenizer)
    if padding not in ("right", "left"):
        raise ValueError(f"padding is {padding!a}; it can be 'right' or 'left'")
    if isinstance(texts, str):
        raise ValueError("texts is one string: give a list of them, or read it with record")
    if not texts:
        if keep_padding:
            raise ValueError("a batch needs a text")
        return []
    if loaded.shape == "encoder-decoder":
        raise ValueError(f"{loaded.card.id} writes a target for each text: record the texts one by one")
    batch = [tokenize_inputs(loaded, text) for text in texts]
    longest = max(len(inputs.encoding) for inputs in batch)
    if columns is not None and not longest <= columns <= loaded.max_tokens:
        raise ValueError(
            f"{columns} columns: the longest text has {longest} tokens, and {loaded.card.id} reads {loaded.max_tokens}"
        )
    if not keep_padding and any(len(inputs.encoding) < (columns or longest) for inputs in batch):
        _check_padding(loaded, padding)
    run = _run(loaded, lambda: forward(loaded, batch, padding=padding, columns=columns))
    if keep_padding:
        return _padded(loaded, run, batch, texts=texts, padding=padding)
    traces = []
    for row, (text, inputs) in enumerate(zip(texts, batch, strict=True)):
        length = len(inputs.encoding)
        start = 0 if padding == "right" else run.hidden.shape[1] - length
        traces.append(_trace(loaded, run, inputs, text=text, row=row, real=slice(start, start + length)))
    return traces


def _check_padding(loaded: LoadedModel, padding: PaddingSide) -> None:
    """Raise ValueError for a model that reads padding on this side as text."""
    sides = READS_PADDING.get(getattr(loaded.config, "model_type", ""), ())
    if padding in sides:
        way_out = "record the texts one by one" if len(sides) == 2 else "record the batch with padding='right'"
        where = "before" if padding == "left" else "behind"
        raise ValueError(f"{loaded.card.id} reads the padding {where} a text as text: {way_out}")


def record_rows(
    loaded: LoadedModel, rows: Sequence[ModelInputs], run: Callable[[], Tensor], *, texts: Sequence[str]
) -> tuple[Trace, ...]:
    """Record a forward of the caller's own: a Trace of each whole row of the batch, padding or other texts and all.

    rows: the tokens of each row as they run, all of one length; run: the forward, which gives the last hidden state
    [B, T, D]; texts: what each row holds, for the Trace.
    """
    seen = _run(loaded, run)
    longest = max(
        len(encoding) for inputs in rows for encoding in (inputs.encoding, inputs.target) if encoding is not None
    )
    return tuple(
        _trace(loaded, seen, inputs, text=text, row=row, real=slice(0, longest))
        for row, (inputs, text) in enumerate(zip(rows, texts, strict=True))
    )


# --- running -----------------------------------------------------------------------------------------------------


def _batch(
    encodings: Sequence[Encoding], loaded: LoadedModel, *, padding: PaddingSide, columns: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """ids, keep and segments, each [B, T], padded to the longest, or to as many columns as given."""
    longest = columns or max(len(encoding) for encoding in encodings)
    pad = loaded.tokenizer.pad_token_id or 0

    def padded(values: Sequence[int], filler: int) -> list[int]:
        filling = [filler] * (longest - len(values))
        return [*values, *filling] if padding == "right" else [*filling, *values]

    ids = torch.tensor([padded(encoding.ids, pad) for encoding in encodings])
    keep = torch.tensor([padded([1] * len(encoding), 0) for encoding in encodings], dtype=torch.bool)
    segments = torch.tensor([padded(encoding.segments, 0) for encoding in encodings])
    return ids, keep, segments


def forward(
    loaded: LoadedModel, batch: Sequence[ModelInputs], *, padding: PaddingSide, columns: int | None = None
) -> Tensor:
    """The last hidden state [B, T, D]; of an encoder-decoder, which runs one text at a time, the decoder's."""
    ids, keep, segments = _batch([inputs.encoding for inputs in batch], loaded, padding=padding, columns=columns)
    target = batch[0].target
    if loaded.run_pair is not None and target is not None:
        return loaded.run_pair(ids, keep, torch.tensor([target.ids]))
    return loaded.run(ids, keep, segments)


@contextmanager
def _watch(
    calls: list[AttentionCall],
    gates: dict[int, Tensor],
    mixers: list[MixerCall],
    loaded: LoadedModel,
    on_progress: OnProgress | None,
) -> Iterator[None]:
    """Put every attention call and every other mixer of the block into its list, on the CPU, and tell how far it is."""
    stays = is_on_cpu(loaded.network) and not loaded.live
    transfer = None if stays else Transfer(copied=_memory(loaded.network) if loaded.live else frozenset())

    def tell(done: float) -> None:
        if on_progress is not None:
            on_progress(done, loaded.layers)

    def begun(call: AttentionCall) -> None:
        tell(len(calls))
        calls.append(call if transfer is None else transfer.call(call))

    def mixed(call: MixerCall) -> None:
        mixers.append(call if transfer is None else transfer.mixer(call))

    def gated(shares: Tensor) -> None:
        gates[len(calls) - 1] = shares.cpu()

    def done(share: float) -> None:
        tell(len(calls) - 1 + share)

    with watch(begun, pace=done), watch_mixers(mixed), watch_gates(gated):
        yield


def _run(
    loaded: LoadedModel, forward: Callable[[], Tensor], *, fused: bool = False, on_progress: OnProgress | None = None
) -> _Run:
    """Watch a forward, which gives the last hidden state [B, T, D]."""
    if fused and loaded.backend == "eager output":
        raise ValueError(
            f"{type(loaded.network).__name__} does its attention by itself, so torch's fused kernel cannot take its "
            "place: record without fused"
        )
    install(loaded.network)
    attentions: list[AttentionCall] = []
    gates: dict[int, Tensor] = {}
    mixers: list[MixerCall] = []
    theirs = loaded.backend != "own"
    with (
        torch.inference_mode(),
        fused_kernel() if fused else nullcontext(),
        _watch(attentions, gates, mixers, loaded, on_progress),
        watch_norms(loaded.network, attentions, sums=theirs) as seen,
    ):
        hidden = forward()
    if not attentions and not mixers:
        raise ValueError(
            f"{type(loaded.network).__name__} made no attention call that could be seen, nor mixed tokens in another "
            "way that could, so there is nothing to record"
        )
    return _Run(attentions, gates, mixers, seen, hidden, fused)


# --- from a run to a trace ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SequenceMask:
    """The mask of one sequence of a padded batch, between its real tokens alone."""

    mask: Mask
    row: int
    real: slice

    def rows(self, start: int, stop: int) -> Tensor:
        rows = self.mask.rows(self.real.start + start, self.real.start + stop)
        rows = rows.expand(-1, -1, stop - start, -1)
        return rows[self.row if rows.shape[0] > 1 else 0, :, :, self.real][None]


def _to_padding(call: AttentionCall, row: int, real: slice) -> Tensor | None:
    """The share of each row's weight that goes to padding, [H, Q] of the real tokens; None where it is nothing.

    A mask that fills with a finite number leaves masked keys a weight, and a model may not mask its padding at all.
    """
    keys = call.key.shape[2]
    padding = torch.ones(keys, dtype=torch.bool)
    padding[real] = False
    if not padding.any() or (_hides(call, row, real, padding) and _masks_with_nothing(call.function)):
        return None
    shares = []
    for rows in row_blocks(call.query.shape[2], keys, among=real):
        query = call.query[:, :, rows]
        seen = attend_rows(call.function, query, call.key, call.value, mask=call.mask, rows=rows)
        shares.append(seen.weights[row][..., padding[seen.band]].sum(dim=-1))
    first = real.start - next(row_blocks(call.query.shape[2], keys, among=real)).start
    share = torch.cat(shares, dim=-1)[:, first : first + real.stop - real.start].clone()
    return share if bool(share.any()) else None


def _hides(call: AttentionCall, row: int, real: slice, padding: Tensor) -> bool:
    """Return True if the mask hides all padding from every real query."""
    if call.mask is None:
        return False
    for rows in row_blocks(call.query.shape[2], call.key.shape[2], among=real):
        inside = slice(max(rows.start, real.start), min(rows.stop, real.stop))
        allowed = call.mask.rows(inside.start, inside.stop)
        allowed = allowed[row if len(allowed) > 1 else 0].expand(-1, -1, len(padding))
        if bool(allowed[..., padding].any()):
            return False
    return True


def _masks_with_nothing(function: AttentionFunction) -> bool:
    """Return True if a masked key weighs exactly nothing."""
    filled = isinstance(function, ComposedAttention) and function.fill == FillWith(-inf)
    return filled or isinstance(function, DotProductAttention | EagerAttention)


def _of_sequence(mask: Mask | None, row: int, real: slice) -> Mask | None:
    if mask is None or isinstance(mask, DenseMask):
        return mask and mask.of_sequence(row, real)
    return _SequenceMask(mask, row, real)


def _trace(
    loaded: LoadedModel,
    run: _Run,
    inputs: ModelInputs,
    *,
    text: str,
    text_pair: str | None = None,
    target: str | None = None,
    row: int = 0,
    real: slice = slice(None),
) -> Trace:
    """The record of one sequence of the batch: `row` of B, its tokens at the columns `real` of T."""
    alone = run.hidden.shape[0] == 1

    def of_sequence(tensor: Tensor, *, tokens: int) -> Tensor:
        """Return this sequence's part; a copy in a batch, or one trace would keep the whole batch in memory."""
        part = tensor[row] if alone else tensor[row].movedim(tokens, 0)[real].movedim(0, tokens).clone()
        return part.detach()

    masks = [call.mask if alone else _of_sequence(call.mask, row, real) for call in run.attentions]
    attentions = []
    sites = _sites(run.attentions, masks, inputs)
    for place, (call, mask, site) in enumerate(zip(run.attentions, masks, sites, strict=True)):
        query, key, value = (of_sequence(tensor, tokens=1) for tensor in (call.query, call.key, call.value))
        function = call.function.of_sequence(row, real)
        to_padding = None if alone else _to_padding(call, row, real)
        gate = None if place not in run.gates else of_sequence(run.gates[place], tokens=1)
        attentions.append(AttentionRecord(site, function, query, key, value, mask, to_padding, gate))
    seen = run.seen
    stand = places(seen.norms, loaded.config, shape=loaded.shape, attentions=run.attentions, mixers=seen.mixers)

    def rows(tensor: Tensor) -> NDArray[Any]:
        """Return the vectors of this sequence's tokens in their stream."""
        return read_only(of_sequence(_batch_first(tensor, run.hidden), tokens=0))

    norms = [_norm_record(norm, place, rows=rows) for norm, place in zip(seen.norms, stand, strict=True)]
    known, refused = states_of(seen, shape=loaded.shape, hidden=run.hidden)
    states = [_state_record(state, norms, rows=rows) for state in known]
    lengths = {"encoder": len(inputs.encoding), "decoder": len(inputs.target or inputs.encoding)}
    for stream in {state.stream for state in states if _length(state, norms) != lengths[state.stream]}:
        states = [state for state in states if state.stream != stream]
        refused.append(Refusal("residual stream", stream, "its layers do not hand on one state for each token"))
    left_out = [Refusal("norm", name, reason) for name, reason in seen.refused]
    return Trace(
        loaded.card.id,
        text,
        text_pair,
        inputs.encoding,
        tuple(attentions),
        tuple(norms),
        of_sequence(run.hidden, tokens=0),
        target,
        inputs.target,
        lent=_lent(loaded, seen, [record.function for record in attentions] + [call.core for call in run.mixers]),
        states=tuple(states),
        refused=(*left_out, *refused),
        fused=run.fused,
        mixers=tuple(_mixer_record(call, loaded, inputs, row=row, real=real, alone=alone) for call in run.mixers),
    )


def _mixer_record(
    call: MixerCall, loaded: LoadedModel, inputs: ModelInputs, *, row: int, real: slice, alone: bool
) -> MixerRecord:
    """Freeze one run of a mixer, for one sequence of the batch; alone: the batch is this sequence."""
    assert call.layer is not None
    core = of_sequence(call.core, row, real, whole=alone)
    value, output = (part_of(tensor, row, real, whole=alone) for tensor in (call.value, call.output))
    gate = None if call.gate is None else part_of(call.gate, row, real, whole=alone)
    stream = "encoder" if loaded.shape == "encoder" else "decoder"
    site = MixerSite(call.kind, stream, call.layer, output.shape[1], inputs.encoding.tokens, inputs.predicts)
    return MixerRecord(site, core, value, output, call.again, gate)


def _norm_record(norm: NormCall, place: NormPlace, *, rows: Callable[[Tensor], NDArray[Any]]) -> NormRecord:
    """Freeze a norm call; rows: picks the vectors to keep of [B, T, D]."""
    norm_parameters = norm.parameters
    return NormRecord(
        norm.name,
        place.layer,
        place.part,
        place.placement,
        rows(norm.input),
        read_only(norm_parameters.gamma),
        read_only(norm_parameters.beta),
        norm_parameters.epsilon,
        stream=place.stream,
        kind=norm_parameters.kind,
        learned=norm_parameters.learned,
        groups=norm_parameters.groups,
        gate=None if norm.gate is None or not norm_parameters.gating else rows(norm.gate),
        gating=norm_parameters.gating,
        plus_one=norm_parameters.plus_one,
        running=None if norm_parameters.running is None else read_only(norm_parameters.running),
        truth=(lambda record: _summary(record.output)) if norm.truth is None else rows(norm.truth),
        difference=norm.difference,
    )


def _state_record(state: State, norms: Sequence[NormRecord], *, rows: Callable[[Tensor], NDArray[Any]]) -> StateRecord:
    """Freeze a state: a copy as it was then, or a norm's. Of a norm's output the norm's module says what it was."""
    place = (state.stream, state.layer, state.norm, state.side)
    if state.tensor is not None:
        return StateRecord(*place, rows(state.tensor), truth=lambda record: _summary(record.state))
    assert state.norm is not None
    norm = norms[state.norm]
    if state.side == "output":
        return StateRecord(*place, None, truth=lambda _: cast("NDArray[Any]", norm.truth))
    return StateRecord(*place, None, truth=lambda _: _summary(norm.input))


def _length(state: StateRecord, norms: Sequence[NormRecord]) -> int:
    """Count the tokens of a state."""
    if state.state is not None:
        return len(state.state)
    assert state.norm is not None
    return len(norms[state.norm].input)


def _summary(vectors: NDArray[Any]) -> NDArray[Any]:
    return read_only(summary(torch.tensor(vectors)))


def _padded(
    loaded: LoadedModel, run: _Run, batch: Sequence[ModelInputs], *, texts: Sequence[str], padding: PaddingSide
) -> PaddedBatch:
    """The batch as it ran: the norms' inputs alone, no attention."""
    encodings, seen, width = [inputs.encoding for inputs in batch], run.seen, run.hidden.shape[1]
    _, keep, _ = _batch(encodings, loaded, padding=padding, columns=width)
    stand = places(seen.norms, loaded.config, shape=loaded.shape, attentions=run.attentions, mixers=seen.mixers)

    def rows(tensor: Tensor) -> NDArray[Any]:
        return read_only(_batch_first(tensor, run.hidden).flatten(0, 1))

    return PaddedBatch(
        loaded.card.id,
        tuple(texts),
        tuple(encodings),
        padding,
        loaded.tokenizer.pad_token or "padding",
        read_only(keep),
        tuple(_norm_record(norm, place, rows=rows) for norm, place in zip(seen.norms, stand, strict=True)),
    )


_memories: WeakKeyDictionary[nn.Module, frozenset[int]] = WeakKeyDictionary()
_learned: WeakKeyDictionary[nn.Module, frozenset[int]] = WeakKeyDictionary()
"""Addresses of the learned tensors that each network's attention and mixers read: the same in every text."""


def _memory(network: nn.Module) -> frozenset[int]:
    """The addresses of a network's storages."""
    if network not in _memories:
        _memories[network] = frozenset(storages((*network.parameters(), *network.buffers())))
    return _memories[network]


def _lent(loaded: LoadedModel, seen: WatchedForward, read: Sequence[AttentionFunction | Core]) -> frozenset[int]:
    """Addresses of the model's own storages: learned tensors in what was read, each norm's gamma and beta."""
    network = loaded.network
    if network not in _learned:
        _learned[network] = _memory(network) & storages(read).keys()
    return _learned[network].union(*(norm.parameters.addresses for norm in seen.norms))


def _batch_first(x: Tensor, hidden: Tensor) -> Tensor:
    """Bring a norm's or a layer's input to [B, T, D], where its model has [T, B, D] (XLNet)."""
    return x if x.shape[0] == hidden.shape[0] else x.transpose(0, 1)


def _sites(calls: Sequence[AttentionCall], masks: Sequence[Mask | None], inputs: ModelInputs) -> list[AttentionSite]:
    """Stream, layer, tokens, kv heads and window of each call."""
    places = CallPlaces()
    windows: dict[int, int | None] = {}  # models share one mask between layers
    sites = []
    text = inputs.encoding.tokens
    target = text if inputs.target is None else inputs.target.tokens
    between = {"encoder": (text, text, None), "decoder": (target, target, inputs.predicts)}
    between["cross"] = (target, text, inputs.predicts)
    for call, mask in zip(calls, masks, strict=True):
        queries, keys, predicts = between[call.stream]
        if mask is not None and call.stream != "cross" and id(call.mask) not in windows:
            windows[id(call.mask)] = window_of(mask, tokens=len(queries))
        layer, number = places.next(call.stream, call.layer)
        sites.append(
            AttentionSite(
                call.stream,
                layer,
                call.query.shape[1],
                queries,
                keys,
                predicts,
                kv_heads=call.key.shape[1],
                window=windows.get(id(call.mask)),
                call=number,
            )
        )
    return sites
