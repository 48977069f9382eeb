"""scores.csv: what a finished training was measured to be, so that another's card can show it beside its own."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from models.files import write_text

FILE = "scores.csv"


def write(out: Path, scores: Mapping[str, str]) -> None:
    """What was measured and the result, a row each."""
    with StringIO() as file:
        csv.writer(file, lineterminator="\n").writerows([("measured", "result"), *scores.items()])
        write_text(out / FILE, file.getvalue())


def read(out: Path) -> dict[str, str]:
    """What `write` wrote; ValueError where there is nothing."""
    path = out / FILE
    if not path.is_file():
        raise ValueError(f"There is no file {path}: the training in {out} is not finished. Finish it with --resume.")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["measured"]: row["result"] for row in csv.DictReader(file)}
