"""A Trace: what was recorded of one text in one model, read-only and without the model.

It keeps the inputs of every attention call (query, key, value, the mask's rule) and of every norm, which is linear in
the text. Maps are quadratic, so none is kept: each is computed again when asked for, by the model's own function, in
blocks of query rows. A cache with a byte budget holds the recent ones.

Shapes: H heads, K kv heads, Q query positions, T key positions, D width, E head width.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.cache import ByteBudgetCache
from models.attention import BLOCK, AttentionFunction, attend_rows
from models.masks import Mask
from models.tokenizers import Cut, Encoding

Array = NDArray[np.float32]
Kind = Literal["weights", "scores"]

_LARGEST_LAYER = 64 * 2**20  # bytes; above it a single head is computed instead of its whole layer
_maps: ByteBudgetCache[Array] = ByteBudgetCache(256 * 2**20)


@dataclass(frozen=True)
class AttentionSite:
    """Where attention happened, and between which tokens.

    stream: "encoder", "decoder" or "cross" (the decoder's queries, the encoder's keys); layer counts within it.
    predicts: in a decoder the token that each query has to predict, beside the one that it reads (`queries`).
    kv_heads: K; as many as heads where left out. window: of a local layer, whose queries see keys less than so many
    tokens away; None where they see the whole text.
    """

    stream: str
    layer: int
    heads: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    predicts: tuple[str, ...] | None = None
    kv_heads: int = 0
    window: int | None = None

    def __post_init__(self) -> None:
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv heads: the first must be a multiple")

    def kv_group(self, head: int) -> int:
        """The kv head that a head reads its keys and values from (Ainslie et al. 2023)."""
        return head // (self.heads // self.kv_heads)


@dataclass(frozen=True)
class AttentionRecord:
    """The inputs of one attention call: query [H, Q, E], key and value [K, T, E]."""

    site: AttentionSite
    function: AttentionFunction
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None


@dataclass(frozen=True)
class NormRecord:
    """One LayerNorm or RMSNorm at work: its input [Q, D], its parameters [D], and where it stands.

    layer: None for the embedding's norm and the final one.
    part: "embedding", "attention", "cross", "ffn" or "final": whose norm it is.
    placement: "pre" (before the sublayer), "post" (after the residual sum), "output" (on the sublayer's output, before
    the sum), "embedding" or "final".
    stream: "encoder" or "decoder", whose tokens it saw. kind: "layer" or "rms"; an RMSNorm has beta 0.
    """

    name: str
    layer: int | None
    part: str
    placement: str
    input: NDArray[np.floating[Any]]
    gamma: NDArray[np.floating[Any]]
    beta: NDArray[np.floating[Any]]
    epsilon: float
    stream: str = "encoder"
    kind: str = "layer"

    @property
    def output(self) -> NDArray[np.floating[Any]]:
        """[Q, D]: gamma * (x - mean) / sqrt(variance + epsilon) + beta (Ba et al. 2016), computed from the input; of an
        RMSNorm gamma * x / sqrt(mean(x^2) + epsilon) (Zhang & Sennrich 2019)."""
        x, gamma, beta = (torch.tensor(array) for array in (self.input, self.gamma, self.beta))
        if self.kind == "rms":
            return read_only(torch.nn.functional.rms_norm(x, gamma.shape, gamma, self.epsilon))
        return read_only(torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, self.epsilon))


@dataclass(frozen=True, eq=False)
class Trace:
    """What was recorded of one text in one model.

    model: the model's id. hidden: last hidden state [Q, D], of the decoder where there is one.
    target: what the decoder of an encoder-decoder read; target_text: what it was given to write, None where it wrote by
    itself.
    """

    model: str
    text: str
    text_pair: str | None
    encoding: Encoding
    attentions: tuple[AttentionRecord, ...]
    norms: tuple[NormRecord, ...]
    hidden: Tensor
    target_text: str | None = None
    target: Encoding | None = None
    key: str = field(default_factory=lambda: uuid4().hex)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The text's tokens as the model read them, special ones included."""
        return self.encoding.tokens

    @property
    def words(self) -> tuple[int | None, ...]:
        """For each token the index of its word, None for special tokens."""
        return self.encoding.words

    @property
    def special(self) -> tuple[bool, ...]:
        """For each token whether the tokenizer added it ([CLS], [SEP])."""
        return self.encoding.special

    @property
    def unknown(self) -> int:
        """How many tokens stand for something that the tokenizer does not know."""
        return self.encoding.unknown

    @property
    def cut(self) -> Cut | None:
        """What of the text did not fit, None where all did."""
        return self.encoding.cut

    def read_by(self, stream: str) -> Encoding:
        """The text that a stream's queries are: the target in a decoder that has a source, else the text itself."""
        return self.encoding if self.target is None or stream == "encoder" else self.target

    @cached_property
    def sites(self) -> tuple[AttentionSite, ...]:
        """All attention calls, in the order in which the model made them."""
        return tuple(record.site for record in self.attentions)

    @property
    def output(self) -> NDArray[np.floating[Any]]:
        """The last hidden state [Q, D]."""
        return read_only(self.hidden)

    @property
    def nbytes(self) -> int:
        """Bytes that the trace holds: linear in the text."""
        tensors = [t for record in self.attentions for t in (record.query, record.key, record.value)]
        attention = sum(tensor.nbytes for tensor in [*tensors, self.hidden])
        return attention + sum(norm.input.nbytes for norm in self.norms)

    def attention(self, *, layer: int, head: int | None = None, stream: str | None = None) -> Array:
        """Attention weights: float32 [Q, T] of a head, or [H, Q, T] of a layer; rows sum to 1.

        The stream may be left out where there is one. Raises ValueError for a layer, head or stream out of range.
        """
        return self._map("weights", layer, head, stream)

    def scores(self, *, layer: int, head: int | None = None, stream: str | None = None) -> Array:
        """The softmax's input, after scale, bias and soft-cap: float32 [Q, T] or [H, Q, T]; masked cells are -inf."""
        return self._map("scores", layer, head, stream)

    def blocks(self, *, layer: int, stream: str | None = None) -> Iterator[tuple[slice, Array]]:
        """All weights of a layer in blocks of query rows: (rows, float32 [H, rows, T]); memory linear in the text."""
        return blocks(self.record_of(layer, stream), "weights")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to one .npz file; `inspector.open` reads it."""
        from inspector.trace_file import save

        save(self, path)

    def _map(self, kind: Kind, layer: int, head: int | None, stream: str | None) -> Array:
        record = self.record_of(layer, stream)
        site = record.site
        if head is not None and not 0 <= head < site.heads:
            raise ValueError(f"head {head} is out of range: layer {layer} has heads 0 to {site.heads - 1}")
        name = (self.key, kind, site.stream, layer)
        layer_bytes = 4 * site.heads * len(site.queries) * len(site.keys)
        if head is None or layer_bytes <= _LARGEST_LAYER:
            whole = _maps.get(name, lambda: _gather(record, kind, slice(None)), size=_size)
            chosen: Array = whole if head is None else whole[head]
            return chosen
        alone: Array = _maps.get((*name, head), lambda: _gather(record, kind, slice(head, head + 1)), size=_size)[0]
        return alone

    def record_of(self, layer: int, stream: str | None) -> AttentionRecord:
        """The inputs of one attention call; ValueError for a layer or stream that there is not."""
        streams = list(dict.fromkeys(site.stream for site in self.sites))
        if stream is None:
            if len(streams) > 1:
                raise ValueError(f"this model has the streams {', '.join(streams)}: say which with stream=")
            stream = streams[0]
        if stream not in streams:
            raise ValueError(f"there is no stream {stream!a}: this model has {', '.join(streams)}")
        records = {record.site.layer: record for record in self.attentions if record.site.stream == stream}
        if layer not in records:
            raise ValueError(f"layer {layer} is out of range: {stream} has layers 0 to {max(records)}")
        return records[layer]


def read_only(tensor: Tensor) -> NDArray[Any]:
    """The tensor's values as an array that cannot be written to."""
    tensor = tensor.detach().cpu()
    array: NDArray[Any] = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    array = array.view()
    array.setflags(write=False)
    return array


