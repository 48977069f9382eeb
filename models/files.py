"""Files that are whole or not there: a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

if TYPE_CHECKING:  # what reads numbers alone (metrics, a replay) does without torch
    from torch import Tensor


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a file beside, bring it to the disk, then give it the name in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".partial")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, as `write_bytes` writes bytes."""
    write_bytes(path, text.encode("utf-8"))


def write_tensors(path: Path, tensors: Mapping[str, Tensor], *, about: str = "") -> None:
    """safetensors, atomically; about: a text kept in the file's header."""
    from safetensors.torch import save

    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, save(contiguous, metadata={"about": about}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], str]:
    """The tensors of a file and the text of its header.

    Raises ValueError where the file is missing or damaged.
    """
    return _read(path, framework="pt")


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """The same as numpy arrays, without torch."""
    return _read(path, framework="np")


def _read(path: Path, *, framework: str) -> tuple[dict[str, Any], str]:
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        with safe_open(path, framework=framework) as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, metadata.get("about", "")  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged ({error}).") from error
