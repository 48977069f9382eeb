"""metrics.csv: loss, accuracy, learning rate and speed of a training, a row at a time."""

from __future__ import annotations

import csv
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from models.files import write_text

if TYPE_CHECKING:  # state imports torch, which reading metrics does not need
    from models.training.state import TrainingProgress

FILE = "metrics.csv"
COLUMNS = (
    "step",
    "loss",  # training loss (with the recipe's label smoothing), nats a token, mean since the row before
    "valid_loss",  # nats a token, without smoothing; empty between evaluations
    "valid_accuracy",  # share of right predictions
    "learning_rate",
    "gradient_norm",  # L2, before clipping, of the row's last step
    "tokens_per_second",  # real tokens, source and target
    "seconds",  # since the start, interruptions left out
)


def begin(out: Path) -> None:
    """Write a file with the header alone."""
    write_text(out / FILE, ",".join(COLUMNS) + "\n")


def add(
    out: Path,
    progress: TrainingProgress,
    *,
    valid: tuple[float, float] | None,
    rate: float,
    gradient_norm: float,
    speed: float,
) -> None:
    """Append a row; valid: loss and accuracy on the valid split, None between evaluations."""
    tested = ("", "") if valid is None else (f"{valid[0]:.5f}", f"{valid[1]:.5f}")
    row = (
        progress.step,
        f"{progress.loss / progress.tokens:.5f}",
        *tested,
        f"{rate:.4g}",
        f"{gradient_norm:.4g}",
        f"{speed:.0f}",
        f"{progress.seconds:.1f}",
    )
    with (out / FILE).open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)


def cut(out: Path, step: int) -> None:
    """Delete the rows after `step`, which a resumed training writes again, and a row that a kill left half-written."""
    lines = (out / FILE).read_text(encoding="utf-8").splitlines(keepends=True)
    header, rows = lines[0], [line for line in lines[1:] if line.endswith("\n")]
    reached = [line for line in rows if line.count(",") == len(COLUMNS) - 1 and int(line.split(",")[0]) <= step]
    write_text(out / FILE, "".join([header, *reached]))


def read(out: Path) -> list[dict[str, float | None]]:
    """Read the rows; empty cells of the valid split become None.

    Raises ValueError where the file is missing or damaged.
    """
    path = out / FILE
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        with StringIO(path.read_text(encoding="utf-8")) as file:
            header, *lines = csv.reader(file)
            if tuple(header) != COLUMNS:
                raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
            return [_numbers(cells, line=line) for line, cells in enumerate(lines, start=2)]
    except (OSError, ValueError, csv.Error) as error:  # not UTF-8, empty, or not these numbers
        raise ValueError(f"{path} is damaged ({error}).") from error


def _numbers(cells: list[str], *, line: int) -> dict[str, float | None]:
    if len(cells) != len(COLUMNS):
        raise ValueError(f"line {line}: {len(cells)} cells; expected {len(COLUMNS)}")
    row: dict[str, float | None] = {}
    for column, cell in zip(COLUMNS, cells, strict=True):
        value = float(cell) if cell else None
        if (value is None and not column.startswith("valid")) or (value is not None and not isfinite(value)):
            raise ValueError(f"line {line}: {column} is {cell!r}; expected a number")
        row[column] = value
    return row
