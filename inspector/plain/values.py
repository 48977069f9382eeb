"""Numbers, tables and matrices as plain values, and the document that holds them."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SCHEMA = 1
"""The schema's number: another one where a program that reads today's documents could fail."""
FILE = Path(__file__).with_name("schema.json")


def document(kind: str, **content: Any) -> dict[str, Any]:
    """Return a document of a kind of schema.json; content: whatever `value` takes.

    Raises TypeError for a value that has no plain form.
    """
    return {"schema": SCHEMA, "kind": kind, **{name: value(inner) for name, inner in content.items()}}


def value(given: Any) -> Any:
    """Return a value of Python, numpy or pandas as null, a truth value, a number, a string, a list or an object.

    Raises TypeError for anything else.
    """
    if given is None or given is pd.NA or isinstance(given, str | bool):
        return given if isinstance(given, str | bool) else None
    if isinstance(given, np.bool_):
        return bool(given)
    if isinstance(given, int | float | np.integer | np.floating):
        return number(given)
    if isinstance(given, Mapping):
        return {str(name): value(inner) for name, inner in given.items()}
    if isinstance(given, np.ndarray | Sequence):
        return [value(inner) for inner in given]
    raise TypeError(f"a {type(given).__name__} has no plain form")


def number(given: float | np.integer[Any] | np.floating[Any]) -> int | float | str | None:
    """Return a number for JSON: null for NaN, "Infinity" and "-Infinity", and float32 in its fewest digits."""
    if isinstance(given, int | np.integer):
        return int(given)
    if math.isnan(given):
        return None
    if math.isinf(given):
        return "Infinity" if given > 0 else "-Infinity"
    return float(str(given)) if isinstance(given, np.float32) else float(given)


def table(frame: pd.DataFrame, *, most: int | None = None) -> dict[str, Any]:
    """Return a table as names of columns and rows; a named index is a column too.

    most: rows that are kept, the first; "left_out" says how many are not. Raises ValueError for columns of one name.
    """
    frame = frame if frame.index.name is None else frame.reset_index()
    columns = [str(name) for name in frame]
    if twice := {name for name in columns if columns.count(name) > 1}:
        raise ValueError(f"a table has the column {min(twice)!a} twice, and a row would lose a value")
    kept = frame if most is None else frame.head(most)
    values = [[value(cell) for cell in kept.iloc[:, place].array] for place in range(len(columns))]
    plain = {"columns": columns, "rows": [list(row) for row in zip(*values, strict=True)]}
    return plain if len(kept) == len(frame) else {**plain, "left_out": len(frame) - len(kept)}


def matrix(values: NDArray[Any]) -> list[list[Any]]:
    """Return a matrix [rows, columns] as a list of rows."""
    return [[number(cell) for cell in row] for row in values]


def printed(document: Mapping[str, Any]) -> str:
    """Write a document as one line of JSON; what draws nothing (escapes, marks of direction) as \\uXXXX."""
    line = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return line if line.isascii() else "".join(map(_drawn, line))


def _drawn(letter: str) -> str:
    """Write a letter of a string in JSON; controls below U+0020 are escaped there already."""
    if letter.isascii() or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return letter
    return json.dumps(letter)[1:-1]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of all documents."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read
