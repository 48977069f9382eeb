"""Downloads of a changed text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.export import spreadsheet
from inspector.views.shell import downloads

if TYPE_CHECKING:
    import pandas as pd

    from inspector.views.what_if.before_after import Drawn


def change(predictions: pd.DataFrame | None, drawn: Drawn | None, *, name: str) -> None:
    """Draw buttons for what is predicted, as CSV, and for the open head's maps [Q, T] with their keys, as NPZ."""
    with st.container(horizontal=True, gap="small"):
        if predictions is not None:
            downloads.button(
                f"{name}-guesses.csv",
                lambda: spreadsheet.csv(predictions),
                "The likeliest tokens and the true one, before and after, to the last digit",
                label="Guesses, CSV",
            )
        if drawn is not None:
            downloads.button(
                f"{name}-attention.npz",
                lambda: downloads.npz({**drawn.maps, "tokens": np.array(drawn.keys)}),
                "The open head between the tokens as you see them: numpy.load() gives " + ", ".join(drawn.maps),
                label="Maps, NPZ",
            )
