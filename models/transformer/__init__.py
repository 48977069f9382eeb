"""The project's Transformer, to be read downward: config, multi_head, blocks, stacks, generation.

```python
config = TransformerConfig(vocabulary=1000, layers=2, width=64, heads=4, ffn_width=256, max_positions=128)
hidden = Encoder(config)(torch.tensor([[5, 6, 7]]))
```

The door is lazy: the page reads the configuration (the lab's controls, Costs) before torch is there.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from models.transformer.multi_head import MultiHeadAttention
    from models.transformer.stacks import Decoder, Encoder, EncoderDecoder, build, shift_right

__all__ = [
    "Decoder",
    "Encoder",
    "EncoderDecoder",
    "MultiHeadAttention",
    "TransformerConfig",
    "build",
    "shift_right",
]


def __getattr__(name: str) -> Any:
    """Import on first use what needs torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "multi_head" if name == "MultiHeadAttention" else "stacks"
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
