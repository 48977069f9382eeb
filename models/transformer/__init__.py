"""The own Transformer, to be read downward: config, multi_head, blocks, stacks, generation.

```python
encoder = Encoder(TransformerConfig(shape="encoder", vocabulary=1000, width=64, heads=4, layers=2))
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.transformer.stacks import Decoder, Encoder, EncoderDecoder, build, shift_right

__all__ = ["Decoder", "Encoder", "EncoderDecoder", "build", "shift_right"]


def __getattr__(name: str) -> Any:
    """Import on first use: attention reads the configuration, and the stacks read attention."""
    if name not in __all__:
        raise AttributeError(f"module 'models.transformer' has no attribute {name!r}")
    return getattr(importlib.import_module("models.transformer.stacks"), name)
