"""Load any text model of transformers safely: encoder, decoder or encoder-decoder.

The files were checked before (untrusted/candidates.py): safetensors only, no remote code, no network here. The model's
attention goes through `models.attention.attend` where the model allows it (backend "probe", eager_attention.py);
a model that does its attention by itself is run with its own eager attention, which hands its maps out (backend
"eager output", models/huggingface/eager_output.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

# A repository without safetensors would start a conversion thread that talks to the hub: never.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoModel, GenerationConfig
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES,
)
from transformers.utils.logging import disable_progress_bar

from models.attention import running_layer
from models.build_lock import LOADING
from models.formatting import format_bytes
from models.huggingface import mixers, output_gate
from models.huggingface.differential_attention import replace_differential
from models.huggingface.eager_attention import IMPLEMENTATION, name_streams
from models.huggingface.fresh_rotary import keep_fresh
from models.huggingface.runner import PretrainedRunner, try_out
from models.huggingface.skeleton import architecture_of
from models.huggingface.sparse_attention import replace_sparse
from models.huggingface.without_maps import why_no_maps
from models.loaded import Shape
from models.placement import CPU_FLOAT32, Placement
from models.untrusted.candidates import Candidate
from models.untrusted.settings import generation_ids, generation_rules, known_ids
from models.untrusted.tokenizer import load_tokenizer
from models.untrusted.weights import UnfitWeights, check_body, check_finite, left_over, missing_weights

disable_progress_bar()  # the page and the command line say for themselves that a model loads

_BOTH_WAYS = ("xlnet",)  # listed as causal, and yet every token sees every token unless it is told otherwise
CANNOT_LOAD = (OSError, KeyError, ImportError, ValueError, RuntimeError, TypeError, AttributeError, SafetensorError)


@dataclass(frozen=True)
class _Source:
    folder: Path
    config: Any
    tokenizer: Any
    shape: Shape
    placement: Placement
    stored: torch.dtype | None


def load_runner(candidate: Candidate, folder: Path, *, placement: Placement = CPU_FLOAT32) -> PretrainedRunner:
    """Load a checked model (untrusted/folders.py, untrusted/hub.py) from the folder that holds its files.

    Raises ValueError with the way out for a model without a tokenizer, attention that cannot be captured, a missing
    device, or a device with too little memory.
    """
    placement.torch_device()  # said before anything is read
    config = candidate.config.config
    shape = shape_of(config)
    if candidate.tokenizer is None:
        raise ValueError(f"{candidate.name} has no tokenizer, so no text can be given to it; add its tokenizer.json")
    try:
        tokenizer = load_tokenizer(folder)
    except ValueError as error:
        raise ValueError(f"transformers cannot load the tokenizer of {candidate.name}: {error}") from error
    why = why_no_maps(config)
    if why is not None:
        raise ValueError(f"the attention of {candidate.name} ({config.model_type}) cannot be captured: {why}")
    source = _Source(folder, config, tokenizer, shape, placement, candidate.config.dtype)
    try:
        return _loaded_either_way(source)
    except UnfitWeights as error:
        raise ValueError(f"{candidate.name} cannot be shown: {error}") from error
    except SafetensorError as error:
        raise ValueError(f"the weights of {candidate.name} are damaged: {error}; get them again") from error
    except torch.OutOfMemoryError as error:
        needed = format_bytes(candidate.memory_bytes(placement.torch_dtype(candidate.config.dtype)))
        raise ValueError(
            f"{candidate.name} does not fit on {placement.device}: its weights take {needed}. Choose device='auto', "
            "which spreads it, or a smaller dtype, such as 'bfloat16'."
        ) from error
    except CANNOT_LOAD as error:
        raise ValueError(
            f"the attention of {candidate.name} ({config.model_type}) cannot be captured: {error}"
        ) from error


def _loaded_either_way(source: _Source) -> PretrainedRunner:
    """Load with attention through `attend` where the model allows it, else with its own eager attention."""
    try:
        return _loaded(source, IMPLEMENTATION)
    except (UnfitWeights, SafetensorError, torch.OutOfMemoryError):
        raise
    except CANNOT_LOAD:  # it bypasses the registry, or does not know a name that is not its own
        return _loaded(source, "eager")


def shape_of(config: Any) -> Shape:
    """Return the shape that a configuration describes; raises ValueError where transformers has no model for it.

    For a model that is in no list of language heads, this is a guess from its code; `try_out` sees which way it
    attends.
    """
    named = _named(config)
    if config.is_encoder_decoder and named not in MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.values():
        return "encoder-decoder"
    if config.model_type in _BOTH_WAYS:
        return "encoder"
    masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = getattr(config, "is_decoder", False) or getattr(config, "causal", False)  # the second is XLM's
    listed = {config.model_type, named} & {  # Mllama's text alone has a type that no list has
        *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values(),
    }
    if listed and (causal or not masked):
        return "decoder"
    if masked:
        return "encoder"
    cached = "past_key_values" in signature(architecture_of(config).forward).parameters
    return "decoder" if cached and getattr(config, "is_decoder", True) else "encoder"


def model_class(config: Any) -> Any:
    """Return the class that the configuration names if its head predicts tokens; else the bare model's class.

    Where transformers lists no such head for the type, the class that is named is read: T5EncoderModel, LlavaModel.
    """
    heads = {
        *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values(),
        *MODEL_FOR_MASKED_LM_MAPPING_NAMES.values(),
        *MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values(),
    }
    named = _named(config)
    if named in heads and hasattr(transformers, named) and config.model_type not in _BOTH_WAYS:
        return getattr(transformers, named)
    listed = {*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *MODEL_FOR_MASKED_LM_MAPPING_NAMES}
    bare = config.model_type in listed or shape_of(config) == "encoder-decoder"
    return AutoModel if bare else architecture_of(config)


def vocabulary_of(config: Any) -> int:
    """Count the ids that a configuration has room for; 0 where it does not say."""
    described = config.get_text_config().to_dict()
    sizes = [value for name, value in described.items() if name.endswith("vocab_size") and isinstance(value, int)]
    return max(sizes, default=0)


def _named(config: Any) -> str:
    return str((getattr(config, "architectures", None) or [""])[0])


def _generation(source: _Source) -> GenerationConfig:
    """Take the ids that begin, end and pad a text, as far as the vocabulary has them, the rules by which the model
    writes, as far as they are within limits, and nothing else.

    Handed to from_pretrained, so that it does not read generation_config.json by itself, which can choose caches,
    other models and code.
    """
    vocabulary = vocabulary_of(source.config)
    config = known_ids(source.config.to_dict(), vocabulary=vocabulary)
    ids = config | generation_ids(source.folder, vocabulary=vocabulary)
    return GenerationConfig(**ids | generation_rules(source.folder, ids, vocabulary=vocabulary))


def _with_its_weights(source: _Source, implementation: str, spread: Mapping[str, Any]) -> tuple[Any, str]:
    """Load the model with the weights of its files, and a note on them for the reader.

    The bare model where only the head is missing; raises UnfitWeights where more is missing.
    """
    named = model_class(source.config)
    network, info = _from_files(named, source, implementation, spread)
    if not check_body(missing_weights(info, network), network):
        return network, left_over(info)
    network, info = _from_files(AutoModel, source, implementation, spread)
    check_body(missing_weights(info, network), network)
    return network, f"its files hold no head that predicts tokens, so {named.__name__} is shown without"


def _from_files(kind: Any, source: _Source, implementation: str, spread: Mapping[str, Any]) -> tuple[Any, Any]:
    network, info = kind.from_pretrained(
        source.folder,
        config=deepcopy(source.config),
        attn_implementation=implementation,
        dtype=source.placement.torch_dtype(source.stored),
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        generation_config=_generation(source),
        output_loading_info=True,
        ignore_mismatched_sizes=True,  # told in our own words
        **spread,
    )
    return network, info


def _loaded(source: _Source, implementation: str) -> PretrainedRunner:
    placement = source.placement
    spread: dict[str, Any] = {}
    if placement.spread:
        on_disk = TemporaryDirectory(prefix="headlight-")  # for weights that are not in the files as they are used
        spread = {"device_map": "auto", "max_memory": placement.max_memory, "offload_folder": on_disk.name}
    with LOADING:
        network, note = _with_its_weights(source, implementation, spread)
    if placement.spread:
        finalize(network, on_disk.cleanup)
    else:
        network.to(placement.torch_device())
    return replace(made_ready(network, source.tokenizer, shape=source.shape), note=note)


def made_ready(network: Any, tokenizer: Any, *, shape: Shape) -> PretrainedRunner:
    """Prepare a network of transformers, with its weights on their device, for being watched and shared; try it out.

    shape: what its configuration says. Raises ValueError for weights that are not finite, and as `try_out` does.
    """
    network.eval().requires_grad_(False)
    check_finite(network)
    replace_sparse(network)
    replace_differential(network)
    keep_fresh(network)
    name_streams(network, decoder=shape == "decoder")
    running_layer.install(network)
    mixers.install(network)
    output_gate.install(network)
    tried = try_out(network, tokenizer, shape=shape)
    if tried.shape != shape:  # it does not attend as its configuration made us think
        name_streams(network, decoder=tried.shape == "decoder")
    return tried
