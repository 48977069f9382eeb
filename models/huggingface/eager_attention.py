"""The attention of a transformers model, sent through `models.attention.attend`.

transformers sends the attention of nearly every model through a registry. The function registered here takes the
model's own `eager_attention_forward` (so that the numbers are the model's own) and runs it in blocks of query rows,
with a mask that is made block by block. Nothing is hooked or patched, and outside a recording nothing is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary
from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask
from transformers.modeling_utils import AttentionInterface

from models.attention import Stream, attend, watched
from models.attention.masks import DenseMask, Mask, SharedMask
from models.attention.pairs import CompactTensor, Whole, compact, of_head
from models.huggingface import output_gate

IMPLEMENTATION = "headlight"

# Arguments of a call that hold something for each query: [B or 1, H, Q, T or 1].
PER_QUERY = ("position_bias", "sinks")
# Learned tensors that eager functions read from their module (transformers 5.23); beside them they read plain numbers.
_MODULE_TENSORS = ("sinks",)
_SINKS = ("sinks", "s_aux")
# Given to every attention function, used by none of the eager ones.
_UNREAD_ARGUMENTS = (
    *("dropout", "position_ids", "cache_position", "output_attentions", "output_hidden_states", "use_cache"),
    "is_causal",
    "deterministic",  # of ModernBERT, for flash attention alone
)
STREAM = "headlight_stream"  # an attribute of each module
_CROSS = ("encoder_attn", "encdecattention", "crossattention", "cross_attn", "cross_attention")
# Given to every mask function: how to hand the mask over, not what it is.
_NOT_THE_RULE = ("allow_is_causal_skip", "dtype", "config")


# Models that take the first row of the mask as that of all tokens.
_READ_ONE_ROW = ("longformer",)


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
        """The factor on query . key; None where the call has more to it than a bias (soft-cap, sinks)."""
        more = set(self.arguments) - {"scaling", "sliding_window", "position_bias"} or self.sinks
        return None if more else self.arguments.get("scaling")

    @property
    def sinks(self) -> bool:
        """True if the function was given sinks: one for each head (gpt-oss), or for each head and query (Inkling 2)."""
        return any(place.get(name) is not None for place in (self.module, self.arguments) for name in _SINKS)

    @property
    def normalised(self) -> bool:
        """True: a softmax makes the weights."""
        return True

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """The position bias [1 or B, H, rows, T] of a T5."""
        bias: CompactTensor | None = self.arguments.get("position_bias")
        return None if bias is None else bias.part({-2: rows})

    def side(self, rows: slice) -> None:
        """Return None: all keys are tokens'."""
        return

    @property
    def positional(self) -> bool:
        """True if the function is given a tensor with an entry for each key, so that keys cannot be left out."""
        return "position_bias" in self.arguments

    def of_sequence(self, row: int, real: slice) -> EagerAttention:
        """Return the function with the arguments of one sequence alone: [1, H, Q, T or 1]."""
        cut_arguments = {}
        for name, value in self._per_query.items():
            if value.shape[0] > 1 or real != slice(None):
                cut = {-4: slice(row, row + 1) if value.shape[0] > 1 else slice(None), -2: real}
                cut_arguments[name] = compact(value.part(cut | ({-1: real} if value.shape[3] > 1 else {})))
        return replace(self, arguments={**self.arguments, **cut_arguments}) if cut_arguments else self

    def of_head(self, head: int) -> EagerAttention:
        """Return the function with one head's position bias and sink alone, and with a kv head for this head alone."""
        alone = slice(head, head + 1)
        module = dict(self.module)
        module |= {name: module[name][alone] for name in _MODULE_TENSORS if module.get(name) is not None}
        if "num_key_value_groups" in module:
            module["num_key_value_groups"] = 1
        arguments = {name: of_head(value, head) for name, value in self._per_query.items()}
        return replace(self, module=module, arguments={**self.arguments, **arguments})

    @property
    def _per_query(self) -> dict[str, CompactTensor]:
        return {name: value for name in PER_QUERY if (value := self.arguments.get(name)) is not None}

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """Attend: query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E], weights [B, H, Q, T]."""
        arguments = {**self.arguments, **{name: value.part({-2: rows}) for name, value in self._per_query.items()}}
        bias = None
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, torch.finfo(query.dtype).min)
        output, weights = eager_function(self.source)(
            SimpleNamespace(**self.module), query, key, value, bias, **arguments
        )
        return output.transpose(1, 2), weights


def eager_function(source: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """Find the eager attention function of a modeling file of transformers.

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


def _rule_mask(*, allow_is_bidirectional_skip: bool = False, **arguments: Any) -> SharedMask | Tensor | None:
    """Serve as transformers' mask function: keep the arguments instead of making the mask."""
    rule = {name: value for name, value in arguments.items() if name not in _NOT_THE_RULE}
    one_row = {**rule, "q_length": 1}
    if getattr(arguments.get("config"), "model_type", "") in _READ_ONE_ROW:
        first: Tensor = eager_mask(**one_row, dtype=arguments["dtype"], allow_is_bidirectional_skip=False)
        return first
    if allow_is_bidirectional_skip and sdpa_mask(**one_row, allow_is_bidirectional_skip=True) is None:
        return None  # every token sees every token: as in eager, no mask at all
    return SharedMask(RuleMask({**rule, "allow_is_causal_skip": False}))


def _attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Mask | Tensor | None, **arguments: Any
) -> tuple[Tensor, None]:
    """Serve as transformers' attention function: query [B, H, Q, E], key, value [B, K, T, E] -> [B, Q, H, E]."""
    arguments = {
        name: value for name, value in arguments.items() if value is not None and name not in _UNREAD_ARGUMENTS
    }
    arguments |= {name: _small(arguments[name]) for name in PER_QUERY if name in arguments}
    function = EagerAttention(
        source=type(module).__module__,
        module=_numbers(module) | {name: getattr(module, name) for name in _MODULE_TENSORS if hasattr(module, name)},
        arguments=arguments,
    )
    mask = DenseMask(attention_mask) if isinstance(attention_mask, Tensor) else attention_mask
    stream: Stream = getattr(module, STREAM, "encoder")
    mixed = attend(function, query, key, value, mask=mask, stream=stream).transpose(1, 2)
    output_gate.began(module, mixed)
    return mixed, None


def _small(given: Tensor) -> CompactTensor:
    """Keep a tensor of all pairs, such as T5's position bias, in a small form while watched; once for all layers."""
    if not watched():
        return Whole(given)
    if given not in _compacted:
        _compacted[given] = compact(given)
    compacted: CompactTensor = _compacted[given]
    return compacted


_compacted: Any = WeakTensorKeyDictionary()


def _numbers(module: nn.Module) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if type(value) in (bool, int, float) and name[0] != "_"}


def in_decoder(path: str) -> bool:
    """Return True if a module of an encoder-decoder is in its decoder ("decoder", SeamlessM4T's "text_decoder")."""
    return any(name.endswith("decoder") for name in path.split("."))


def name_streams(network: nn.Module, *, decoder: bool) -> None:
    """Name the stream of every attention module by its path; once, before readers share the network.

    decoder: whether the network is a decoder alone.
    """
    for name, module in network.named_modules():
        path = name.lower()
        if any(mark in path for mark in _CROSS):
            stream: Stream = "cross"
        else:
            stream = "decoder" if decoder or in_decoder(path) else "encoder"
        setattr(module, STREAM, stream)


AttentionInterface.register(IMPLEMENTATION, _attention)
AttentionMaskInterface.register(IMPLEMENTATION, _rule_mask)  # under the same name, or the mask is silently lost
