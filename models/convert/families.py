"""Put the weights of a transformers model into the project's own Transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AlbertModel,
    BertModel,
    BloomForCausalLM,
    BloomModel,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaForCausalLM,
    LlamaModel,
    PretrainedConfig,
    T5Model,
)

from models.convert import decoders, encoders, t5
from models.convert.weights import Weights
from models.transformer import Decoder, Encoder, EncoderDecoder, build
from models.transformer.config import TransformerConfig


@dataclass(frozen=True)
class Family:
    """One architecture of transformers: its bare class, and how its configuration and its weights translate."""

    bare: type[Any]
    config: Callable[[PretrainedConfig], TransformerConfig]
    weights: Callable[[Weights, TransformerConfig], dict[str, Tensor]]


FAMILIES = {
    "bert": Family(BertModel, encoders.bert_config, encoders.bert_weights),
    "albert": Family(AlbertModel, encoders.albert_config, encoders.albert_weights),
    "gpt2": Family(GPT2Model, decoders.gpt2_config, decoders.gpt2_weights),
    "llama": Family(LlamaModel, decoders.llama_config, decoders.llama_weights),
    "bloom": Family(BloomModel, decoders.bloom_config, decoders.bloom_weights),
    "t5": Family(T5Model, t5.t5_config, t5.t5_weights),
}
"""The families by their model type."""

PREDICTING = (GPT2LMHeadModel, LlamaForCausalLM, BloomForCausalLM)  # whose output matrix the own Decoder takes along


def from_transformers(network: nn.Module) -> Encoder | Decoder | EncoderDecoder:
    """The project's own Transformer with a copy of the weights of a BertModel, AlbertModel, GPT2Model, LlamaModel,
    BloomModel or T5Model, or of a model with such a one inside.

    dtype and device stay, and the result is in eval mode. The output matrix of a GPT-2, Llama or BLOOM for causal
    language modelling comes along; poolers and other heads are left out.

    Raises ValueError for another architecture, or for a variant that the own Transformer does not have.
    """
    bare = getattr(network, getattr(network, "base_model_prefix", "") or "-", network)
    family = next((family for family in FAMILIES.values() if isinstance(bare, family.bare)), None)
    if family is None:
        names = ", ".join(family.bare.__name__ for family in FAMILIES.values())
        raise ValueError(
            f"{type(network).__name__} cannot become the own Transformer; only {names} and models around them can"
        )
    config = config_from_transformers(bare.config)
    weights = Weights(bare.state_dict(), ignored=("pooler.",))
    state = family.weights(weights, config)
    weights.finish()
    if config.shape == "decoder":
        config = replace(config, **_head(network, bare))
    if config.output_head and config.shape == "decoder":
        state["head.weight"] = network.get_submodule("lm_head").get_parameter("weight").detach().clone()
    with torch.device("meta"):  # allocates nothing and draws no random numbers: every weight is replaced below
        model = build(config)
    model.load_state_dict(state, assign=True)
    model.tie()
    return model.eval()


def config_from_transformers(config: PretrainedConfig) -> TransformerConfig:
    """The configuration in the project's own terms; ValueError where the own Transformer has no such thing."""
    if config.model_type not in FAMILIES:
        raise ValueError(
            f"model type {config.model_type!r} has no own Transformer; only {', '.join(FAMILIES)} have one"
        )
    return FAMILIES[config.model_type].config(config)


def _head(network: nn.Module, bare: Any) -> dict[str, Any]:
    """Return the fields that say whether the model has an output matrix, and whether the matrix is the embedding's."""
    if not isinstance(network, PREDICTING):
        return {"output_head": False}
    tied = network.get_submodule("lm_head").get_parameter("weight") is bare.get_input_embeddings().weight
    return {"output_head": True, "tied_embeddings": "output" if tied else "none"}
