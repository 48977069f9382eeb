"""Read files of a stranger's folder safely: regular files inside the folder alone, opened once, of bounded size."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from models.formatting import one_line

_MOST_VALUES = 5_000_000  # in one JSON file; a vocabulary of 900,000 tokens with their scores has 2.7 million
_MOST_OBJECTS = 200_000  # values with named fields, which take the most memory; added tokens are 40,000 at most
_DEEPEST = 32  # published files nest some 8 deep; the readers of what passes here recurse
_OPENED = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read(folder: Path, name: str, *, most: int, linked: bool = False) -> bytes:
    """Read a whole file of a folder, at most `most` bytes.

    linked: True allows a link that leads out of the folder.
    Raises ValueError for anything but a regular file (a pipe would block, a device never ends), for a link that leads
    out of the folder, and for a larger file.
    """
    path = _real(folder, name, linked=linked)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # opening a device may have an effect, so check before opening
            raise ValueError(f"{name} is no regular file; put the file itself there")
        descriptor = os.open(path, _OPENED | getattr(os, "O_NOFOLLOW", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)  # of the opened file: the path may lead to another file by now
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"{name} is no regular file; put the file itself there")
            if status.st_size > most:
                raise ValueError(f"{name} has {status.st_size:,} bytes, over {most:,}; no published model needs that")
            return file.read(most)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {one_line(error)}") from error


def read_json(folder: Path, name: str, *, most: int, linked: bool = False) -> Any:
    """Read a JSON file of a folder; infinities and NaN are returned as floats.

    Raises ValueError as `read` does, and for a file that is damaged, nests deeper than 32, or holds over five million
    values or 200,000 objects.
    """
    content = read(folder, name, most=most, linked=linked)
    objects = content.count(b"{")
    values = objects + content.count(b",") + content.count(b"[")  # every value takes memory, however short it is
    if values > _MOST_VALUES or objects > _MOST_OBJECTS:
        raise ValueError(
            f"{name} holds some {values:,} values in {objects:,} objects, over {_MOST_VALUES:,} and {_MOST_OBJECTS:,}; "
            "no published model needs that"
        )
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is damaged: {one_line(error)}") from error
    check_depth(value, name)
    return value


def read_fields(folder: Path, name: str, *, most: int, linked: bool = False) -> dict[str, Any]:
    """Read a JSON file that holds named fields; raises ValueError as `read_json` does, and for anything else."""
    value = read_json(folder, name, most=most, linked=linked)
    if not isinstance(value, dict):
        raise ValueError(f"{name} holds a {type(value).__name__}, not named fields")
    return value


def check_depth(value: Any, name: str) -> None:
    """Raise ValueError for JSON that nests so deep that a recursive reader could fail."""
    layer = [value]
    for _ in range(_DEEPEST + 1):
        layer = [inner for outer in layer for inner in _parts(outer)]
        if not layer:
            return
    raise ValueError(f"{name} is damaged: it nests more than {_DEEPEST} deep")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def exists(folder: Path, name: str) -> bool:
    """Return True if the folder has anything of this name, even a broken link."""
    return os.path.lexists(folder / name)


def _real(folder: Path, name: str, *, linked: bool) -> Path:
    """Resolve a file's path; raises ValueError for a path outside the folder and outside its hub cache's blobs."""
    try:
        home = folder.resolve(strict=True)
        path = (home / name).resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, in older Pythons
        raise ValueError(f"{name} cannot be read: {one_line(error)}") from error
    homes = [home]
    if home.parent.name == "snapshots":  # huggingface_hub keeps a file once, in blobs/, and links to it
        homes.append(home.parents[1] / "blobs")
    if not linked and not any(path.is_relative_to(home) for home in homes):
        raise ValueError(f"{name} is a link that leads out of its folder; put the file itself there")
    return path
