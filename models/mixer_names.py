"""Modules that mix tokens in attention's place, told by the names of their classes."""

from __future__ import annotations

import re

from torch import nn

_MIXER = re.compile(
    r"(Mamba|Mixer|ShortConv|DeltaNet|RecurrentBlock|Lightning|DeltaAttention|(?<!Kimi)Linear\w*Att|(Rwkv|Yoso)Self)"
    r"(?!\w*(DecoderLayer|Output|Model|For[A-Z]))"
)  # some linear attention is called attention, and KimiLinear and Mamba are models' names too


def is_mixer(module: nn.Module) -> bool:
    """Return True for a state space, a convolution over tokens, linear attention, or a layer that is named like it."""
    return bool(_MIXER.search(type(module).__name__)) and next(module.children(), None) is not None
