"""Downloads of a changed text: the open head's maps as pictures, tables and arrays, and what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from inspector.export import python
from inspector.sections.section import File
from inspector.views.figures import map_files
from inspector.views.shell import downloads

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import Trace
    from inspector.views.figures.map_files import MapPicture
    from inspector.views.what_if.before_after import OpenChange


def change(
    trace: Trace,
    opened: OpenChange,
    pictures: Mapping[str, MapPicture],
    *,
    what: str,
    predictions: pd.DataFrame | None,
    name: str,
) -> None:
    """Draw the menu of the open head's maps, with what is predicted.

    trace: the text as it was. what: the call of inspector.interventions, see `python.intervention`. name: of the files.
    """
    keys = opened.shown[0].keys.labels
    arrays = {title.lower(): picture.weights for title, picture in pictures.items()}
    arrays["difference"] = arrays.pop("after minus before")
    files = [
        File(
            f"{name}-attention.npz",
            lambda _: downloads.npz({**arrays, "tokens": np.array(keys)}),
            "The open head between the tokens as you see them: numpy.load() gives " + ", ".join(arrays),
            "Maps, NPZ",
        )
    ]
    if predictions is not None:
        files.append(
            File(
                f"{name}-guesses.csv",
                lambda _: predictions,
                "The likeliest tokens and the true one, before and after, to the last digit",
                "Guesses, CSV",
            )
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
    map_files.draw(pictures, name=name, python=lines, more=files)
