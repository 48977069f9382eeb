"""A Trace: what was recorded of one text in one model, read-only and without the model.

It keeps the inputs of every attention call (query, key, value, the mask's rule) and of every norm, which is linear in
the text. Maps are quadratic, so none is kept: each is computed again when asked for (recompute.py). A cache
with a byte budget holds the recent ones: HEADLIGHT_MAPS_MB sets it.

Shapes: H heads, Q query positions, T key positions, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.memory.cache import ByteBudgetCache
from inspector.memory.held import held_bytes
from inspector.trace import recompute
from inspector.trace.counting import counted, places
from inspector.trace.mixers import MixerRecord, MixerSite
from inspector.trace.norm_formula import Gating, normalise
from inspector.trace.on_demand import OnDemand
from inspector.trace.recompute import Array, AttentionRecord, AttentionSite, Kind, WeightBlock
from models import settings
from models.attention.given import GivenWeights
from models.formatting import layers_in_words
from models.guesses import no_attribute
from models.mixers import MixerKind
from models.tokenizers import Cut, Encoding

__all__ = ["Array", "AttentionRecord", "AttentionSite", "NormRecord", "Refusal", "StateRecord", "Trace", "WeightBlock"]
__all__ += ["read_only"]

GIVEN = "given attention"
"""The model's name in a trace of attention that was computed elsewhere."""
HALF = (torch.bfloat16, torch.float16)  # what numpy or its readers have too few digits for
_ELSEWHERE = {  # what other tools call so
    "hidden_states": "trace.hidden, of the last layer, or inspector.record_blocks(loaded, trace), of every layer",
    "logits": "inspector.lens.logit_lens(trace, loaded)",
    "plot": "inspector.show(trace), or inspector.plots.attention.heatmap(trace, layer=0, head=0)",
    "rollout": "inspector.flow.rollout(trace)",
    "show": "inspector.show(trace)",
    "save": "inspector.save(trace, path)",
    "weights": "trace.attention(layer)",
}
_SHOWN = 60  # characters of a text in a trace's repr
_LARGEST_LAYER = 64 * 2**20  # bytes; above it a single head is computed instead of its whole layer
_MAPS_BYTES = settings.number("MAPS_MB") * 2**20  # of all traces of a process together
_maps: ByteBudgetCache[Array] = ByteBudgetCache(_MAPS_BYTES)


