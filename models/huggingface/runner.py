"""A transformers model as the inspector runs it, tried out once before readers share it.

The try-out runs a few tokens. It shows whether attention goes through `models.attention.attend`, how many attention
calls a forward makes, and whether the head that predicts tokens can be asked alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from models.attention import AttentionCall, Stream, attend_rows, watch, watched
from models.config_facts import (
    attention_count,
    head_counts,
    kv_head_count,
    layer_count,
    layer_counts,
    position_count,
    segment_count,
)
from models.decoding import BeamAnswer, BeamStep, Decoding, LengthPenalty, Watch
from models.formatting import one_line
from models.huggingface import writing
from models.huggingface.eager_attention import IMPLEMENTATION
from models.huggingface.eager_output import ExpectedShape, GivenScores, WatchedSoftmax
from models.huggingface.prediction_head import predict, usual_logits
from models.loaded import Backend, Shape
from models.mixers import MixerCall, of_sequence, watch_mixers
from models.placement import dtype_of, input_device, turn
from models.untrusted.weights import UnfitWeights

_TRIED = 5  # tokens
_NOT_RUN = (TypeError, AttributeError, NotImplementedError, RuntimeError, IndexError, AssertionError)
_NO_LIMIT = 2**17  # tokens, for models whose positions have no end (T5, ALiBi) and tokenizers that name none


@dataclass(frozen=True)
class PretrainedRunner:
    """Runs a network of transformers, in eval mode (see `models.loaded.Runner`).

    backend: how its attention is seen. head: whether the network predicts tokens, and the head alone gives the logits
    of the whole model. linear: whether every map can be recomputed from tensors that are linear in the text.
    note: a sentence on the weights for the reader, "" for none.
    """

    network: Any
    config: Any
    tokenizer: Any
    shape: Shape
    backend: Backend
    max_tokens: int
    head: bool = False
    linear: bool = False
    note: str = ""

    divides_by: ClassVar[LengthPenalty] = "power"

    @property
    def reads_pairs(self) -> bool:
        """True if the network reads a source and a target."""
        return self.shape == "encoder-decoder"

    @property
    def writes(self) -> bool:
        """True if the network writes: a decoder or an encoder-decoder with a head that predicts tokens."""
        return self.head and self.shape != "encoder"

    @property
    def predicts(self) -> bool:
        """True if the head predicts tokens, and can be run alone."""
        return self.head

    def read(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        """Run ids, keep (boolean, False on padding) and segments [B, T] -> last hidden state [B, T, D].

        An encoder-decoder runs its encoder.
        """
        network = self.network.get_encoder() if self.reads_pairs else self._body()
        inputs = {"input_ids": ids, "attention_mask": keep.long()}
        if segment_count(self.config) > 1:
            inputs["token_type_ids"] = segments
        return self._call(network, inputs)

    def read_pair(self, ids: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        """Run a source's ids and keep [B, T] and the decoder's ids [B, Q] -> last hidden state [B, Q, D]."""
        inputs = {"input_ids": ids, "attention_mask": keep.long(), "decoder_input_ids": target}
        return self._call(self._body(), inputs)

    def predict(self, hidden: Tensor) -> Tensor:
        """Turn the last hidden state [B, T, D] into logits [B, T, V] with the model's head."""
        with turn(self.network):
            placed = hidden.to(self.device, dtype_of(self.network))
            return predict(self.network, placed, shape=self.shape).cpu()

    def write(self, ids: Tensor, new_tokens: int) -> Tensor:
        """Write after ids [1, T], a source or the beginning of a text -> [1, N]: the likeliest token each time."""
        ids = ids.to(self.device)
        with turn(self.network), _known_ids({"input_ids": ids}):
            written: Tensor = self.network.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=new_tokens,
                do_sample=False,
                num_beams=1,
            )
        return written.cpu()

    @property
    def ends(self) -> frozenset[int]:
        """The ids of the tokens that end a text, of the model's generation_config."""
        return writing.ends_of(self.network)

    @property
    def length_penalty(self) -> float:
        """The exponent of a beam search's length penalty, of the model's generation_config."""
        return writing.length_penalty_of(self.network)

    def decode(self, ids: Tensor, how: Decoding, *, new_tokens: int, watch: Watch, cached: bool = True) -> Tensor:
        """Write after ids [1, T] token by token -> [1, N]; see `models.loaded.Runner.decode`."""
        ids = ids.to(self.device)
        with turn(self.network), _known_ids({"input_ids": ids}):
            return writing.decode(self.network, ids, how, new_tokens=new_tokens, cached=cached, watch=watch).cpu()

    def follow(self, ids: Tensor, *, source: Tensor | None = None, watch: Watch, cached: bool = True) -> None:
        """Read given ids [1, T] one after the other; see `models.loaded.Runner.follow`."""
        ids, source = ids.to(self.device), None if source is None else source.to(self.device)
        with turn(self.network), _known_ids({"input_ids": ids}):
            writing.follow(self.network, ids, source=source, cached=cached, watch=watch)

    def search(
        self,
        ids: Tensor,
        *,
        beams: int,
        new_tokens: int,
        length_penalty: float | None = None,
        watch: Callable[[BeamStep], None],
    ) -> BeamAnswer:
        """Search with beams for the text after ids [1, T]; see `models.loaded.Runner.search`."""
        ids = ids.to(self.device)
        with turn(self.network), _known_ids({"input_ids": ids}):
            return writing.search(
                self.network, ids, beams=beams, new_tokens=new_tokens, length_penalty=length_penalty, watch=watch
            )

    @property
    def start(self) -> int | None:
        """The id of the token that a decoder begins its target with; None without a decoder beside a source."""
        if not self.reads_pairs:
            return None
        writing = getattr(self.network, "generation_config", None)  # where transformers 5 saves what it writes with
        places = [(self.config, "decoder_start_token_id"), (writing, "decoder_start_token_id")]
        places += [(self.config, "bos_token_id"), (self.config, "pad_token_id")]
        return next((int(id) for place, name in places if (id := getattr(place, name, None)) is not None), None)

    @property
    def device(self) -> torch.device:
        """The device of the inputs."""
        return input_device(self.network)

    def _body(self) -> nn.Module:
        """The network without its head; the whole network where both are one module (T5)."""
        body: nn.Module = self.network.base_model
        return body

    def _call(self, network: Any, inputs: dict[str, Tensor]) -> Tensor:
        """Run one forward -> the last hidden state; attention that bypasses `attend` is reported from its softmaxes."""
        takes = signature(network.forward).parameters
        if "input_ids" not in takes:  # it hands on whatever it is given (TrOCR's decoder)
            takes = signature(network.decoder.forward).parameters
        given: dict[str, Any] = {name: value.to(self.device) for name, value in inputs.items() if name in takes}
        if "position_ids" in takes:
            given |= self._positions(inputs["attention_mask"].bool())
        given |= {"use_cache": False} if "use_cache" in takes else {}
        # Where body and head are one module, the last hidden state is the last of a list.
        given |= {"output_hidden_states": True} if network is self.network else {}
        with turn(self.network), _known_ids(given):
            if self.backend == "probe" or not watched():
                return _hidden(network(**given, return_dict=True)).cpu()
            with WatchedSoftmax(self._expected(given), keep=not self.linear) as softmaxes:
                out = network(**given, return_dict=True, output_attentions=not self.linear)
        if not self.linear:
            softmaxes.agree(_handed_out(out))
        return _hidden(out).cpu()

    def _expected(self, given: dict[str, Tensor]) -> ExpectedShape:
        texts = [given[name] for name in ("input_ids", "decoder_input_ids") if name in given]
        lengths = frozenset(text.shape[1] for text in texts)
        return ExpectedShape(len(texts[0]), lengths, head_counts(self.config), kv_head_count(self.config), self._stream)

    def _stream(self, number: int) -> Stream:
        """The stream of the call with this number, in a model whose modules do not tell."""
        if self.shape != "encoder-decoder":
            return self.shape
        encoder = layer_count(self.config, "encoder")
        return "encoder" if number < encoder else ("decoder", "cross")[(number - encoder) % 2]

    def _positions(self, keep: Tensor) -> dict[str, Tensor]:
        """Count positions [B, T] over real tokens alone, where padding stands before them."""
        if bool(keep[:, 0].all()):
            return {}
        first = _first_position(self.network)
        return {"position_ids": ((keep.long().cumsum(dim=1) - 1).clamp(min=0) + first).to(self.device)}


