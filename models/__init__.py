"""The models to inspect: this project's Transformer, and transformers models loaded safely.

```python
import models

loaded = models.load("minilm")  # "translator", "mini-bert", "org/name", a folder
loaded = models.of(model, tokenizer=tokenizer)  # a model of yours that is in memory
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from models.cards import catalogue, names
from models.in_memory import of
from models.loaded import Card, LoadedModel
from models.registry import load, load_tokenizer, own_implementation, variant

if TYPE_CHECKING:
    from models.untrusted import folders, hub

__all__ = [
    "Card",
    "LoadedModel",
    "catalogue",
    "folders",
    "hub",
    "load",
    "load_tokenizer",
    "names",
    "of",
    "own_implementation",
    "variant",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use: a stranger's model needs torch and transformers."""
    if name in ("folders", "hub"):
        return importlib.import_module(f"{__name__}.untrusted.{name}")
    from models.guesses import no_attribute

    elsewhere = dict.fromkeys(("list", "available", "list_models"), "models.names()")
    raise no_attribute(f"module {__name__!r}", name, known=__all__, elsewhere=elsewhere)
