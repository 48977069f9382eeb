"""The only place that hooks: run a model on a text and record what its attention and its norms were given.

Attention is seen through `models.attention.watch`, the seam that every model's attention goes through. Norms get one
forward hook each, the first time that their model is recorded, and keep it: hooks that come and go with each request
mix up the records of two visitors. What is seen goes to a context variable, so each thread collects its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal
from weakref import WeakSet

import numpy as np
import torch
from torch import Tensor, nn

from inspector.trace import AttentionRecord, AttentionSite, NormRecord, Trace, read_only
from models import LoadedModel
from models.attention import AttentionCall, fused, watch
from models.masks import Mask
from models.norms import LayerNorm
from models.tokenizers import Encoding

Side = Literal["right", "left"]


@dataclass(frozen=True)
class _NormCall:
    """A norm that ran: its path in the network, its input [B, T, D], and how many attention calls came before."""

    name: str
    module: nn.Module
    input: Tensor
    attentions_before: int


@dataclass(frozen=True)
class _Run:
    """What one forward gave: its attention calls, its norm calls, the last hidden state [B, T, D]."""

    attentions: list[AttentionCall]
    norms: list[_NormCall]
    hidden: Tensor


def record(loaded: LoadedModel, text: str, *, text_pair: str | None = None) -> Trace:
    """Run the model on a text (or a pair of texts) and record every layer and head.

    Raises ValueError where there is nothing to read. What does not fit the model is cut: see `trace.cut`.
    """
    encoding = loaded.encode(text, text_pair=text_pair)
    run = _run(loaded, *_batch([encoding], loaded, padding="right"))
    return _trace(loaded, run, encoding, text=text, text_pair=text_pair)


def record_batch(loaded: LoadedModel, texts: Sequence[str], *, padding: Side = "right") -> list[Trace]:
    """Run the model once on all texts, padded to the longest, and record each: a Trace of its real tokens alone."""
    if padding not in ("right", "left"):
        raise ValueError(f"padding is {padding!a}; it can be 'right' or 'left'")
    if not texts:
        return []
    encodings = [loaded.encode(text) for text in texts]
    run = _run(loaded, *_batch(encodings, loaded, padding=padding))
    longest = run.hidden.shape[1]
    traces = []
    for row, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
        start = 0 if padding == "right" else longest - len(encoding)
        real = slice(start, start + len(encoding))
        traces.append(_trace(loaded, run, encoding, text=text, row=row, real=real))
    return traces


def fused_difference(loaded: LoadedModel, trace: Trace) -> float:
    """Largest difference between the recorded last hidden state and a run in torch's fused attention kernel.

    The fused kernel shares no code with the path that was recorded, so agreement (1e-5 or so in float32) says that
    what was recorded is what the model computes.
    """
    ids, keep, segments = _batch([trace.encoding], loaded, padding="right")
    with torch.inference_mode(), fused():
        hidden = loaded.run(ids, keep, segments)[0]
    return float((hidden - trace.hidden).abs().max())


# --- running -----------------------------------------------------------------------------------------------------


def _batch(encodings: Sequence[Encoding], loaded: LoadedModel, *, padding: Side) -> tuple[Tensor, Tensor, Tensor]:
    """ids, keep and segments, each [B, T], padded to the longest."""
    longest = max(len(encoding) for encoding in encodings)
    pad = loaded.tokenizer.pad_token_id or 0

    def padded(values: Sequence[int], filler: int) -> list[int]:
        filling = [filler] * (longest - len(values))
        return [*values, *filling] if padding == "right" else [*filling, *values]

    ids = torch.tensor([padded(encoding.ids, pad) for encoding in encodings])
    keep = torch.tensor([padded([1] * len(encoding), 0) for encoding in encodings], dtype=torch.bool)
    segments = torch.tensor([padded(encoding.segments, 0) for encoding in encodings])
    return ids, keep, segments


def _run(loaded: LoadedModel, ids: Tensor, keep: Tensor, segments: Tensor) -> _Run:
    _install(loaded.network)
    attentions: list[AttentionCall] = []
    norms: list[_NormCall] = []
    with torch.inference_mode(), watch(attentions.append), _watch_norms(attentions, norms):
        hidden = loaded.run(ids, keep, segments)
    if not attentions:
        raise ValueError(
            f"{type(loaded.network).__name__} does its attention outside transformers' attention registry, "
            "so there is nothing to record; choose a BERT, RoBERTa, DistilBERT, ALBERT or ELECTRA model"
        )
    return _Run(attentions, norms, hidden)


# --- hooks on norms ----------------------------------------------------------------------------------------------

_norms_seen: ContextVar[tuple[list[AttentionCall], list[_NormCall]] | None] = ContextVar("norms_seen", default=None)
_hooked: WeakSet[nn.Module] = WeakSet()
_hooking = Lock()


@contextmanager
def _watch_norms(attentions: list[AttentionCall], norms: list[_NormCall]) -> Iterator[None]:
    token = _norms_seen.set((attentions, norms))
    try:
        yield
    finally:
        _norms_seen.reset(token)


def _install(network: nn.Module) -> None:
    """One hook on each norm of the network, once for as long as it lives."""
    with _hooking:
        if network in _hooked:
            return
        for name, module in network.named_modules():
            if isinstance(module, nn.LayerNorm | LayerNorm):
                module.register_forward_pre_hook(_NormHook(name))
        _hooked.add(network)


@dataclass(frozen=True)
class _NormHook:
    name: str

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen = _norms_seen.get()
        if seen is not None:
            attentions, norms = seen
            norms.append(_NormCall(self.name, module, inputs[0].detach(), len(attentions)))


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


def _trace(
    loaded: LoadedModel,
    run: _Run,
    encoding: Encoding,
    *,
    text: str,
    text_pair: str | None = None,
    row: int = 0,
    real: slice = slice(None),
) -> Trace:
    """The record of one sequence of the batch: `row` of B, its tokens at the columns `real` of T."""
    alone = run.hidden.shape[0] == 1

    def own(tensor: Tensor, *, tokens: int) -> Tensor:
        """This sequence's part; of a batch a copy, or one trace would keep the whole batch in memory."""
        part = tensor[row] if alone else tensor[row].movedim(tokens, 0)[real].movedim(0, tokens).clone()
        return part.detach()

    attentions = []
    for layer, call in enumerate(run.attentions):
        site = AttentionSite("encoder", layer, call.query.shape[1], encoding.tokens, encoding.tokens)
        mask = call.mask if call.mask is None or alone else _SequenceMask(call.mask, row, real)
        query, key, value = (own(tensor, tokens=1) for tensor in (call.query, call.key, call.value))
        attentions.append(AttentionRecord(site, call.function, query, key, value, mask))
    norms = [
        NormRecord(call.name, *place, read_only(own(call.input, tokens=0)), *_parameters(call.module))
        for call, place in zip(run.norms, _places(run.norms), strict=True)
    ]
    hidden = own(run.hidden, tokens=0)
    return Trace(loaded.card.id, text, text_pair, encoding, tuple(attentions), tuple(norms), hidden)