@contextmanager
def _known_ids(given: Mapping[str, Tensor]) -> Iterator[None]:
    """Raise ValueError with the largest id where the embedding has no row for a token."""
    try:
        yield
    except IndexError as error:
        largest = max(int(given[name].max()) for name in ("input_ids", "decoder_input_ids") if name in given)
        raise ValueError(
            f"This model has no row for a token of the text or its position; the largest id is {largest:,}. Its "
            "tokenizer belongs to another model: choose another text, or another model."
        ) from error


def try_out(network: Any, tokenizer: Any, *, shape: Shape) -> PretrainedRunner:
    """Run a few tokens, check their attention, and make the network's runner.

    shape: the configuration's. Whether a stack reads one way or both ways is taken from its attention, not from the
    configuration: Gemma 3 can be told to read both ways, and BertGeneration to read one way.

    Raises ValueError where no attention was seen, or the network hands none out.
    """
    attends_by_seam = network.config._attn_implementation == IMPLEMENTATION
    tried = PretrainedRunner(
        network,
        network.config,
        tokenizer,
        shape,
        backend="probe" if attends_by_seam else "eager output",
        max_tokens=max_tokens(network, tokenizer),
    )
    calls, mixers = list[AttentionCall](), list[MixerCall]()
    with torch.inference_mode():
        try:
            ids = torch.arange(_TRIED)[None] + min(10, len(network.get_input_embeddings().weight) - _TRIED)
            with watch(calls.append), watch_mixers(mixers.append):
                hidden = _forward(tried, ids)
        except torch.OutOfMemoryError:
            raise
        except _NOT_RUN as error:
            raise ValueError(f"transformers does not run it on text alone ({one_line(error)})") from error
        _check_whole(calls, mixers, tried)
        if not bool(torch.isfinite(hidden).all()):
            raise UnfitWeights(
                f"of {_TRIED} tokens it makes numbers that are not finite. Load it in float32, or choose another model."
            )
        for call in calls:
            _check_rows(call)
        if shape != "encoder-decoder":
            ahead = any(map(_looks_ahead, calls)) or any(map(_mixes_ahead, mixers))
            tried = replace(tried, shape="encoder" if ahead else "decoder")
        # The head of a model that is listed as causal predicts the next token, which one that looks ahead has read.
        head = (shape, tried.shape) != ("decoder", "encoder") and _agrees(tried, ids, hidden)
    return replace(tried, head=head, linear=not any(isinstance(call.function, GivenScores) for call in calls))


