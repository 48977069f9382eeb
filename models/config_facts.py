"""The part of a transformers configuration that describes one stack of text.

Most configurations are flat. A model of text and pictures keeps its text's sizes in `text_config`, T5Gemma those of its
two stacks in `encoder` and `decoder`; what stands beside them (vision, sound) has no text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from transformers import PreTrainedConfig

if TYPE_CHECKING:
    from models.loaded import Shape

Stack = Literal["encoder", "decoder"]


def text_config(config: Any) -> Any:
    """The configuration of the text that a model reads; the whole one of an encoder-decoder."""
    return config if config.is_encoder_decoder else config.get_text_config()


def stack_config(config: Any, stack: Stack) -> Any:
    """The configuration of one stack of an encoder-decoder, the whole one where its sizes stand there."""
    own = getattr(config, stack, None)
    return own.get_text_config() if isinstance(own, PreTrainedConfig) else config


def stack_configs(config: Any) -> tuple[Any, ...]:
    """Every configuration that holds sizes of a text: one, or an encoder's and a decoder's."""
    if not config.is_encoder_decoder:
        return (text_config(config),)
    encoder, decoder = stack_config(config, "encoder"), stack_config(config, "decoder")
    return (encoder,) if encoder is decoder else (encoder, decoder)


def attention_count(config: Any, *, shape: Shape) -> int:
    """How many attention calls the configuration names for one forward; a decoder's layer makes two beside a source.

    Layers of another kind (state-space, linear attention) have no map and do not count; "hybrid" ones have both. A
    layer of ALBERT may hold several attentions (inner_group_num).
    """
    if shape == "encoder-decoder":
        return layer_count(config, "encoder") + 2 * layer_count(config, "decoder")
    text = text_config(config)
    kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None)
    if kinds is None:
        return int(text.num_hidden_layers) * int(getattr(text, "inner_group_num", 1))
    return sum(kind.startswith("hybrid") or ("attention" in kind and "linear" not in kind) for kind in kinds)


def head_counts(config: Any) -> frozenset[int]:
    """H of its attentions, by whatever names the configuration gives them."""
    names = ("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads")
    found = (getattr(own, name, None) for own in stack_configs(config) for name in names)
    return frozenset(int(heads) for heads in found if heads is not None)


def segment_count(config: Any) -> int:
    """How many texts beside each other it tells apart; one (XLM, GPT-2) would add the embedding of token 0 instead."""
    named = 2 if config.model_type == "xlnet" else getattr(text_config(config), "type_vocab_size", None)
    return int(named or 1)


def kv_head_count(config: Any) -> int | None:
    """K that the configuration names (GQA, MQA); None where it names none."""
    text = text_config(config)
    if getattr(text, "multi_query", False) and not getattr(text, "new_decoder_architecture", False):
        return 1
    names = ("num_key_value_heads", "num_kv_heads")
    return next((int(value) for name in names if (value := getattr(text, name, None)) is not None), None)


def layer_count(config: Any, stack: Stack) -> int:
    """L of one stack of an encoder-decoder, by whatever name the configuration gives it."""
    names = {
        "encoder": ("encoder_layers", "num_encoder_layers", "num_layers", "num_hidden_layers"),
        "decoder": ("decoder_layers", "num_decoder_layers", "num_layers", "num_hidden_layers"),
    }
    own = stack_config(config, stack)
    return next(int(value) for name in names[stack] if (value := getattr(own, name, None)) is not None)
