"""The sizes in a transformers configuration, whatever a family calls them.

Most configurations are flat. A model of text and pictures keeps its text's sizes in `text_config`, T5Gemma the sizes of
its two stacks in `encoder` and `decoder`; the configurations beside them (vision, sound) have no text.

```python
attention_count(BertConfig(), shape="encoder")  # 12
```

Letters: H heads, K kv heads, E head width, L layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from transformers import PreTrainedConfig

from models.loaded import Shape

Stack = Literal["encoder", "decoder"]

_CHOSEN = ("num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts")
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_HEADS_WITHOUT_SOFTMAX = ("yoso",)
_LAYERS = ("num_hidden_layers", "num_layers")


# --- the configurations of the text ------------------------------------------------------------------------------


def text_config(config: Any) -> Any:
    """The configuration of the text that a model reads; an encoder-decoder's whole configuration."""
    return config if config.is_encoder_decoder else config.get_text_config()


def stack_config(config: Any, stack: Stack) -> Any:
    """The configuration of one stack of an encoder-decoder; the whole configuration where the sizes stand there."""
    nested = getattr(config, stack, None)
    return nested.get_text_config() if isinstance(nested, PreTrainedConfig) else config


def stack_configs(config: Any) -> tuple[Any, ...]:
    """Every configuration that holds sizes of a text: one, or an encoder's and a decoder's."""
    if not config.is_encoder_decoder:
        return (text_config(config),)
    encoder, decoder = stack_config(config, "encoder"), stack_config(config, "decoder")
    return (encoder,) if encoder is decoder else (encoder, decoder)


def first_number(config: Any, *names: str, default: int | None = None) -> int:
    """Return the first field among `names` that is a number above 0: families use different names for one number.

    Raises ValueError where the configuration has no such field and there is no default.
    """
    for name in names:
        if isinstance(value := getattr(config, name, None), int) and value > 0:
            return value
    if default is None:
        raise ValueError(f"{config.model_type!a} is no Transformer that can be recorded: it has no {names[0]}")
    return default


# --- layers ------------------------------------------------------------------------------------------------------


def layer_count(config: Any, stack: Stack) -> int:
    """Return L of one stack of an encoder-decoder."""
    return first_number(stack_config(config, stack), f"{stack}_layers", f"num_{stack}_layers", *_LAYERS)


def layer_counts(config: Any) -> tuple[int, int]:
    """Return the layers of the encoder (or of the only stack) and of the decoder beside it (0 without a second stack).

    Raises ValueError for a configuration that does not name them.
    """
    if not config.is_encoder_decoder:
        return first_number(text_config(config), *_LAYERS), 0
    return layer_count(config, "encoder"), layer_count(config, "decoder")


def attends(config: Any) -> bool:
    """Return True if the configuration names heads of softmax attention; YOSO's heads have none."""
    return bool(head_counts(config)) and config.model_type not in _HEADS_WITHOUT_SOFTMAX


def attention_count(config: Any, *, shape: Shape) -> int:
    """Count the attention calls that the configuration names for one forward.

    A decoder's layer makes two beside a source. Layers of another kind (state-space, linear attention) do not count:
    they are mixers (models/mixers); "hybrid" layers have both. A layer of ALBERT may hold several attentions
    (inner_group_num).
    """
    if shape == "encoder-decoder":
        return layer_count(config, "encoder") + 2 * layer_count(config, "decoder")
    if not attends(config):
        return 0
    text = text_config(config)
    kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None)
    if kinds is None:
        return int(text.num_hidden_layers) * int(getattr(text, "inner_group_num", 1))
    return sum(kind.startswith("hybrid") or ("attention" in kind and "linear" not in kind) for kind in kinds)


