"""Tables as CSV that a spreadsheet opens as what they are: a token of a stranger's tokenizer never becomes a formula.

A cell of text that begins as a formula stands behind an apostrophe, which spreadsheets take for "this is text" (OWASP,
CSV injection), and text is quoted, so that no separator of another country splits it. Numbers stay as they are.
"""

from __future__ import annotations

import csv as csv_format
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

V = TypeVar("V")
_FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four: = + - @ as wide letters


def csv(table: pd.DataFrame) -> bytes:
    """Write a table without its index: UTF-8, numbers to the last digit. Columns may be named by numbers."""
    named = table.rename(columns=cell)
    for name in named.select_dtypes(exclude=["number", "bool"]):
        named[name] = named[name].map(cell)
    content: str = named.to_csv(index=False, quoting=csv_format.QUOTE_NONNUMERIC)
    return content.encode()


def rows(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a header and lines of texts and numbers, as `csv` does a table."""
    file = io.StringIO()
    writer = csv_format.writer(file, quoting=csv_format.QUOTE_NONNUMERIC)
    writer.writerow(map(cell, header))
    writer.writerows(map(cell, line) for line in lines)
    return file.getvalue()


def cell(value: V) -> V | str:
    """Put a text that begins as a formula behind an apostrophe; anything else stays as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
