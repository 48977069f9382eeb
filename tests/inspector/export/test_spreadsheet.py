"""No cell of a table that is taken away begins as a formula, and numbers are those of the table."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import export
from inspector.export import spreadsheet

FORMULAS = (
    "=HYPERLINK(A1)",
    "@SUM(1)",
    "+1",
    "-2+3",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1+1",
    "=cmd|' /C calc'!A0",
    "-",
)
PLAIN = ("cat", "##s", "a,b", 'a"b', "a;=1", "'", " =1", "", "3 = 3", "😀", "two\nlines")


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text: str) -> None:
    written = spreadsheet.csv(pd.DataFrame({"token": [text], text: [1.5], "n": [-3]})).decode()
    header, line = csv.reader(io.StringIO(written, newline=""))
    assert header == ["token", f"'{text}", "n"]
    assert line == [f"'{text}", "1.5", "-3"]
    assert not any(cell.startswith(tuple("=+@\t\r\n")) for cell in (*header, *line))


def test_what_is_no_formula_is_untouched() -> None:
    frame = pd.DataFrame({"token": PLAIN, "p": np.linspace(-1, 1, len(PLAIN)), "n": range(-3, len(PLAIN) - 3)})
    again = pd.read_csv(io.BytesIO(spreadsheet.csv(frame)), keep_default_na=False)
    pd.testing.assert_frame_equal(again, frame, check_exact=True)


def test_another_countrys_separator_splits_no_text() -> None:
    written = spreadsheet.csv(pd.DataFrame({"token": ["x;=1+1"], "p": [0.5]})).decode()
    assert next(csv.reader([written.splitlines()[1]], delimiter=";"))[0].startswith("x;=1+1")
    matrix = export.csv(np.eye(1, dtype=np.float32), queries=["x;=1+1"], keys=["y;=2"])
    assert '"0 x;=1+1"' in matrix
    assert '"0 y;=2"' in matrix


def test_mixed_columns_and_missing_numbers() -> None:
    frame = pd.DataFrame({"mixed": ["=1", -1, None], "p": [np.nan, -np.inf, 1e-9]})
    lines = list(csv.reader(io.StringIO(spreadsheet.csv(frame).decode())))
    assert lines[1:] == [["'=1", ""], ["-1", "-inf"], ["", "1e-09"]]


def test_columns_may_be_named_by_numbers() -> None:
    """A grid of tokens has columns 0, 1, ...; its file could not be made."""
    frame = pd.DataFrame([["=cat", "sat"], ["on", None]])
    lines = list(csv.reader(io.StringIO(spreadsheet.csv(frame).decode())))
    assert lines == [["0", "1"], ["'=cat", "sat"], ["on", ""]]


def test_every_table_is_written_here() -> None:
    """Search every other file of the instrument for a table written as CSV."""
    root = Path(inspector.__file__).parent
    writes = re.compile(r"\.to_csv\(|(?<!words)\.writer\(")  # words.writer names who wrote
    writers = {path.name for path in root.rglob("*.py") if writes.search(path.read_text(encoding="utf-8"))}
    assert writers == {"spreadsheet.py"}
