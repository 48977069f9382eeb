"""A model under changed switches as an id: "mini-bert?scale=none&heads=3&seed=1".

```python
base, switches, seed = parse("mini-bert?scale=none")
```

The switches are the fields of `TransformerConfig`; `models.load` knows such an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import NoneType
from typing import Any, get_args, get_type_hints
from urllib.parse import quote, unquote

from models.transformer.config import TransformerConfig
from models.transformer.sizes import check_size

FIXED = {
    "vocabulary": "the tokenizer fixes it",
    "target_vocabulary": "the tokenizer fixes it",
    "shape": "another shape is another model: choose one of that shape",
    "segments": "the tokenizer fixes how many texts it numbers",
    "dropout": "it acts in training alone: see the Lab",
    "attention_dropout": "it acts in training alone: see the Lab",
}
"""Fields that are no switch of a model that is there, and why."""
_DIGITS = 9
_LONGEST = 60  # characters of a value, at most


def parse(id: str) -> tuple[str, dict[str, Any], int]:
    """Split an id -> the model's own id, its switches by name, and the seed.

    Raises ValueError for what is no switch, or no value of one.
    """
    base, _, query = id.partition("?")
    switches: dict[str, Any] = {}
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        if not equals or name in switches:
            raise ValueError(f"{part[:60]!a} in the model's name: write switch=value, each switch once")
        switches[name] = _whole(name, unquote(value)) if name == "seed" else read(name, unquote(value))
    seed = switches.pop("seed", 0)
    return base, switches, seed


def id_of(base: str, switches: Mapping[str, Any], *, seed: int = 0) -> str:
    """Write an id: the switches in the order of `TransformerConfig`, each once; the reverse of `parse`."""
    chosen = {field.name: switches[field.name] for field in fields(TransformerConfig) if field.name in switches}
    written = [f"{name}={quote(str(value).lower(), safe='()')}" for name, value in chosen.items()]
    written += [f"seed={seed}"] if seed else []
    return base + ("?" + "&".join(written) if written else "")


def under_switches(config: TransformerConfig, switches: Mapping[str, Any]) -> tuple[TransformerConfig, dict[str, Any]]:
    """Put a configuration under switches -> the new one, and the switches that it changes.

    Raises ValueError for what is no switch, switches that do not fit each other, or a Transformer that is too large.
    """
    check_names(switches)
    made = replace(config, **switches)
    check_size(made)
    return made, {name: value for name, value in switches.items() if getattr(config, name) != value}


def takes_statistics(changed: Mapping[str, Any]) -> bool:
    """Return True if changed switches make a new BatchNorm, which needs a text's statistics."""
    return changed.get("norm") in ("batch", "masked_batch")


def check_names(switches: Mapping[str, Any]) -> None:
    """Raise ValueError for a name that is no switch."""
    for name in switches:
        if name in FIXED:
            raise ValueError(f"{name} cannot be changed in a model that is there: {FIXED[name]}")
        if name not in KINDS:
            raise ValueError(f"{name[:60]!a} is no switch; choose one of {', '.join(KINDS)}")


def _kinds() -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(TransformerConfig)
    names = [field.name for field in fields(TransformerConfig) if field.name not in FIXED]
    return {name: get_args(hints[name]) or (hints[name],) for name in names}


KINDS = _kinds()
"""The kinds of value that each switch takes: bool, int, float, NoneType, or the words themselves."""


def read(name: str, text: str) -> Any:
    """Read a switch's value as an id writes it; raises ValueError for what is no value of the switch."""
    check_names({name: text})
    kinds = KINDS[name]
    if NoneType in kinds and text == "none":
        return None
    if bool in kinds:
        if text not in ("true", "false"):
            raise ValueError(f"{name} is {text[:60]!a}; it is a switch, true or false")
        return text == "true"
    if int in kinds and text.isascii() and text.isdigit():
        return _whole(name, text)
    if float in kinds:
        try:
            return float(text)
        except ValueError:
            if len(kinds) == 1:
                raise ValueError(f"{name} is {text[:60]!a}; it must be a number") from None
    if len(text) > _LONGEST:
        raise ValueError(f"{name} is {text[:60]!a}..., which is no value of a switch")
    return text


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise ValueError(f"{name} is {text[:60]!a}; it must be a whole number of at most {_DIGITS} digits")
    return int(text)
