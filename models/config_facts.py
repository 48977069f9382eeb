"""The part of a transformers configuration that describes one stack of text.

Most configurations are flat. A model of text and pictures keeps its text's sizes in `text_config`, T5Gemma those of its
two stacks in `encoder` and `decoder`; what stands beside them (vision, sound) has no text.
"""

from __future__ import annotations

from typing import Any, Literal

from transformers import PreTrainedConfig

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