def _looks_ahead(call: AttentionCall) -> bool:
    """Return True if any query of a call gives weight to a later key."""
    rows = slice(0, call.query.shape[2])
    seen = attend_rows(call.function, call.query, call.key, call.value, mask=call.mask, rows=rows)
    return bool(seen.weights.triu(1 - seen.band.start).any())


def _mixes_ahead(call: MixerCall) -> bool:
    """Return True if a mixer gives weight to a later key."""
    core = of_sequence(call.core, 0, slice(0, _TRIED), whole=True).of_heads([0])
    _, weights = next(core.blocks(queries=slice(0, _TRIED)))
    return bool(weights.triu(1).any())


def _hidden(out: Any) -> Tensor:
    if "last_hidden_state" in out:
        hidden: Tensor = out.last_hidden_state
        return hidden
    states: Sequence[Tensor] = out["decoder_hidden_states" if "decoder_hidden_states" in out else "hidden_states"]
    return states[-1]


def _handed_out(out: Any) -> list[Tensor]:
    """List the maps of output_attentions in call order; a decoder layer: self-attention, then cross-attention."""
    if "encoder_attentions" not in out:
        maps = [weights for weights in out.get("attentions") or () if weights is not None]
    else:
        pairs = zip(out.decoder_attentions or (), out.cross_attentions or (), strict=True)
        maps = [*(out.encoder_attentions or ()), *(weights for pair in pairs for weights in pair)]
    parts = [weights for weights in maps if not isinstance(weights, Tensor)]
    if parts:
        raise ValueError(f"{len(parts)} of the {len(maps)} maps that it hands out are given in parts, not as one")
    return maps


