"""scores.csv: the scores of a finished training, so that another training's card can show them beside its own."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from models.files import write_text

FILE = "scores.csv"


def write(out: Path, scores: Mapping[str, str]) -> None:
    """Write a row for each measured quantity: its name and the result."""
    with StringIO() as file:
        csv.writer(file, lineterminator="\n").writerows([("measured", "result"), *scores.items()])
        write_text(out / FILE, file.getvalue())


def read(out: Path) -> dict[str, str]:
    """Read the scores that `write` wrote; raises ValueError where the file is missing."""
    path = out / FILE
    if not path.is_file():
        raise ValueError(f"There is no file {path}: the training in {out} is not finished. Finish it with --resume.")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["measured"]: row["result"] for row in csv.DictReader(file)}
