"""The one download button: a file that is made when the reader asks for it.

downloads.button("heads.csv", lambda: spreadsheet.csv(frame), "Every measure of every head", label="Heads, CSV")
downloads.row([File("heads.csv", lambda mode: frame, "Every measure of every head")])
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from inspector.export import spreadsheet
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.sections.section import File
from inspector.views.shell import appearance

MIME = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".npz": "application/octet-stream",
    ".parquet": "application/vnd.apache.parquet",
    ".png": "image/png",
    ".svg": "image/svg+xml",
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


def row(files: Iterable[File]) -> None:
    """Draw the buttons of files beside each other.

    A picture is as light or dark as the page, which only a run of the script can tell: it is asked here.
    """
    mode = appearance.mode()
    with st.container(horizontal=True, gap="small"):
        for file in files:
            button(file.name, partial(_written, file, mode), file.meaning, label=file.label)


def _written(file: File, mode: Mode) -> bytes:
    """Write a file as its ending says."""
    content, ending = file.make(mode), Path(file.name).suffix
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, Scene):
        return content.png() if ending == ".png" else content.svg().encode()
    return content.to_parquet(index=False) if ending == ".parquet" else spreadsheet.csv(content)


def npz(arrays: Mapping[str, Any]) -> bytes:
    """Return the arrays as numpy.load() reads them."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()
