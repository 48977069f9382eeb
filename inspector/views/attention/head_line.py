"""The line over the maps: the name of the open head and its numbers, what each means on demand."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from inspector.text import plain
from inspector.views.shell import widgets
from inspector.wording import attention as said

OTHER = "other"  # a head that does no one thing; the sentence over the page says what it does
Number = tuple[str, str, str]
"""A name, the number with its unit, and what it means."""


def draw(title: str, numbers: Iterable[Number] = (), *, whole: bool = False) -> None:
    """Draw name and numbers into the row that is open; of several heads, or all, there are no numbers.

    whole: some tokens are hidden or merged, and the numbers describe the whole map.
    """
    numbers = [one for one in numbers if one[1] != OTHER]
    st.markdown(f"**{plain(title)}**", width="content")
    if numbers:
        about = said.WHOLE_MAP if whole else ""
        widgets.numbers(numbers, of=", of the whole map" if whole else "", about=about)
