"""The one download button: a file that is made when the reader asks for it.

downloads.button("heads.csv", lambda: spreadsheet.csv(frame), "Every measure of every head", label="Heads, CSV")
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

MIME = {
    ".apkg": "application/octet-stream",
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
    ".npz": "application/octet-stream",
    ".parquet": "application/vnd.apache.parquet",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
}


def button(file: str, make: Callable[[], bytes], meaning: str | None = None, *, label: str = "") -> None:
    """Draw the button for `file`, whose ending says what it is; `meaning` is shown on hover.

    label: the button's words; the ending in capitals where it is empty.
    """
    ending = Path(file).suffix
    st.download_button(
        label or ending.removeprefix(".").upper(),
        make,
        file_name=file,
        mime=MIME[ending],
        help=meaning,
        icon=":material/download:",
        on_click="ignore",
        key=f"download {file}",
    )


def npz(arrays: Mapping[str, Any]) -> bytes:
    """Return the arrays as numpy.load() reads them."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()
