"""The costs of whole stacks: which component stands where, and what stands on top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from inspector.costs.formulas import (
    ACTIVATION_FLOPS,
    Cost,
    activation_flops,
    around,
    attention,
    embedding,
    ffn,
    norms,
    product,
    stack_positions,
)
from models.attention import Stream
from models.transformer.config import TransformerConfig


@dataclass(frozen=True)
class OutputHead:
    """The head of a model of transformers.

    words: predicts a token of the vocabulary at each position, by a dense layer, an activation and a matrix that is the
    embedding's where it is tied; width: of the dense layer's output, the model's where it is 0 (ALBERT's is narrower).
    token_classes, text_classes: outputs of a linear classifier on each token, or on the pooled first.
    matrix: a decoder's output matrix without bias, "" for none, tied to the embedding or its own; scaled: whether the
    states are scaled before it (T5).
    """

    pooler: bool = False
    words: bool = False
    token_classes: int = 0
    text_classes: int = 0
    activation: str = "gelu"
    tied: bool = True
    width: int = 0
    matrix: Literal["", "tied", "own"] = ""
    scaled: bool = False


@dataclass(frozen=True)
class PlacedCost:
    """A cost and where it is: layer None below and above the layers."""

    stream: Stream
    layer: int | None
    cost: Cost


def model(
    config: TransformerConfig, head: OutputHead, tokens: int, target_tokens: int, batch: int
) -> Iterator[PlacedCost]:
    """All costs of one forward pass, from the embedding up; of an encoder-decoder the encoder first."""
    if config.shape != "decoder":
        yield from encoder(config, tokens, batch)
        yield from _at("encoder", None, top(config, head, tokens, batch))
    if config.shape != "encoder":
        source = tokens if config.shape == "encoder-decoder" else None
        written = target_tokens if source else tokens
        yield from decoder(config, written, source, batch)
        yield from _at("decoder", None, _output_matrix(config, head, batch * written))


def encoder(config: TransformerConfig, tokens: int, batch: int) -> Iterator[PlacedCost]:
    """Embedding, L layers, final norm."""
    below = embedding(config, tokens, batch, vocabulary=config.vocabulary, segments=config.segments)
    yield from _at("encoder", None, below)
    yield from _at("encoder", None, stack_positions(config))
    for index in range(config.layers):
        yield from layer(config, index, tokens, None, batch, stream="encoder")
    if config.final_norm:
        yield from _at("encoder", None, norms("norm", config, batch * tokens, width=config.width))


def decoder(
    config: TransformerConfig,
    tokens: int,
    source: int | None,
    batch: int,
    *,
    past: int = 0,
    predicted: int | None = None,
) -> Iterator[PlacedCost]:
    """Embedding, L layers (with cross-attention to `source` tokens where there are any), final norm, output matrix.

    past: how many tokens before these are in a KV cache, and with them the keys and values of the source; predicted:
    how many of the tokens the output matrix is applied to, all where None.
    """
    shared = config.tied_embeddings == "three-way"
    below = embedding(config, tokens, batch, vocabulary=config.decoder_vocabulary, segments=0, shared=shared)
    yield from _at("decoder", None, below)
    yield from _at("decoder", None, stack_positions(config))
    for index in range(config.decoder_depth):
        yield from layer(config, index, tokens, source, batch, stream="decoder", past=past)
    if config.final_norm:
        yield from _at("decoder", None, norms("norm", config, batch * tokens, width=config.width))
    if config.output_head:
        owner = config.tied_embeddings == "none"
        rows, vocabulary = batch * (tokens if predicted is None else predicted), config.decoder_vocabulary
        head = product("head", "lm_head", rows, config.width, vocabulary, bias=False, owner=owner)
        yield PlacedCost("decoder", None, head)


def layer(
    config: TransformerConfig, index: int, tokens: int, source: int | None, batch: int, *, stream: Stream, past: int = 0
) -> Iterator[PlacedCost]:
    """Self-attention, cross-attention where there is a source, FFN; a layer shared by all has its parameters in the
    first. past: tokens in a KV cache."""
    rows = batch * tokens
    costs = _at(stream, index, attention(config, tokens, past + tokens, batch, stream=stream, new_keys=tokens))
    if source is not None:
        across = attention(config, tokens, source, batch, stream="cross", new_keys=0 if past else source)
        costs += _at("cross", index, across)
        costs += _at("cross", index, around(config, rows, sublayers=1))
    costs += _at(stream, index, ffn(config, rows))
    costs += _at(stream, index, around(config, rows, sublayers=2))
    for placed in costs:
        repeated = config.shared_layers and index > 0
        yield replace(placed, cost=replace(placed.cost, parameters=0)) if repeated else placed


def top(config: TransformerConfig, head: OutputHead, tokens: int, batch: int) -> Iterator[Cost]:
    """The pooler (tanh(x_0 W + b) on the first token) and the head of a BERT, where the model has them."""
    d, rows = config.width, batch * tokens
    if head.pooler:
        yield product("pooler", "pooler", batch, d, d, bias=True)
        yield Cost("pooler", "bias", 0, batch * d, 0)
        yield Cost("pooler", "activation", 0, ACTIVATION_FLOPS["tanh"] * batch * d, batch * d)
    if head.words:
        yield from _word_head(config, head, rows)
    for classes, inputs in ((head.token_classes, rows), (head.text_classes, batch)):
        if classes:
            yield product("head", "classifier", inputs, d, classes, bias=True)
            yield Cost("head", "bias", 0, inputs * classes, 0)


def _word_head(config: TransformerConfig, head: OutputHead, rows: int) -> Iterator[Cost]:
    """Dense d x w, activation, norm, then the vocabulary: 2 n d w + 2 n w V. A tied matrix is the embedding's."""
    d, width, vocabulary = config.width, head.width or config.width, config.vocabulary
    # Untied, transformers keeps an output bias of its own beside the matrix's.
    output = vocabulary if head.tied else vocabulary * (width + 2)
    flops = 2 * rows * width * (d + vocabulary)
    yield Cost("head", "lm_head", width * (d + 1) + output, flops, rows * (width + vocabulary))
    yield Cost("head", "bias", 0, rows * (width + vocabulary), 0)
    yield Cost("head", "activation", 0, activation_flops(head.activation) * rows * width, rows * width)
    yield from norms("head", config, rows, width=width)


def _output_matrix(config: TransformerConfig, head: OutputHead, rows: int) -> Iterator[Cost]:
    """2 n d V on a decoder."""
    if head.scaled:
        yield Cost("head", "scale", 0, rows * config.width, rows * config.width)
    if head.matrix:
        owner = head.matrix == "own"
        yield product("head", "lm_head", rows, config.width, config.decoder_vocabulary, bias=False, owner=owner)


def _at(stream: Stream, layer: int | None, costs: Iterator[Cost]) -> list[PlacedCost]:
    return [PlacedCost(stream, layer, cost) for cost in costs]