def _parameters(norm: nn.Module) -> tuple[np.ndarray, np.ndarray, float]:
    """gamma [D], beta [D] and epsilon, under the names that torch or the own LayerNorm gives them."""
    if isinstance(norm, LayerNorm):
        gamma, beta, epsilon = norm.gamma, norm.beta, norm.epsilon
    else:
        assert isinstance(norm, nn.LayerNorm)
        gamma, epsilon = norm.weight, norm.eps
        beta = torch.zeros_like(gamma) if norm.bias is None else norm.bias
    return read_only(gamma.detach().clone()), read_only(beta.detach().clone()), epsilon


def _places(calls: Sequence[_NormCall]) -> list[tuple[int | None, str, str]]:
    """Layer, part and placement of each norm call.

    A norm with a number in its path stands in that layer (one layer on where a shared module runs again, as in
    ALBERT); one without stands at the embedding or at the end. A model whose layers begin with a norm is pre-norm:
    what comes before a layer's attention is the attention's, what comes after is the FFN's. Else it is post-norm: the
    first norm after the attention is the attention's, the next the FFN's.
    """
    layers = _layers(calls)
    pre = any(layer is not None and call.attentions_before <= layer for call, layer in zip(calls, layers, strict=True))
    seen: Counter[int] = Counter()
    places: list[tuple[int | None, str, str]] = []
    for call, layer in zip(calls, layers, strict=True):
        if layer is None:
            end = "final" if call.attentions_before else "embedding"
            places.append((None, end, end))
            continue
        first = call.attentions_before <= layer if pre else seen[layer] == 0
        seen[layer] += 1
        places.append((layer, "attention" if first else "ffn", "pre" if pre else "post"))
    return places


def _layers(calls: Sequence[_NormCall]) -> list[int | None]:
    runs: Counter[str] = Counter()
    layers: list[int | None] = []
    for call in calls:
        numbers = [int(part) for part in call.name.split(".") if part.isdigit()]
        layers.append(numbers[0] + runs[call.name] if numbers else None)
        runs[call.name] += 1
    return layers