def _check_whole(calls: Sequence[AttentionCall], mixers: Sequence[MixerCall], tried: PretrainedRunner) -> None:
    """Raise ValueError unless every attention that the configuration names was seen, between all tokens.

    Where it names none, every layer must be seen to mix tokens in another way.
    """
    expected = attention_count(tried.config, shape=tried.shape)
    if not calls and not mixers:
        raise ValueError(f"{type(tried.network).__name__} makes no softmax over all pairs of tokens that could be seen")
    if expected == 0 and len(mixers) != sum(layer_counts(tried.config)):
        raise ValueError(f"{len(mixers)} of its {sum(layer_counts(tried.config))} layers were seen to mix tokens")
    if len(calls) != expected:
        raise ValueError(
            f"{len(calls)} attentions were seen where the configuration names {expected}, so some layers would be "
            "missing, or split"
        )
    for call in calls:
        queries, keys = call.query.shape[2], call.key.shape[2]
        if (queries, keys) != (_TRIED, _TRIED):
            raise ValueError(f"of {_TRIED} tokens it makes {queries} queries and {keys} keys")


def _check_rows(call: AttentionCall) -> None:
    """Raise ValueError where rows of a map, computed alone as in a long text, differ from the rows of the whole map."""
    queries, tolerance = call.query.shape[2], max(1e-5, 8 * torch.finfo(call.query.dtype).eps)
    whole = attend_rows(call.function, call.query, call.key, call.value, mask=call.mask, rows=slice(0, queries))
    for rows in (slice(0, queries // 2), slice(queries // 2, queries)):
        try:
            part = attend_rows(call.function, call.query[:, :, rows], call.key, call.value, mask=call.mask, rows=rows)
        except RuntimeError as error:
            raise ValueError(f"the rows of its maps cannot be computed block by block: {error}") from error
        band = slice(part.band.start - whole.band.start, part.band.stop - whole.band.start)
        expected = whole.weights[:, :, rows, band]
        if not torch.allclose(part.weights, expected, rtol=0, atol=tolerance) or not torch.allclose(
            part.output, whole.output[:, :, rows], rtol=tolerance, atol=tolerance
        ):
            raise ValueError(
                "the rows of its maps depend on each other, so long texts cannot be computed block by block"
            )


def _forward(tried: PretrainedRunner, ids: Tensor) -> Tensor:
    keep, segments = torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids)
    return tried.read_pair(ids, keep, ids) if tried.reads_pairs else tried.read(ids, keep, segments)


def _agrees(tried: PretrainedRunner, ids: Tensor, hidden: Tensor) -> bool:
    """Return True for a head that alone gives the logits of the whole model."""
    whole = usual_logits(tried.network, ids.to(tried.device), shape=tried.shape)
    if whole is None:
        return False
    alone = tried.predict(hidden)
    tolerance = max(1e-4, 4 * torch.finfo(whole.dtype).eps)
    return alone.shape == whole.shape and torch.allclose(alone, whole.cpu(), atol=tolerance, rtol=tolerance)


def max_tokens(network: nn.Module, tokenizer: Any) -> int:
    """Count the positions of the model; RoBERTa's kind keeps the first padding_idx + 1 rows of its table for itself."""
    config: Any = network.config
    positions = position_count(config)
    limits = [] if positions is None else [positions - _first_position(network)]
    return min([*limits, int(tokenizer.model_max_length), _NO_LIMIT])


def _first_position(network: nn.Module) -> int:
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(module.padding_idx) + 1
    return 0