def check_counts(part: Any) -> None:
    """Raise ValueError where a token chooses more experts than there are, or heads cannot share their kv heads.

    part: a configuration, or one inside it.
    """
    if part.is_heterogeneous:  # every layer has its own configuration
        for layer in part.per_layer_config:
            check_counts(layer)
        return
    chosen, experts = first_number(part, *_CHOSEN, default=0), first_number(part, *_EXPERTS, default=0)
    if chosen and experts and chosen > experts:
        raise ValueError(
            f"the configuration lets a token choose {chosen:,} of {experts:,} experts; it can choose {experts:,} at "
            "most"
        )
    heads = first_number(part, "num_attention_heads", default=0)
    kv_heads = first_number(part, "num_key_value_heads", default=0)
    if heads and kv_heads and heads % kv_heads:
        raise ValueError(
            f"{heads:,} heads cannot share {kv_heads:,} kv heads (num_attention_heads, num_key_value_heads): the first "
            "must be a multiple of the second"
        )


# --- heads -------------------------------------------------------------------------------------------------------


def head_counts(config: Any) -> frozenset[int]:
    """Return every H that the configuration names."""
    names = ("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads")
    counts = (getattr(part, name, None) for part in stack_configs(config) for name in names)
    return frozenset(int(heads) for heads in counts if heads is not None)


def kv_head_count(config: Any) -> int | None:
    """Return K that the configuration names (GQA, MQA); None where the configuration names none."""
    text = text_config(config)
    if getattr(text, "multi_query", False) and not getattr(text, "new_decoder_architecture", False):
        return 1
    names = ("num_key_value_heads", "num_kv_heads")
    return next((int(value) for name in names if (value := getattr(text, name, None)) is not None), None)


def head_total(config: Any) -> int:
    """Return the sum of H over every attention of the model."""
    return _over_attentions(config, _heads)


def recorded_numbers(config: Any) -> int:
    """Count the numbers in the query (H E), key (K E) and value (K E_v) of one token, over every attention."""
    return _over_attentions(config, _query_key_value)


def _over_attentions(config: Any, count: Callable[[Any], int]) -> int:
    """Sum `count` over every attention of the model."""
    encoder, decoder = layer_counts(config)
    text = stack_configs(config)[-1]
    if text.is_heterogeneous:  # every layer has its own configuration
        return sum(count(layer) for layer in text.per_layer_config)
    return (encoder + 2 * decoder) * count(text)  # a decoder beside an encoder attends twice


def _heads(config: Any) -> int:
    """Return H; 0 for a model that mixes tokens by channel."""
    named = ("num_attention_heads", "encoder_attention_heads", "num_heads")
    return first_number(config, *named, default=None if attends(config) else 0)


def _query_key_value(config: Any) -> int:
    if not attends(config):
        return 0
    width = first_number(config, "hidden_size", "d_model")
    heads = _heads(config)
    query = first_number(config, "qk_head_dim", "head_dim", "d_kv", default=width // heads)
    value = first_number(config, "v_head_dim", default=query)
    key_heads = heads if hasattr(config, "qk_head_dim") else first_number(config, "num_key_value_heads", default=heads)
    return heads * query + key_heads * (query + value)


def attention_sizes(config: Any) -> tuple[int, int, int, int]:
    """Return H, K, the width of a key and the width of a value of the stack that writes, or of the only one.

    Raises ValueError where the configuration does not name them, or its layers differ.
    """
    text = stack_configs(config)[-1]
    if text.is_heterogeneous:
        raise ValueError(f"the layers of {config.model_type} have sizes of their own")
    heads = first_number(text, "decoder_attention_heads", "num_attention_heads", "num_heads")
    width = first_number(text, "hidden_size", "d_model")
    key = first_number(text, "qk_head_dim", "head_dim", "d_kv", default=width // heads)
    value = first_number(text, "v_head_dim", default=key)
    return heads, kv_head_count(config) or heads, key, value


# --- texts -------------------------------------------------------------------------------------------------------


def segment_count(config: Any) -> int:
    """Count the texts that the model tells apart side by side.

    A model with one (XLM, GPT-2) must be given no segments: it would add the embedding of token 0.
    """
    named = 2 if config.model_type == "xlnet" else getattr(text_config(config), "type_vocab_size", None)
    return int(named or 1)


def position_count(config: Any) -> int | None:
    """Return how many positions the configuration names; None for positions without an end (T5, ALiBi)."""
    described = stack_configs(config)[0].to_dict()
    named = (described.get(name) for name in ("max_position_embeddings", "n_positions", "max_target_positions"))
    return next((value for value in named if isinstance(value, int) and value > 0), None)
