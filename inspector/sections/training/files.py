"""A training as its files tell it: metrics, the size of the weights, and the replay of its moments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import models
from inspector import training
from inspector.sections.picks import Named
from inspector.wording import training as words
from models import checkpoints
from models.training import history
from models.training.recipes import RECIPES

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from models.training.recipes import Recipe
    from models.training.replay_file import Replay


@dataclass(frozen=True, eq=False)
class Trained:
    """A checkpoint of this project, and what is known of its training.

    rows: of `training.curves`; size: of the weights; None where the file cannot be read, which `problems` say. recipe:
    None where there is none of its name.
    """

    folder: Path
    recipe: Recipe | None
    rows: pd.DataFrame | None
    size: history.CheckpointSize | None
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        """The checkpoint's name, which is the model's id."""
        return self.folder.name

    @property
    def vocabulary(self) -> int | None:
        """The number of the model's tokens, None where it is not known."""
        return None if self.size is None else self.size.vocabulary

    @property
    def code(self) -> str:
        """The Python lines after which `folder`, `history` and `training` are there."""
        return (
            "from inspector import training\nfrom models import checkpoints\nfrom models.training import history\n\n"
            f"folder = checkpoints.FOLDER / {self.name!r}\n"
        )

    @property
    def replay_code(self) -> str:
        """The Python lines after which `replay` holds the moments of the training too."""
        return f"{self.code}replay = history.read_replay(folder)\n"


def titles(subject: Subject) -> dict[str, str]:
    """Name each checkpoint that tells of its training: id -> the model's title."""
    known = {card.id: card.title for card in models.catalogue()}
    return {name: known.get(name, name) for name in history.names(checkpoints.FOLDER)}


RUN = Named("run", words.RUN, titles, width=300)


def read(name: str) -> Trained:
    """Read what a training left, but for its replay; ValueError where there is none."""
    if not name:
        raise ValueError(words.none_tells(str(checkpoints.FOLDER)))
    folder, problems = checkpoints.FOLDER / name, []
    rows, size = None, None
    try:
        rows = training.curves(history.read_metrics(folder))
    except ValueError as error:
        problems.append(str(error))
    try:
        size = history.read_size(folder)
    except ValueError as error:
        problems.append(str(error))
    return Trained(folder, RECIPES.get(name), rows, size, tuple(problems))


def replay(subject: Subject, trained: Trained) -> Replay:
    """Read the moments of a training, once; ValueError where the file cannot be read."""
    return subject.of_all(("replay", str(trained.folder)), lambda: history.read_replay(trained.folder))
