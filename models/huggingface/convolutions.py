"""Convolutions over tokens in the layers of a model with attention: they mix neighbours, and no map of a head has them.

Inkling and Zaya make queries, keys and values of a token and the few before it; ConvBERT's heads have one beside them.

```python
convolutions(loaded.network)  # (Convolution(layer=0, name="self_attn.k_sconv.conv1d", tokens=4), ...)
```
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from models.attention.running_layer import layers_of, stacks

_NOT_TEXT = ("audio", "vision", "visual", "image", "speech")  # in the path of a stack that reads no text


@dataclass(frozen=True)
class Convolution:
    """A convolution of a layer: its path in the layer, and how many tokens it joins."""

    layer: int
    name: str
    tokens: int


def convolutions(network: nn.Module) -> tuple[Convolution, ...]:
    """List the convolutions over more than one token in the layers of a network that read text."""
    return tuple(
        Convolution(layer, name, module.kernel_size[0])
        for path, stack in stacks(network).items()
        if not any(word in path for word in _NOT_TEXT)
        for layer, block in enumerate(layers_of(stack))
        for name, module in block.named_modules()
        if isinstance(module, nn.Conv1d) and module.kernel_size[0] > 1
    )
