"""Limits on a model and a text, so that one reader cannot take the machine from the others.

The page reads its limits from the environment: HEADLIGHT_ and the field's name in capitals, such as
HEADLIGHT_MEMORY_BYTES=8GB. From Python nothing is limited unless asked for.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from models.formatting import format_bytes

MEMORY_SHARE = 0.5  # of the machine's memory, for one model's weights
LEAST_TOKENS = 3  # one between [CLS] and [SEP]
_MEMORY_UNKNOWN = 8 * 10**9  # bytes taken for the machine's memory where the system does not tell
_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("KMGT", start=1)}
_NUMBER = re.compile(r"(\d{1,18})\s*([KMGT]?i?)B?", re.IGNORECASE | re.ASCII)
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Limits:
    """Upper limits, each inclusive.

    download_bytes: of one model's files. downloads_bytes: of all that the cache of the hub holds. memory_bytes: of one
    model's weights, wherever they are, and in the page of all that are loaded together. parameters, layers: of one
    model.
    characters, tokens: of one text. capture_bytes: of what a recording keeps.
    root: the only folder under which local models may lie; None where none may be loaded. hub: whether models may be
    fetched from the Hugging Face hub.
    """

    download_bytes: int = 3 * 10**9
    downloads_bytes: int = 30 * 10**9
    memory_bytes: int = int(_MEMORY_UNKNOWN * MEMORY_SHARE)
    parameters: int = 2 * 10**9
    layers: int = 128
    characters: int = 20_000
    tokens: int = 4096
    capture_bytes: int = 10**9
    root: Path | None = None
    hub: bool = True

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Limits:
        """The defaults, with memory for half of this machine's, changed by the HEADLIGHT_ variables that are set.

        Raises ValueError that names the variable and its value where it is not what it should be.
        """
        environment = os.environ if environment is None else environment
        chosen: dict[str, Any] = {"memory_bytes": int(machine_memory() * MEMORY_SHARE)}
        for field in fields(cls):
            if text := environment.get(variable(field.name), "").strip():
                chosen[field.name] = _read(field.name, text)
        return cls(**chosen)

    def check(self, name: str, needs: Mapping[str, tuple[str, int]]) -> None:
        """Raise ValueError for a model over a limit, with both numbers and the variable that raises the limit.

        needs: for a limit's field, what the model needs in words that follow its name, and how much.
        """
        for field, (what, needed) in needs.items():
            most = getattr(self, field)
            if needed > most:
                words = format_bytes if field.endswith("_bytes") else "{:,}".format
                raise ValueError(
                    f"{name} {what} {words(needed)}, and the limit here is {words(most)}. "
                    f"Choose a smaller model, or start Headlight with a larger {variable(field)}."
                )


def needs_for_weights(dtype: str, needed: int) -> dict[str, tuple[str, int]]:
    """Say for `Limits.check` what the weights of a model take in memory, in a dtype."""
    return {"memory_bytes": (f"needs memory for its weights in {dtype}:", needed)}


UNLIMITED = Limits(
    download_bytes=sys.maxsize,
    downloads_bytes=sys.maxsize,
    memory_bytes=sys.maxsize,
    parameters=sys.maxsize,
    layers=sys.maxsize,
    characters=sys.maxsize,
    tokens=sys.maxsize,
    capture_bytes=sys.maxsize,
    root=Path("/"),
)
"""No limits, for callers from Python, who own the machine."""


def variable(field: str) -> str:
    """The environment variable that sets a limit."""
    return f"HEADLIGHT_{field.upper()}"


def flag(field: str, text: str) -> bool:
    """Read a variable that is 1 or 0, yes or no, on or off; ValueError names it."""
    if text.lower() not in _YES + _NO:
        raise ValueError(f"{variable(field)} is {text[:100]!a}; write 1 or 0")
    return text.lower() in _YES


def machine_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or less in a container; 8 GB where nothing tells."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        memory = _MEMORY_UNKNOWN
    try:
        granted = _CONTROL_GROUP.read_text(encoding="ascii").strip()
    except OSError:  # no container of this kind
        return memory
    return min(memory, int(granted)) if granted.isdigit() else memory


def _read(field: str, text: str) -> int | bool | Path:
    if field == "root":
        return _folder(text)
    if field == "hub":
        return flag(field, text)
    match = _NUMBER.fullmatch(text.replace(",", "").replace("_", ""))
    if match is None:
        example = "a number of bytes, such as 2GB" if field.endswith("_bytes") else "a whole number, such as 2000"
        raise ValueError(f"{variable(field)} is {text[:100]!a}; write {example}")
    unit = match[2].upper().replace("I", "i")
    if unit not in _UNITS or not (number := int(match[1]) * _UNITS[unit]):
        raise ValueError(
            f"{variable(field)} is {text[:100]!a}; write a number above 0 with K, M, G, T, or none of them"
        )
    if field == "tokens" and number < LEAST_TOKENS:
        raise ValueError(f"{variable(field)} is {text[:100]!a}; write a whole number from {LEAST_TOKENS} on")
    return number


def _folder(text: str) -> Path:
    folder = Path(text).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise ValueError(f"{variable('root')} is {text[:100]!a}; write the absolute path of a folder that exists")
    return folder.resolve()
