"""Load a transformers model safely, with its attention going through `models.attention.attend`.

transformers sends the attention of nearly every model through a registry. The function registered here takes the
model's own `eager_attention_forward` (so that the numbers are the model's own) and runs it in blocks of query rows,
with a mask that is made block by block. Nothing is hooked or patched, and outside a recording nothing is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# A repository without safetensors would start a conversion thread that talks to the hub: never.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask
from transformers.modeling_utils import AttentionInterface
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.utils.logging import disable_progress_bar

from models.attention import attend
from models.masks import Mask

IMPLEMENTATION = "headlight"

# What eager functions read from their module (transformers 5.23), so that a recording needs no model.
_MODULE_ATTRIBUTES = ("training", "num_key_value_groups", "head_dim", "sinks")
# Given to every attention function, used by none of the eager ones.
_UNREAD_ARGUMENTS = ("dropout", "position_ids", "cache_position", "output_attentions", "use_cache", "is_causal")
# Given to every mask function: how to hand the mask over, not what it is.
_NOT_THE_RULE = ("allow_is_causal_skip", "dtype", "config")


@dataclass(frozen=True)
class EagerAttention:
    """The `eager_attention_forward` of one modeling file with the arguments of one call, freed from its module.

    source: the module that defines it, such as "transformers.models.bert.modeling_bert".
    """

    source: str
    module: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scale(self) -> float | None:
        """The factor on query . key; None where the call has more to it (soft-cap, sinks, a position bias)."""
        return self.arguments.get("scaling") if set(self.arguments) == {"scaling"} else None

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E], weights [B, H, Q, T]."""
        arguments = dict(self.arguments)
        if arguments.get("position_bias") is not None:
            arguments["position_bias"] = arguments["position_bias"][:, :, rows]
        bias = None
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, torch.finfo(query.dtype).min)
        output, weights = eager_function(self.source)(
            SimpleNamespace(**self.module), query, key, value, bias, **arguments
        )
        return output.transpose(1, 2), weights


def eager_function(source: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """The eager attention function of a modeling file of transformers.

    Raises ValueError for anything else: the name may come from a file.
    """
    if not source.startswith("transformers.models.") or not all(part.isidentifier() for part in source.split(".")):
        raise ValueError(
            f"{source!r} is no modeling file of transformers, such as transformers.models.bert.modeling_bert"
        )
    try:
        module = sys.modules.get(source) or import_module(source)
        function: Callable[..., tuple[Tensor, Tensor]] = module.eager_attention_forward
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{source} has no eager_attention_forward in this version of transformers") from error
    return function


@dataclass(frozen=True)
class RuleMask:
    """The mask of a transformers model as its rule: the arguments from which any rows can be made."""

    arguments: Mapping[str, Any]

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean [B, 1, stop - start, T]; True where the query attends to the key."""
        offset = self.arguments["q_offset"] + start
        mask: Tensor = sdpa_mask(**{**self.arguments, "q_offset": offset, "q_length": stop - start})
        return mask


@dataclass(frozen=True)
class DenseMask:
    """A mask that the model made itself, as an additive [B, 1 or H, Q, T] tensor."""

    bias: Tensor

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean [B, 1 or H, stop - start, T]; True where the query attends to the key."""
        block = self.bias[:, :, start:stop]
        return block if block.dtype == torch.bool else block > torch.finfo(block.dtype).min / 2


def _rule_mask(*, allow_is_bidirectional_skip: bool = False, **arguments: Any) -> RuleMask | None:
    """transformers' mask function: keep the arguments instead of making the mask."""
    rule = {name: value for name, value in arguments.items() if name not in _NOT_THE_RULE}
    one_row = {**rule, "q_length": 1}
    if allow_is_bidirectional_skip and sdpa_mask(**one_row, allow_is_bidirectional_skip=True) is None:
        return None  # every token sees every token: as in eager, no mask at all
    return RuleMask({**rule, "allow_is_causal_skip": False})


def _attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Mask | Tensor | None, **arguments: Any
) -> tuple[Tensor, None]:
    """transformers' attention function: query [B, H, Q, E], key and value [B, K, T, E] -> output [B, Q, H, E]."""
    function = EagerAttention(
        source=type(module).__module__,
        module={name: getattr(module, name) for name in _MODULE_ATTRIBUTES if hasattr(module, name)},
        arguments={k: v for k, v in arguments.items() if v is not None and k not in _UNREAD_ARGUMENTS},
    )
    mask = DenseMask(attention_mask) if isinstance(attention_mask, Tensor) else attention_mask
    return attend(function, query, key, value, mask=mask).transpose(1, 2), None


AttentionInterface.register(IMPLEMENTATION, _attention)
AttentionMaskInterface.register(IMPLEMENTATION, _rule_mask)  # under the same name, or the mask is silently lost
disable_progress_bar()  # the page and the command line say for themselves that a model loads


@dataclass(frozen=True)
class Pretrained:
    """A network of transformers in eval mode with its configuration and tokenizer."""

    network: Any
    config: Any
    tokenizer: Any
    max_tokens: int
    takes_segments: bool

    def run(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        """ids, keep (boolean, False on padding) and segments [B, T] -> last hidden state [B, T, D]."""
        inputs = {"input_ids": ids, "attention_mask": keep.long()}
        if self.takes_segments:
            inputs["token_type_ids"] = segments
        hidden: Tensor = self.network(**inputs).last_hidden_state
        return hidden


def load_folder(folder: Path) -> Pretrained:
    """Load a BERT-like encoder and its fast tokenizer from a folder: safetensors only, no remote code, no network.

    Raises ValueError with the way out where the folder does not hold such a model.
    """
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder} holds no config.json; choose the folder of a transformers model")
    if (folder / "adapter_config.json").exists():
        raise ValueError(
            f"{folder} holds an adapter (adapter_config.json), not a model; merge it into its base model first"
        )
    if not list(folder.glob("*.safetensors")):
        raise ValueError(
            f"{folder} holds no .safetensors weights; save the model with save_pretrained(safe_serialization=True)"
        )
    safe: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    how: dict[str, Any] = {"use_safetensors": True, "attn_implementation": IMPLEMENTATION, "dtype": torch.float32}
    try:
        config = AutoConfig.from_pretrained(folder, **safe)
        tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
        network = AutoModel.from_pretrained(folder, config=config, **how, **safe) if _is_encoder(config) else None
    except (OSError, KeyError, ImportError, ValueError, RuntimeError, SafetensorError) as error:
        raise ValueError(f"transformers cannot load the model in {folder}: {error}") from error
    if network is None:
        raise ValueError(f"{config.model_type} is not an encoder; choose the folder of a BERT-like model")
    if not tokenizer.is_fast:
        raise ValueError(f"{folder} has no fast tokenizer (tokenizer.json); save it with a fast tokenizer first")
    network.eval().requires_grad_(False)
    return Pretrained(
        network,
        config,
        tokenizer,
        max_tokens=_max_tokens(network, config, tokenizer),
        takes_segments="token_type_ids" in signature(network.forward).parameters,
    )


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a folder, without its model."""
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def _is_encoder(config: Any) -> bool:
    """BERT-like: what fills in masks reads in both directions."""
    return (
        config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
        and not config.is_encoder_decoder
        and not getattr(config, "is_decoder", False)
    )


def _max_tokens(network: nn.Module, config: Any, tokenizer: Any) -> int:
    """Positions that the model has; RoBERTa's kind keeps the first padding_idx + 1 rows of its table for itself."""
    limit = int(getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length)
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit -= module.padding_idx + 1
    return min(limit, int(tokenizer.model_max_length))
