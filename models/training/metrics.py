"""metrics.csv: how a training went, a row at a time."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

from models.files import write_text
from models.training.state import Progress

FILE = "metrics.csv"
COLUMNS = (
    "step",
    "loss",  # training loss (smoothed where the recipe smooths), nats a token, mean since the row before
    "valid_loss",  # nats a token, nothing smoothed; empty between evaluations
    "valid_accuracy",  # share of tokens predicted right
    "learning_rate",
    "gradient_norm",  # L2, before clipping, of the row's last step
    "tokens_per_second",  # real tokens, source and target
    "seconds",  # since the start, interruptions left out
)


def begin(out: Path) -> None:
    """A file with the header alone."""
    write_text(out / FILE, ",".join(COLUMNS) + "\n")


def add(
    out: Path,
    progress: Progress,
    *,
    valid: tuple[float, float] | None,
    rate: float,
    gradient_norm: float,
    speed: float,
) -> None:
    """One more row; valid: loss and accuracy, where the valid split was read."""
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
    """Forget the rows after `step`, which a resumed training writes again, and a row that a kill left half-written."""
    lines = (out / FILE).read_text(encoding="utf-8").splitlines(keepends=True)
    header, rows = lines[0], [line for line in lines[1:] if line.endswith("\n")]
    kept = [line for line in rows if line.count(",") == len(COLUMNS) - 1 and int(line.split(",")[0]) <= step]
    write_text(out / FILE, "".join([header, *kept]))


def read(out: Path) -> list[dict[str, float | None]]:
    """The rows, None where a cell is empty."""
    with StringIO((out / FILE).read_text(encoding="utf-8")) as file:
        return [{key: float(cell) if cell else None for key, cell in row.items()} for row in csv.DictReader(file)]
