"""A model's own code, ready to be run with any length of text: one forward, or one step after a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from threading import RLock
from typing import Any

import torch
from torch import Tensor, nn

from inspector.costs.counted.flow import SOURCE, TARGET
from inspector.costs.counted.polynomials import Lengths
from inspector.costs.counted.tracing import Network, ProductTrace
from models.formatting import one_line
from models.huggingface import skeleton
from models.huggingface.loading import shape_of
from models.loaded import Shape
from models.transformer.config import TransformerConfig
from models.transformer.kv_cache import KVCache
from models.transformer.stacks import Decoder, Encoder, EncoderDecoder, build

Run = Callable[[ProductTrace, Lengths], None]
_CACHES = ("past_key_values", "cache_params", "state")  # what a model hands out for its next step
_FAILURES = (
    KeyError,
    AttributeError,
    IndexError,
    TypeError,
    RuntimeError,
    ValueError,
    AssertionError,
    ZeroDivisionError,
)


class NoCacheError(ValueError):
    """The model keeps no cache, so another token cannot be read alone."""


@dataclass(frozen=True)
class MetaModel:
    """A network on the meta device, and how it reads.

    output: the name of the parameter that scores the vocabulary. forward: reads a text of n tokens, or n and m. step:
    fills a cache, and reads one token more; it raises NoCacheError where the model keeps none.
    """

    network: Network
    shape: Shape
    output: str | None
    forward: Run
    step: Callable[[Lengths, Callable[[], Any]], None]


_RUNNING = RLock()


def of(config: Any, *, tokens: int = 0) -> MetaModel:
    """Prepare the model of a configuration; its positions reach at least as far as `tokens`.

    Raises ValueError for a configuration that no model can be built from.
    """
    if isinstance(config, TransformerConfig):
        return _of_own(replace(config, max_positions=max(config.max_positions, tokens + 1)))
    return _of_transformers(config, tokens)


def _ids(count: int) -> Tensor:
    return torch.zeros(1, count, dtype=torch.long, device="meta")


# --- transformers --------------------------------------------------------------------------------------------------


def _of_transformers(config: Any, tokens: int) -> MetaModel:
    module = skeleton.build(config, tokens=tokens)
    takes = signature(module.forward).parameters
    if "input_ids" not in takes:
        raise ValueError(
            f"{type(module).__name__} reads {module.main_input_name}, no tokens of a text; it is not counted"
        )
    network = Network(module)
    shape = shape_of(config)
    if shape == "encoder-decoder" and not module.config.is_encoder_decoder:  # the decoder's class, by itself
        shape = "decoder"
    cached = "use_cache" in takes or "kwargs" in takes

    def forward(trace: ProductTrace, lengths: Lengths) -> None:
        module(**_read(trace, lengths), **({"use_cache": False} if "use_cache" in takes else {}))

    def _read(trace: ProductTrace, lengths: Lengths) -> dict[str, Tensor]:
        ids = _ids(lengths[0])
        trace.read(ids, SOURCE)
        if shape != "encoder-decoder":
            return {"input_ids": ids}
        target = _ids(lengths[1])
        trace.read(target, TARGET)
        return {"input_ids": ids, "decoder_input_ids": target}

    def step(lengths: Lengths, traced: Callable[[], Any]) -> None:
        if not cached or shape == "encoder":
            raise NoCacheError(f"{type(module).__name__} keeps no cache")
        with traced() as trace:
            reads = _read(trace, lengths)
            if shape == "encoder-decoder":
                encoded = module.get_encoder()(input_ids=reads.pop("input_ids"))
                reads = {"encoder_outputs": encoded, **reads}
            read = module(**reads, use_cache=True)
        name, past = next(((name, read[name]) for name in _CACHES if read.get(name) is not None), (None, None))
        if name is None:
            raise NoCacheError(f"{type(module).__name__} keeps no cache")
        with traced() as trace:
            token = _ids(1)
            if shape != "encoder-decoder":
                trace.read(token, SOURCE)
                module(input_ids=token, **{name: past}, use_cache=True)
                return
            trace.read(token, TARGET)
            for state in encoded.values():
                if isinstance(state, Tensor):
                    trace.read(state, SOURCE)
            module(encoder_outputs=encoded, decoder_input_ids=token, **{name: past}, use_cache=True)

    embeddings = module.get_output_embeddings()
    weight = getattr(embeddings, "weight", None)
    name = next((name for name, parameter in module.named_parameters() if parameter is weight), None)
    return MetaModel(network, shape, name, forward, step)


# --- the project's Transformer -------------------------------------------------------------------------------------


def _of_own(config: TransformerConfig) -> MetaModel:
    skeleton.check_sizes(vars(config))
    with torch.device("meta"):
        module = build(config).eval().requires_grad_(False)
    for part in module.modules():
        if type(part).__name__.endswith("Block"):
            _unmask(part)
    network = Network(module)

    def forward(trace: ProductTrace, lengths: Lengths) -> None:
        ids, target = _ids(lengths[0]), None
        trace.read(ids, SOURCE)
        if isinstance(module, EncoderDecoder):
            target = _ids(lengths[1])
            trace.read(target, TARGET)
        read_own(module, ids, target)

    def step(lengths: Lengths, traced: Callable[[], Any]) -> None:
        if isinstance(module, Encoder):
            raise NoCacheError("an encoder keeps no cache")
        decoder = module.decoder if isinstance(module, EncoderDecoder) else module
        assert isinstance(decoder, Decoder)
        cache, more = KVCache(config.decoder_depth), {}
        with traced() as trace:
            if isinstance(module, EncoderDecoder):
                more = {"source": module.encoder(_ids(lengths[0]))}
            decoder(_ids(lengths[-1]), cache=cache, **more)
        with traced() as trace:
            token = _ids(1)
            trace.read(token, TARGET if more else SOURCE)
            if more:
                trace.read(more["source"], SOURCE)
            _scored(module, decoder(token, cache=cache, **more))

    tied = isinstance(module, Encoder) or not config.output_head
    name = None if tied else ("decoder.head.weight" if isinstance(module, EncoderDecoder) else "head.weight")
    return MetaModel(network, config.shape, name, forward, step)


def read_own(module: Encoder | Decoder | EncoderDecoder, ids: Tensor, target: Tensor | None) -> Tensor:
    """Run a text, and a target in an encoder-decoder, and score the vocabulary where the model does."""
    return _scored(module, module(ids, target) if isinstance(module, EncoderDecoder) else module(ids))


def _scored(module: Encoder | Decoder | EncoderDecoder, hidden: Tensor) -> Tensor:
    return hidden if isinstance(module, Encoder) or not module.config.output_head else module.logits(hidden)


def _unmask(block: nn.Module) -> None:
    """Let every query of a text see every key: the seam leaves out what a mask hides, and the count is of all.

    A single query keeps its window: no code multiplies it with cached keys beyond.
    """
    forward = block.forward

    def unmasked(hidden: Tensor, *args: Any, **kwargs: Any) -> Any:
        masks: dict[str, Any] = {name: None for name in ("mask", "source_mask") if name in kwargs}
        return forward(hidden, *args, **{**kwargs, **(masks if hidden.shape[1] > 1 else {})})

    block.forward = unmasked


# --- runs ----------------------------------------------------------------------------------------------------------


def run(subject: MetaModel, lengths: Lengths, *, roles: bool, step: bool = False, masks: bool = False) -> ProductTrace:
    """Run a text of these lengths, or one step after it, and return the products.

    A layer that reads what another wrote beside the residual stream cannot be left out: then all layers run.

    Raises ValueError where the model's code does not run so; NoCacheError for a step without a cache.
    """
    with _RUNNING:
        try:
            return _run(subject, lengths, roles=roles, step=step, masks=masks)
        except NoCacheError:
            raise
        except _FAILURES:
            subject.network.whole = True
        try:
            return _run(subject, lengths, roles=roles, step=step, masks=masks)
        except _FAILURES as error:
            kind, tokens = type(subject.network.network).__name__, " and ".join(f"{length:,}" for length in lengths)
            what = f"one token more after {tokens}" if step else f"{tokens} tokens"
            raise ValueError(f"{kind} does not read {what}: {one_line(error)}") from error


def _run(subject: MetaModel, lengths: Lengths, *, roles: bool, step: bool, masks: bool) -> ProductTrace:
    if not step:
        with subject.network.traced(roles=roles, masks=masks) as trace:
            subject.forward(trace, lengths)
        return trace
    traces: list[ProductTrace] = []

    def traced() -> Any:
        return subject.network.traced(roles=roles and bool(traces), into=traces)

    subject.step(lengths, traced)
    return traces[-1]
