"""The host's settings: every HEADLIGHT_ variable, each read and checked here.

```python
settings.number("THREADS")  # 1
settings.check()            # ValueError for the first variable that cannot be read, in a sentence
```

The settings that limit a model or a text make up `Limits` (models/limits.py), the settings that place a model
`Placement`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from models.limits import Limits, flag, variable
from models.placement import Placement, devices

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Range:
    """The whole numbers that a variable may be, both ends included; default: where it is not set, None: it depends."""

    least: int
    most: int
    default: int | None


NUMBERS = {
    "THREADS": Range(1, 999, 1),  # on few cores two threads are slower than one
    "TURNS": Range(1, 999, None),
    "SESSIONS": Range(1, 999_999, 50),
    "PER_ADDRESS": Range(0, 999_999, 0),  # a class sits behind one address
    "CACHE_MB": Range(0, 9_999_999, 512),
    "MAPS_MB": Range(0, 9_999_999, 512),
}
_NAME = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_MOST_ORIGINS = 20
_ORIGIN = re.compile(rf"(https://{_NAME}(\.{_NAME})*|http://(localhost|127\.0\.0\.1))(:[0-9]{{1,5}})?", re.ASCII)


def number(name: str, environment: Mapping[str, str] | None = None) -> int:
    """Read one of NUMBERS; ValueError names the variable, its value and what it may be."""
    text, allowed = _text(name, environment), NUMBERS[name]
    if not text:
        return _turns(environment) if allowed.default is None else allowed.default
    if not re.fullmatch("[0-9]{1,12}", text) or not allowed.least <= int(text) <= allowed.most:
        raise ValueError(
            f"{variable(name)} is {text[:100]!a}; write a whole number from {allowed.least} to {allowed.most}"
        )
    return int(text)


def metrics(environment: Mapping[str, str] | None = None) -> bool:
    """Read HEADLIGHT_METRICS: whether /_stcore/metrics answers."""
    text = _text("METRICS", environment)
    return flag("METRICS", text) if text else False


def proxies(environment: Mapping[str, str] | None = None) -> tuple[Network, ...]:
    """Read HEADLIGHT_PROXY: addresses or networks of the proxies that may say where a visitor comes from."""
    text = _text("PROXY", environment)
    try:
        return tuple(ip_network(part.strip()) for part in text.split(",")) if text else ()
    except ValueError:
        raise ValueError(
            f"{variable('PROXY')} is {text[:100]!a}; write addresses or networks with commas between, such as 127.0.0.1"
        ) from None


def frame_ancestors(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Read HEADLIGHT_FRAME_ANCESTORS: the origins whose pages may show this one in a frame; none where it is not set.

    An origin is https://name or https://name:port; http is taken of this machine alone, for trying a frame out.
    """
    text = _text("FRAME_ANCESTORS", environment)
    origins = tuple(part.strip(" ") for part in text.split(",")) if text else ()
    if len(origins) > _MOST_ORIGINS or not all(map(_is_origin, origins)):
        raise ValueError(
            f"{variable('FRAME_ANCESTORS')} is {text[:100]!a}; write https origins with commas between, such as "
            "https://huggingface.co: each by its whole name, without a path and without *, "
            f"{_MOST_ORIGINS} at most"
        )
    return tuple(origin.lower() for origin in origins)


def _is_origin(text: str) -> bool:
    """Tell whether a text is an origin, whose port, where it has one, is a port."""
    port = text.rpartition(":")[2]
    return (
        text.isascii() and _ORIGIN.fullmatch(text.lower()) is not None and (not port.isdecimal() or int(port) < 2**16)
    )


def cache(environment: Mapping[str, str] | None = None) -> Path:
    """Read HEADLIGHT_CACHE: the folder of fetched weights and built atlases.

    Where it is not set: headlight/ in XDG_CACHE_HOME, or in ~/.cache. Raises ValueError for a path that is not whole or
    names a file.
    """
    text = _text("CACHE", environment)
    if text:
        folder = Path(os.path.expanduser(text))  # Path's own way raises for an unknown user
        if not folder.is_absolute() or folder.is_file():
            raise ValueError(f"{variable('CACHE')} is {text[:100]!a}; write the whole path of a folder")
        return folder
    every = (os.environ if environment is None else environment).get("XDG_CACHE_HOME", "")
    return (Path(every) if os.path.isabs(every) else Path.home() / ".cache") / "headlight"


def atlases(environment: Mapping[str, str] | None = None) -> Path | None:
    """Read HEADLIGHT_ATLASES: the folder of the reader's own atlases, or one of the cache; None where it is "off"."""
    text = _text("ATLASES", environment)
    if text.lower() == "off":
        return None
    return Path(text).expanduser() if text else cache(environment) / "atlases"


def check(environment: Mapping[str, str] | None = None) -> None:
    """Read every variable, make the folder of HEADLIGHT_ATLASES, and look for the device of HEADLIGHT_DEVICE.

    Raises ValueError that names the first variable that cannot be read, its value, and what it may be.
    """
    for name in NUMBERS:
        number(name, environment)
    metrics(environment)
    proxies(environment)
    frame_ancestors(environment)
    cache(environment)
    Limits.from_environment(environment)
    placement = Placement.from_environment(environment)
    if placement.device not in ("cpu", "auto"):  # torch knows, which takes a second to import
        try:
            placement.torch_device()
        except ValueError:
            there = ", ".join(devices())
            raise ValueError(
                f"{variable('DEVICE')} is {placement.device!a}, which this machine lacks; write auto or one of {there}"
            ) from None
    if (text := _text("ATLASES", environment)) and (folder := atlases(environment)) is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise ValueError(
                f"{variable('ATLASES')} is {text[:100]!a}, where no folder can be; write the path of a folder, or off"
            ) from None


def _text(name: str, environment: Mapping[str, str] | None) -> str:
    return (os.environ if environment is None else environment).get(variable(name), "").strip()


def _turns(environment: Mapping[str, str] | None) -> int:
    """Half of what the cores can run, so that pages are drawn meanwhile, and at least one."""
    return max(1, (os.cpu_count() or 1) // 2 // number("THREADS", environment))