def _size(array: Array) -> int:
    return array.nbytes


def _gather(record: AttentionRecord, kind: Kind, heads: slice) -> Array:
    """The chosen heads of one layer: [heads, Q, T], read-only."""
    whole = np.concatenate([block[heads] for _, block in blocks(record, kind)], axis=1)
    whole.setflags(write=False)
    return whole


class _SoftmaxInput(TorchFunctionMode):
    """Keeps what goes into softmax while a model's own attention function runs; a mode acts on its thread alone."""

    scores: Tensor | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.softmax, torch.nn.functional.softmax, Tensor.softmax):
            self.scores = args[0]
        return func(*args, **(kwargs or {}))


@torch.no_grad()
def _block(record: AttentionRecord, kind: Kind, rows: slice) -> Array:
    """[H, rows, T] of one block of query rows."""
    # Contiguous always: the same memory layout gives the same bits, before and after a file.
    query, key, value = (t[None].contiguous() for t in (record.query[:, rows], record.key, record.value))
    with _SoftmaxInput() as softmax:
        attended = attend_rows(record.function, query, key, value, mask=record.mask, rows=rows)
    if kind == "weights":
        block, elsewhere = attended.weights, 0.0
    else:
        block, elsewhere = _scores(record, softmax.scores, attended.band), float("-inf")
        if attended.allowed is not None:  # a masked score is no score; one that a wrong mask leaves finite is shown
            hidden = ~attended.allowed & (block < torch.finfo(block.dtype).min / 2)
            block = block.masked_fill(hidden, float("-inf"))
    around = (attended.band.start, len(record.site.keys) - attended.band.stop)
    return torch.nn.functional.pad(block[0].float(), around, value=elsewhere).cpu().numpy()


def _scores(record: AttentionRecord, softmax_input: Tensor | None, band: slice) -> Tensor:
    if softmax_input is None:
        raise ValueError(f"{record.function} calls no softmax, so there are no scores to show")
    return softmax_input[..., : band.stop - band.start]  # a sink's column, behind those of the keys, is no key's


def blocks(record: AttentionRecord, kind: Kind) -> Iterator[tuple[slice, Array]]:
    """All maps of one attention call, computed again in blocks of query rows: (rows, float32 [H, rows, T])."""
    queries = record.query.shape[1]
    for start in range(0, queries, BLOCK):
        rows = slice(start, min(start + BLOCK, queries))
        yield rows, _block(record, kind, rows)
