"""A model of transformers that is in memory already, made ready to be watched: on its twin (models/twin.py).

What is recorded equals what the model's folder gives, saved and loaded: attention through the same functions, the same
head, the same rules of writing. A head that predicts no tokens is left out, as it is there.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import torch
from transformers import AutoModel, GenerationConfig, PretrainedConfig, PreTrainedModel

from models.huggingface.eager_attention import IMPLEMENTATION
from models.huggingface.loading import CANNOT_LOAD, made_ready, model_class, shape_of, vocabulary_of
from models.huggingface.runner import PretrainedRunner
from models.huggingface.without_maps import why_no_maps
from models.twin import named, twin
from models.untrusted.settings import known_ids, known_rules, needed_ids
from models.untrusted.weights import UnfitWeights


def runner_of(network: PreTrainedModel, tokenizer: Any) -> PretrainedRunner:
    """Make the runner of a network's twin; the network itself stays untouched.

    Raises ValueError for a network without a twin (see `models.twin.twin`), weights that are not finite, and attention
    that cannot be captured.
    """
    name = named(network)
    if getattr(network.config, "quantization_config", None) is not None:
        raise ValueError(f"{name} is quantised, so its weights are packed. Load the model in bfloat16 or float32")
    config = copy(network.config)
    config.architectures = [_class_name(network)]
    why = why_no_maps(config)
    if why is not None:
        raise ValueError(f"the attention of {name} ({config.model_type}) cannot be captured: {why}")
    part = network.base_model if model_class(config) is AutoModel else network
    copied = twin(part)
    try:
        return _ready(copied, tokenizer, IMPLEMENTATION)
    except (UnfitWeights, torch.OutOfMemoryError) as error:
        raise ValueError(f"{name} cannot be shown: {error}") from error
    except CANNOT_LOAD:  # its attention bypasses the registry, or was chosen as the network was built
        pass
    try:
        return _ready(twin(part), tokenizer, "eager")
    except CANNOT_LOAD as error:
        raise ValueError(f"the attention of {name} ({config.model_type}) cannot be captured: {error}") from error


def _ready(network: Any, tokenizer: Any, implementation: str) -> PretrainedRunner:
    """Configure a twin as from_pretrained does, with another attention, and try it out."""
    for module in network.modules():
        for config in vars(module).values():
            if isinstance(config, PretrainedConfig):
                config.output_attentions = config.output_hidden_states = False
                config._attn_implementation = implementation
    network.config.architectures = [_class_name(network)]
    if getattr(network, "generation_config", None) is not None:
        network.generation_config = _generation(network)
    return made_ready(network, tokenizer, shape=shape_of(network.config))


def _class_name(network: Any) -> str:
    """Name transformers' own class of a network, of which a stranger's class may be a child."""
    own = (kind.__name__ for kind in type(network).__mro__ if kind.__module__.startswith("transformers.models."))
    return next(own, type(network).__name__)


def _generation(network: Any) -> GenerationConfig:
    """Keep the ids and the rules by which the network writes, and nothing that chooses caches, models or code."""
    fields, vocabulary = network.generation_config.to_dict(), vocabulary_of(network.config)
    ids = known_ids(network.config.to_dict(), vocabulary=vocabulary) | known_ids(fields, vocabulary=vocabulary)
    return GenerationConfig(**ids | known_rules(fields, needed=needed_ids(ids), vocabulary=vocabulary))