@dataclass(frozen=True)
class NormRecord:
    """One call of a LayerNorm or RMSNorm: its input [Q, D], its parameters [D], and its place in the model.

    layer: None for the embedding's norm and the final one.
    part: "embedding", "attention", "cross", "ffn", "mixer" (what stands in attention's place: a state space, a
    convolution, linear attention), "other" or "final": whose norm it is.
    placement: "pre" (before the sublayer), "post" (after the residual sum), "output" (on the sublayer's output, before
    the sum), "inside" (within a sublayer), "embedding" or "final".
    stream: "encoder" or "decoder", whose tokens it saw. kind: "layer", "rms" or "batch"; an RMSNorm has
    beta 0. learned: which of "gamma" and "beta" the module has; gamma is 1 and beta 0 where it has none. plus_one:
    whether the module keeps gamma less 1, and `gamma` is with the 1 (Gemma).
    groups, gate [Q, D], gating, running [2, D]: as in `norm_formula.normalise`.
    truth: mean and deviation of what the module itself gave for each token, [Q, 2]; difference: the largest between
    what it gave and its formula when it was recorded; both None where nothing was recorded of it.
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
    learned: tuple[str, ...] = ("gamma", "beta")
    groups: int = 1
    gate: NDArray[np.floating[Any]] | None = None
    gating: Gating = ""
    truth: OnDemand[NDArray[np.floating[Any]] | None] = OnDemand(None)
    difference: float | None = None
    plus_one: bool = False
    running: NDArray[np.floating[Any]] | None = None

    @property
    def output(self) -> NDArray[np.floating[Any]]:
        """[Q, D]: what the norm gives, computed from its input by `norm_formula.normalise`."""
        x, gamma, beta = (torch.tensor(array) for array in (self.input, self.gamma, self.beta))
        made = normalise(
            x,
            gamma,
            beta,
            kind=self.kind,
            epsilon=self.epsilon,
            groups=self.groups,
            gate=None if self.gate is None else torch.tensor(self.gate),
            gating=self.gating,
            running=None if self.running is None else torch.tensor(self.running),
        )
        return read_only(made)


@dataclass(frozen=True, eq=False)
class StateRecord:
    """The residual stream after a layer, [Q, D]; layer -1 is what goes into layer 0.

    norm, side: the norm, by its place in `Trace.norms`, whose "input" or "output" it is; state: the numbers themselves,
    where no norm has them. truth: mean and deviation of each token's state as the layer gave it, [Q, 2].
    """

    stream: str
    layer: int
    norm: int | None
    side: Literal["input", "output"]
    state: NDArray[np.floating[Any]] | None
    truth: OnDemand[NDArray[np.floating[Any]]] = OnDemand()


@dataclass(frozen=True)
class Refusal:
    """A norm (by its path) or a residual stream (by its stream) that ran and is not shown, with the reason."""

    what: Literal["norm", "residual stream"]
    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Trace:
    """The recording of one text in one model.

    model: the model's id. hidden: last hidden state [Q, D], of the decoder where there is one.
    target: what the decoder of an encoder-decoder read; target_text: what it was given to write, None where it wrote by
    itself. states: the residual stream, and refused: what of norms and streams is not shown. lent: addresses of
    storages that are the model's own (a norm's gamma), which `nbytes` leaves out. fused: the text was recorded with
    attention in torch's fused kernel. mixers: layers that mix tokens without softmax attention, whose maps are no
    distributions; what reads `attentions` and `sites` never meets these.
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
    lent: frozenset[int] = field(default=frozenset(), repr=False)
    states: tuple[StateRecord, ...] = ()
    refused: tuple[Refusal, ...] = ()
    fused: bool = False
    mixers: tuple[MixerRecord, ...] = ()
    key: str = field(default_factory=lambda: uuid4().hex)

    def __repr__(self) -> str:
        """Name the model, the text and what was recorded, in a line."""
        text = self.text if len(self.text) <= _SHOWN else f"{self.text[: _SHOWN - 1]}…"
        heads = f"{sum(site.heads for site in self.mixing_sites)} heads of {', '.join(self.streams)}"
        return f"<Trace of {self.model!r}: {len(self.tokens)} tokens of {text!r}, {heads}>"

    if not TYPE_CHECKING:  # a type checker refuses by itself what does not exist

        def __getattr__(self, name: str) -> NoReturn:
            """Point from a guessed name to what gives the same."""
            raise no_attribute("a Trace", name, known=dir(type(self)), elsewhere=_ELSEWHERE)

    @property
    def given(self) -> bool:
        """True where attention was computed elsewhere (`inspector.from_attention`), and nothing else is known."""
        return any(isinstance(record.function, GivenWeights) for record in self.attentions)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The text's tokens as the model read them, special ones included."""
        return self.encoding.tokens

    @property
    def words(self) -> tuple[int | None, ...]:
        """The index of each token's word, None for special tokens."""
        return self.encoding.words

    @property
    def special(self) -> tuple[bool, ...]:
        """True for each token that the tokenizer added ([CLS], [SEP])."""
        return self.encoding.special

    @property
    def unknown(self) -> int:
        """The number of tokens that stand for text unknown to the tokenizer."""
        return self.encoding.unknown

    @property
    def cut(self) -> Cut | None:
        """The lengths of a text that did not fit; None where the text fitted."""
        return self.encoding.cut

    def read_by(self, stream: str) -> Encoding:
        """The text that a stream's queries are: the target in a decoder that has a source, else the text itself."""
        return self.encoding if self.target is None or stream == "encoder" else self.target

    @cached_property
    def sites(self) -> tuple[AttentionSite, ...]:
        """All attention calls, in the order in which the model made them."""
        return tuple(record.site for record in self.attentions)

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """The streams whose tokens are mixed, in the order of their first calls."""
        return tuple(dict.fromkeys(site.stream for site in self.mixing_sites))

    def sites_of(self, stream: str) -> tuple[AttentionSite, ...]:
        """All attention calls of a stream, in the order in which the model made them."""
        return tuple(site for site in self.sites if site.stream == stream)

    @property
    def output(self) -> NDArray[np.floating[Any]]:
        """The last hidden state [Q, D]."""
        return read_only(self.hidden)

    def state(self, record: StateRecord) -> NDArray[np.floating[Any]]:
        """The numbers of one of `states`, [Q, D]: kept by themselves, or a norm's."""
        if record.state is not None:
            return record.state
        assert record.norm is not None
        norm = self.norms[record.norm]
        return norm.input if record.side == "input" else norm.output

    @cached_property
    def to_padding(self) -> float:
        """The largest share of a row's weight that went to the padding of the text's batch; 0 where none did.

        More than rounding means that the mask leaks: the numbers of the text depend on the batch that it was read in.
        """
        shares = (record.to_padding for record in self.attentions if record.to_padding is not None)
        return max((float(share.float().max()) for share in shares), default=0.0)

    @cached_property
    def nbytes(self) -> int:
        """Bytes that the trace holds: every storage that can be reached from it, once, but for the model's own."""
        return held_bytes(self)

    @cached_property
    def mixing_sites(self) -> tuple[AttentionSite | MixerSite, ...]:
        """All that mixes tokens: the attentions, and behind them layers that do it in another way."""
        return (*self.sites, *self.mixer_sites)

    def mixing_sites_of(self, stream: str) -> tuple[AttentionSite | MixerSite, ...]:
        """All that mixes a stream's tokens, in the order of the layers; in a layer that has both, attention first.

        Of a stream that attends in all its layers it is `sites_of`.
        """
        attentions, mixers = self.sites_of(stream), [site for site in self.mixer_sites if site.stream == stream]
        return tuple(sorted((*attentions, *mixers), key=lambda site: site.layer)) if mixers else attentions

    @cached_property
    def mixer_sites(self) -> tuple[MixerSite, ...]:
        """All layers that mix tokens without softmax attention, in the order in which they ran."""
        return tuple(record.site for record in self.mixers)

    def attention(
        self,
        layer: int,
        head: int | None = None,
        *,
        stream: str | None = None,
        call: int = 0,
        kind: MixerKind | Literal["softmax"] = "softmax",
    ) -> Array:
        """Attention weights: float32 [Q, T] of a head, or [H, Q, T] of a layer.

        Rows sum to 1; to less where a part goes to sinks, to anything where a sigmoid makes the weights.
        layer, head: from 0, or from the end as in Python, -1 for the last. The stream may be left out where there is
        one. call: which attention of a layer that attends more than once. kind: of one of `mixer_sites`, for the map of
        a layer that mixes tokens in another way: its weights have a sign and rows sum to anything; head is then a
        channel, where the map is by channel. Raises ValueError for a layer, head, stream or call that there is not, and
        for a map of a mixer that is not what the layer did.
        """
        layer = self._layer(layer, stream)
        if kind == "softmax":
            return self._map("weights", layer, head, stream, call)
        record = self.mixer(layer=layer, kind=kind)
        head = None if head is None else counted(head, "head", count=record.site.heads)
        record = record if head is None else record.of_head(head)
        tokens = slice(0, len(record.site.queries))
        name = self.key, kind, layer, head
        whole: Array = _maps.get(name, lambda: record.window(queries=tokens, keys=tokens), size=held_bytes)
        return whole if head is None else whole[0]

    def mixer(self, *, layer: int, kind: MixerKind | None = None) -> MixerRecord:
        """The run of what mixes a layer's tokens without softmax attention: its windows, pictures and checks.

        kind: may be left out. Raises ValueError for a layer that has no such mixer.
        """
        records = [record for record in self.mixers if record.site.layer == layer and kind in (None, record.site.kind)]
        if records:
            return records[0]
        places = ", ".join(site.name for site in self.mixer_sites) or "none"
        raise ValueError(f"layer {layer} has no {kind or 'mixer beside attention'}: there are {places}")

    def scores(self, layer: int, head: int | None = None, *, stream: str | None = None, call: int = 0) -> Array:
        """The softmax's input, after scale, bias and soft-cap: float32 [Q, T] or [H, Q, T]; masked cells are -inf.

        For sigmoid attention it is the sigmoid's input, with its -ln n; for linear attention ln(phi(q) . phi(k)), whose
        softmax divides phi(q) . phi(k) by the row's sum. Layers and heads are counted as in `attention`.
        """
        return self._map("scores", self._layer(layer, stream), head, stream, call)

    def sink(
        self, *, layer: int, head: int, stream: str | None = None, call: int = 0, queries: slice = slice(None)
    ) -> Array | None:
        """Compute the weight of each query of a head on what is no key of the text: float32 [queries].

        That is a learned sink (gpt-oss), or keys beside the text's (LongT5): with it a row sums to 1. None where the
        softmax has the text's keys alone, as where a model takes the sink's part from the output (Granite). Raises
        ValueError for a layer, head, stream or call that there is not, and for no query.
        """
        record = self.record_of_head(layer, head, stream, call=call)
        of_head = recompute.sink(record, queries=places(queries, "queries", count=len(record.site.queries)))
        return None if of_head is None else of_head[0]

    def output_gate(self, *, layer: int, head: int, stream: str | None = None, call: int = 0) -> Array | None:
        """Give how much of the length of a head's answer its layer's gate lets through for each query: float32 [Q].

        Of each dimension it is a number in 0 .. 1 (Qwen3-Next); a map does not have it. None for a layer without a
        gate. Raises ValueError for a layer, head, stream or call that there is not.
        """
        gate = self.record_of_head(layer, head, stream, call=call).gate
        return None if gate is None else read_only(gate)[0]

    def blocks(self, *, layer: int, stream: str | None = None, call: int = 0) -> Iterator[tuple[slice, Array]]:
        """Compute all weights of a layer in blocks of query rows: (rows, float32 [H, rows, T]).

        Memory is linear in the text.
        """
        return recompute.blocks(self.record_of(layer, stream, call=call), "weights")

    def bands(self, *, layer: int, stream: str | None = None, call: int = 0) -> Iterator[WeightBlock]:
        """Compute a layer's weights and scores in blocks, without the keys that a mask hides from a whole block.

        In a local layer the work is linear in the text.
        """
        return recompute.bands(self.record_of(layer, stream, call=call))

    def window(
        self,
        *,
        layer: int,
        head: int,
        queries: slice,
        keys: slice,
        stream: str | None = None,
        call: int = 0,
        kind: Kind = "weights",
        on_block: Callable[[WeightBlock], None] | None = None,
    ) -> Array:
        """Compute some rows and columns of a head's weights or scores, bit-equal to the map: float32 [queries, keys].

        Only these rows of this head are computed. Slices are numpy's, without a step. on_block: called with each block
        of rows (all keys, weights and scores, H = 1) that the window needs, for readers of whole rows in the same pass.
        Raises ValueError for a layer, head or stream out of range, and for a window that holds nothing.
        """
        record = self.record_of_head(layer, head, stream, call=call)
        rows = places(queries, "queries", count=len(record.site.queries))
        columns = places(keys, "keys", count=len(record.site.keys))
        chosen: Array = recompute.window(record, kind, queries=rows, keys=columns, on_block=on_block)[0]
        return chosen

    def pooled(self, *, layer: int, side: int, stream: str | None = None, call: int = 0) -> Array:
        """Small pictures of a layer's maps: float32 [H, rows, cols], at most `side` cells in either direction.

        Each cell is the largest weight of its tile, so that a single bright one stays visible. Block by block: never a
        whole map. Raises ValueError for a layer or stream out of range, and a side below 1.
        """
        return recompute.pooled(self.record_of(layer, stream, call=call), side=side)

    def _map(self, kind: Kind, layer: int, head: int | None, stream: str | None, call: int) -> Array:
        record = self.record_of(layer, stream, call=call)
        site, name = record.site, (self.key, kind, record.site.stream, layer, call)
        layer_bytes = 4 * site.heads * len(site.queries) * len(site.keys)
        head = None if head is None else counted(head, "head", count=site.heads)
        if head is None:
            return _maps.get(name, lambda: _whole(record, kind), size=held_bytes)
        alone = self.record_of_head(layer, head, stream, call=call)
        if layer_bytes <= _LARGEST_LAYER:  # the other heads of a short text are soon asked for too
            chosen: Array = _maps.get(name, lambda: _whole(record, kind), size=held_bytes)[head]
        else:
            chosen = _maps.get((*name, head), lambda: _whole(alone, kind), size=held_bytes)[0]
        return chosen

    def _layer(self, layer: int, stream: str | None) -> int:
        """Count a layer of a stream from 0; what is none is refused by what asks for it, with the names of layers."""
        sites = self.mixing_sites if stream is None else self.mixing_sites_of(stream)
        return counted(layer, "layer", count=1 + max((site.layer for site in sites), default=-1))

    def record_of(self, layer: int, stream: str | None, *, call: int = 0) -> AttentionRecord:
        """The inputs of one attention call; ValueError for a layer, stream or call that there is not."""
        if stream is None:
            if len(self.streams) > 1:
                raise ValueError(f"this model has the streams {', '.join(self.streams)}: say which with stream=")
            stream = self.streams[0]
        if stream not in self.streams:
            raise ValueError(f"there is no stream {stream!a}: this model has {', '.join(self.streams)}")
        records = [record for record in self.attentions if record.site.stream == stream]
        by_call = {record.site.call: record for record in records if record.site.layer == layer}
        if not by_call:
            other = "".join(
                f"; its map is attention(layer={layer}, kind={mixer.site.kind!r})"
                for mixer in self.mixers
                if mixer.site.layer == layer
            )
            raise ValueError(_no_layer(layer, stream, sorted({record.site.layer for record in records})) + other)
        if call not in by_call:
            raise ValueError(f"call {call} is out of range: layer {layer} of {stream} has calls 0 to {max(by_call)}")
        return by_call[call]

    def record_of_head(self, layer: int, head: int, stream: str | None, *, call: int = 0) -> AttentionRecord:
        """Like `record_of`, for one head. Raises ValueError if the layer has no such head."""
        record = self.record_of(layer, stream, call=call)
        if not 0 <= head < record.site.heads:
            raise ValueError(f"head {head} is out of range: layer {layer} has heads 0 to {record.site.heads - 1}")
        return record.of_head(head)


def _no_layer(layer: int, stream: str, attend: list[int]) -> str:
    if not attend:
        return f"layer {layer} has no attention, nor has any layer of {stream}"
    if attend == list(range(len(attend))):
        return f"layer {layer} is out of range: {stream} has layers 0 to {attend[-1]}"
    return f"layer {layer} has no attention: in {stream}, {layers_in_words(attend)}"


def read_only(tensor: Tensor) -> NDArray[Any]:
    """The tensor's values as an array that cannot be written to; half precision as float32, which holds it exactly."""
    tensor = tensor.detach().cpu()
    array: NDArray[Any] = (tensor.float() if tensor.dtype in HALF else tensor).numpy()
    array = array.view()
    array.setflags(write=False)
    return array


def _whole(record: AttentionRecord, kind: Kind) -> Array:
    """All maps of a call: [H, Q, T], read-only."""
    queries, keys = len(record.site.queries), len(record.site.keys)
    return recompute.window(record, kind, queries=slice(0, queries), keys=slice(0, keys))
