"""The file of SmolLM2's weights, which `models.fetch` finds: checked whole before anything is read of it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models import fetch
from models.formatting import one_line

[(FILE, PIN)] = fetch.PACKAGES["smollm2"].files.items()


def weights_file() -> Path:
    """Find the file of the weights; raises ValueError with the one command where it was not fetched."""
    return fetch.folder("smollm2") / FILE


def checked(path: Path) -> NDArray[np.uint8]:
    """Map a file into memory [bytes], to be read only, if it is the file that this project knows, byte for byte.

    Raises ValueError, with the command that restores it, for a file that is missing, cut off, or another one.
    """
    try:
        size = path.stat().st_size
        if size != PIN.bytes:
            cut = "it is cut off" if size < PIN.bytes else "it is another file"
            raise ValueError(_unfit(path, f"{cut}: {size:,} bytes, where {PIN.bytes:,} are expected"))
        data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    except OSError as error:
        raise ValueError(_unfit(path, f"it cannot be read ({one_line(error)})")) from error
    if (digest := sha256(data.data).hexdigest()) != PIN.sha256:
        raise ValueError(
            _unfit(path, f"it is another file: its SHA-256 begins with {digest[:12]}, not {PIN.sha256[:12]}")
        )
    return data


def _unfit(path: Path, why: str) -> str:
    return (
        f"The weights of SmolLM2 in {path} are not read: {why}. Fetch them again with `python -m models.fetch smollm2`."
    )
