"""Numbers that a reader reads: in one line, as cards, or in a table that can be downloaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from inspector.export import spreadsheet
from inspector.views.components import width as window
from inspector.views.shell import downloads
from inspector.wording import maps as wording

if TYPE_CHECKING:
    import pandas as pd

Reading = tuple[str, str, str]
"""A name, the number with its unit, and what it means."""


def cards(readings: Iterable[Reading], *, width: int = 134) -> None:
    """Draw a row of cards, `width` pixels each, which wraps where the page is narrow."""
    with st.container(horizontal=True, gap="small"):
        for name, number, meaning in readings:
            st.metric(name, number, help=meaning, border=True, width=width)


def line(readings: Iterable[Reading], *, of: str = "", about: str = "") -> None:
    """Draw one line of names and numbers; their meanings open with the mark at its end.

    of: what the numbers describe, behind them; about: the paragraph before the meanings.
    """
    readings = list(readings)
    numbers = " · ".join(f"{_within_a_line(name)} **{number}**" for name, number, _ in readings)
    meanings = "\n".join(f"- **{name}**: {meaning}" for name, _, meaning in readings)
    st.markdown(numbers + of, help=about + meanings, width="content")


def _within_a_line(name: str) -> str:
    """Begin a name with a small letter, unless its first word has capitals inside: "entropy", but "RoPE's product"."""
    first, _, _ = name.partition(" ")
    return name if any(letter.isupper() for letter in first[1:]) else f"{name[0].lower()}{name[1:]}"


def table(frame: pd.DataFrame, *, name: str, height: int | None = None, words: Mapping[str, str] | None = None) -> None:
    """Draw a table with numbers to three significant digits, or whole, and its download with all digits.

    words: the heads of columns as the page calls them; the download has the columns' own names.
    """
    heads = words or {}
    columns: dict[str, Any] = {column: st.column_config.Column(head) for column, head in heads.items()}
    columns |= {
        column: st.column_config.NumberColumn(heads.get(column), format="%.3g")
        for column in frame.select_dtypes("float").columns
    }
    columns |= {
        column: st.column_config.NumberColumn(heads.get(column), format="localized")
        for column in frame.select_dtypes("integer").columns
    }
    if window.is_narrow():  # there the table's toolbar always stands over it, where the words before it would end
        st.space("small")
    st.dataframe(frame, hide_index=True, column_config=columns, height=height or "auto", placeholder="–")
    downloads.button(f"{name}.csv", lambda: spreadsheet.csv(frame), label=wording.TABLE_AS_CSV)
