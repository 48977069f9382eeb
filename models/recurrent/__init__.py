"""Recurrent encoder-decoders, what came before the Transformer: torch.nn's RNNs, with Bahdanau's attention or without.

```python
config = RecurrentConfig(vocabulary=12, width=48, cell="gru", attention=True)
network = RecurrentEncoderDecoder(config)
logits, weights = network(torch.tensor([[10, 4, 0, 7, 11]]), torch.tensor([[10, 7, 0]]))
```

The door is lazy: the page Lab reads the configuration before torch is there.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from models.recurrent.config import Cell, RecurrentConfig

if TYPE_CHECKING:
    from models.recurrent.additive_attention import AdditiveAttention
    from models.recurrent.encoder_decoder import RecurrentEncoderDecoder

__all__ = ["AdditiveAttention", "Cell", "RecurrentConfig", "RecurrentEncoderDecoder"]


def __getattr__(name: str) -> Any:
    """Import on first use what needs torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "additive_attention" if name == "AdditiveAttention" else "encoder_decoder"
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
