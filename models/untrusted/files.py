"""Read a file of a stranger's folder: a regular file that lies inside, in one go, and no more of it than expected."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from models.formatting import said

_MOST_VALUES = 5_000_000  # of one JSON file; a vocabulary of 900,000 tokens with their scores has 2.7 million
_MOST_OBJECTS = 200_000  # of them with named fields, which take the most memory; 40,000 added tokens are the most
_DEEPEST = 32  # published files nest some 8 deep; readers behind this gate recurse
_OPENED = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read(folder: Path, name: str, *, most: int, linked: bool = False) -> bytes:
    """Read a file of a folder whole, at most `most` bytes.

    linked: whether it may be a link that leads out of the folder.
    Raises ValueError where it is no regular file (a pipe would block, a device never ends), where it is a link that
    leads out of the folder, and where it is larger.
    """
    path = _real(folder, name, linked=linked)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # a device may act when it is opened, so look first
            raise ValueError(f"{name} is no regular file; put the file itself there")
        descriptor = os.open(path, _OPENED | getattr(os, "O_NOFOLLOW", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)  # of what was opened, whatever stands at the path by now
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"{name} is no regular file; put the file itself there")
            if status.st_size > most:
                raise ValueError(f"{name} has {status.st_size:,} bytes, over {most:,}; no published model needs that")
            return file.read(most)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {said(error)}") from error


def read_json(folder: Path, name: str, *, most: int, linked: bool = False) -> Any:
    """Read a JSON file of a folder; numbers that are not finite come as they are.

    Raises ValueError as `read` does, and where it is damaged, nests deeper than 32, or holds over five million values
    or 200,000 objects.
    """
    content = read(folder, name, most=most, linked=linked)
    objects = content.count(b"{")
    values = objects + content.count(b",") + content.count(b"[")  # each takes memory, however short it is
    if values > _MOST_VALUES or objects > _MOST_OBJECTS:
        raise ValueError(
            f"{name} holds some {values:,} values in {objects:,} objects, over {_MOST_VALUES:,} and {_MOST_OBJECTS:,}; "
            "no published model needs that"
        )
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is damaged: {said(error)}") from error
    check_depth(value, name)
    return value


def read_fields(folder: Path, name: str, *, most: int, linked: bool = False) -> dict[str, Any]:
    """Read a JSON file that holds named fields; ValueError as `read_json`, and where it holds something else."""
    value = read_json(folder, name, most=most, linked=linked)
    if not isinstance(value, dict):
        raise ValueError(f"{name} holds a {type(value).__name__}, not named fields")
    return value


def check_depth(value: Any, name: str) -> None:
    """Raise ValueError where JSON nests so deep that what reads it by recursion could fail."""
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
    """Whether anything of this name is there, a broken link too."""
    return os.path.lexists(folder / name)


def _real(folder: Path, name: str, *, linked: bool) -> Path:
    """The real path of a file; ValueError where it lies elsewhere than the folder, or the blobs of its hub cache."""
    try:
        home = folder.resolve(strict=True)
        path = (home / name).resolve(strict=True)
    except (OSError, RuntimeError) as error:  # the second is a loop of links, in older Pythons
        raise ValueError(f"{name} cannot be read: {said(error)}") from error
    homes = [home]
    if home.parent.name == "snapshots":  # huggingface_hub keeps a file once, in blobs/, and links to it
        homes.append(home.parents[1] / "blobs")
    if not linked and not any(path.is_relative_to(one) for one in homes):
        raise ValueError(f"{name} is a link that leads out of its folder; put the file itself there")
    return path
