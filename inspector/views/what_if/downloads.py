"""Downloads of a changed text: the open head's maps as pictures, tables and arrays, and what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.export import python, spreadsheet
from inspector.views.figures import map_files
from inspector.views.shell import downloads
from inspector.views.what_if.before_after import OpenChange

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import Trace
    from inspector.views.figures.map_files import MapPicture


def change(
    trace: Trace,
    opened: OpenChange | str,
    pictures: Mapping[str, MapPicture],
    *,
    what: str,
    predictions: pd.DataFrame | None,
    name: str,
) -> None:
    """Draw the files of the open head's maps, and of what is predicted.

    trace: the text as it was. what: the call of inspector.interventions, see `python.intervention`. name: of the files.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if predictions is not None:
            downloads.button(
                f"{name}-guesses.csv",
                lambda: spreadsheet.csv(predictions),
                "The likeliest tokens and the true one, before and after, to the last digit",
                label="Guesses, CSV",
            )
        if isinstance(opened, str):
            return
        arrays = {title.lower(): picture.weights for title, picture in pictures.items()}
        arrays["difference"] = arrays.pop("after minus before")
        keys = opened.shown[0].keys.labels
        downloads.button(
            f"{name}-attention.npz",
            lambda: downloads.npz({**arrays, "tokens": np.array(keys)}),
            "The open head between the tokens as you see them: numpy.load() gives " + ", ".join(arrays),
            label="Maps, NPZ",
        )
        site = opened.sites[opened.row]
        lines = python.intervention(
            trace,
            what,
            hide=opened.options.hide,
            words=opened.options.merge,
            layer=site.layer,
            head=opened.number,
            stream=site.stream,
            call=site.call,
            predicts=predictions is not None,
        )
        map_files.draw(pictures, name=name, python=lines)
