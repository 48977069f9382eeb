"""The line over the maps: the name of the open head and its numbers, what each means on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import readings
from inspector.views.shell.readings import Reading
from inspector.wording import attention as said

if TYPE_CHECKING:
    import pandas as pd

OTHER = "other"  # a head that does no one thing; the sentence over the page says what it does


def numbers_of(row: pd.Series, *, tokens: int) -> list[Reading]:
    """Return the open head's measures; `row` of heads.measure with its label."""
    from inspector.components.grid.roles import MEANINGS

    role = row["label"]
    numbers = [
        ("Mostly", role, MEANINGS.get(role, said.NO_ROLE)),
        (
            "Entropy",
            f"{row['entropy']:.3g} nats",
            said.entropy_about(tokens=tokens, relative=row["relative_entropy"]),
        ),
        ("Distance", f"{row['distance']:.3g} tok.", said.DISTANCE_ABOUT),
        ("Confidence", f"{row['confidence']:.3g}", said.CONFIDENCE_ABOUT),
        ("To [CLS]", f"{row['cls']:.3g}", said.CLS_ABOUT),
        ("To [SEP]", f"{row['sep']:.3g}", said.SEP_ABOUT),
    ]
    return [number for number in numbers if not number[1].startswith("nan")]  # without [CLS], or between two texts


def draw(title: str, numbers: Iterable[Reading] = (), *, whole: bool = False) -> None:
    """Draw name and numbers into the row that is open; of several heads, or all, there are no numbers.

    whole: some tokens are hidden or merged, and the numbers describe the whole map.
    """
    numbers = [number for number in numbers if number[1] != OTHER]
    st.markdown(f"**{plain(title)}**", width="content")
    if numbers:
        about = said.WHOLE_MAP if whole else ""
        readings.line(numbers, of=", of the whole map" if whole else "", about=about)
