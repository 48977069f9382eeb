"""The training history of the bundled models, read from their checkpoints without torch, so a page opens at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

from safetensors import SafetensorError, safe_open

from models.checkpoints import CARD, CONFIG, WEIGHTS, way_out
from models.training import metrics, replay_file
from models.training.replay_file import Replay

_HISTORY_FILES = (CARD, metrics.FILE, replay_file.FILE)


@dataclass(frozen=True)
class CheckpointSize:
    """The size of a checkpoint's model."""

    parameters: int
    vocabulary: int  # V


def names(folder: Path) -> tuple[str, ...]:
    """Return the names of the checkpoints in `folder` that have a card, metrics or a replay."""
    return tuple(
        sorted(path.name for path in folder.iterdir() if any((path / name).is_file() for name in _HISTORY_FILES))
    )


def read_size(folder: Path) -> CheckpointSize:
    """Read the size from the weights' header and the configuration; raises ValueError if one is missing or damaged."""
    with _with_way_out(folder):
        path = folder / WEIGHTS
        try:
            with safe_open(path, framework="np") as file:
                shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
            path = folder / CONFIG
            vocabulary = int(json.loads(path.read_text(encoding="utf-8"))["transformer"]["vocabulary"])
        except FileNotFoundError as error:
            raise ValueError(f"There is no file {path}.") from error
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}).") from error
    return CheckpointSize(sum(prod(shape) for shape in shapes), vocabulary)


def read_card(folder: Path) -> str:
    """Read CARD.md, in Markdown; raises ValueError for a file that is missing or not UTF-8."""
    path = folder / CARD
    with _with_way_out(folder):
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise ValueError(f"There is no file {path}.") from error
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({error}).") from error


def section(card: str, title: str) -> str:
    """Return the text under a title of the card, "" where the card has no such title."""
    _, _, rest = card.partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0].strip()


def read_metrics(folder: Path) -> list[dict[str, float | None]]:
    """Read metrics.csv as `metrics.read` does; raises ValueError for a file that is missing, damaged or empty."""
    with _with_way_out(folder):
        rows = metrics.read(folder)
        if not rows:
            raise ValueError(f"{folder / metrics.FILE} has no row.")
        return rows


def read_replay(folder: Path) -> Replay:
    """Read the replay as `replay_file.read` does; raises ValueError for a missing or damaged file."""
    with _with_way_out(folder):
        return replay_file.read(folder)


@contextmanager
def _with_way_out(folder: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error} {way_out(folder)}") from error
