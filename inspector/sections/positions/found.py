"""The positions of a model, asked of its own code: what all sections of the page start from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import interventions, positional
from inspector.sections.picks import Count
from inspector.wording import positions as words
from models import failures

if TYPE_CHECKING:
    from inspector.interventions import ScoreSplit
    from inspector.sections.subject import Subject

Rows = NDArray[np.floating[Any]]
MOST = 512  # positions drawn where the model has no table
FEWEST = 64  # positions whose turns and biases are drawn, or as many as the text has


@dataclass(frozen=True, eq=False)
class Found:
    """The positions of a model.

    own: the tables that it adds, by the name that the page gives them. tables: their values [T, D], and the paper's
    beside them, of as many positions. width: of the paper's.
    """

    own: Mapping[str, positional.PositionTable]
    tables: Mapping[str, Rows]
    width: int
    rotations: tuple[positional.Rotation, ...]
    biases: tuple[positional.DistanceBias, ...]
    vectors: tuple[positional.DistanceVectors, ...]
    ways: tuple[positional.Way, ...]

    @property
    def compares(self) -> bool:
        """True where tables are looked at: the model's, or the paper's for a model of which nothing else is known."""
        return bool(self.own) or not (self.rotations or self.biases or self.vectors)

    @property
    def first(self) -> str:
        """The name of the model's first table; the paper's for a model without."""
        return next(iter(self.tables))

    def is_of_waves(self, name: str) -> bool:
        """Return True for a table of sines and cosines: the paper's, or the model's where it is of that kind."""
        return name not in self.own or self.own[name].kind == "sinusoidal"

    @property
    def waves_first(self) -> list[str]:
        """The names of the tables, those of sines and cosines before others."""
        return sorted(self.tables, key=lambda name: not self.is_of_waves(name))

    def of_each(self, make: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        """Make rows of each table, and name the table in a column before them."""
        made = {name: make(values) for name, values in self.tables.items()}
        return pd.concat(made, names=["table"]).reset_index(level="table")


def find(subject: Subject) -> Found:
    """Ask the model for its tables, turns, biases and vectors, as far as the text reaches."""
    reach = min(max(len(subject.tokens), FEWEST), MOST)
    return subject.of_model(("positions", reach), partial(_find, subject, reach))


def _find(subject: Subject, reach: int) -> Found:
    loaded = subject.model
    tables = subject.of_model("position tables", lambda: positional.tables(loaded))
    stacks = ("encoder", "decoder") if len(tables) > 1 else ("",)
    own = {words.added_table(table.kind, stack=stack): table for stack, table in zip(stacks, tables, strict=False)}
    values: dict[str, Rows] = {name: table.values for name, table in own.items()}
    width = min((rows.shape[1] for rows in values.values()), default=subject.trace.output.shape[1])
    positions = max(map(len, values.values()), default=min(loaded.max_tokens, MOST))
    return Found(
        own,
        values | {words.PAPER: positional.sinusoidal(positions, width)},
        width,
        positional.rotations(loaded, positions=reach),
        positional.biases(loaded, reach=reach),
        positional.vectors(loaded, reach=reach),
        positional.ways(loaded.config, tables),
    )


def code(subject: Subject) -> str:
    """Write the Python lines after which `tables` is there."""
    found = find(subject)
    rows = max(map(len, found.tables.values()))
    named = [f"    {name!r}: own[{at}].values,\n" for at, name in enumerate(found.own)]
    return (
        f"import pandas as pd\n{subject.code}own = inspector.positional.tables(loaded)\ntables = {{\n{''.join(named)}"
        f"    {words.PAPER!r}: inspector.positional.sinusoidal({rows}, {found.width}),\n}}\n"
    )


def of_each(make: str) -> str:
    """Write the Python line that gives `Found.of_each`; make: what is made of `rows`."""
    return f"made = {{name: {make} for name, rows in tables.items()}}\n" + (
        "table = pd.concat(made, names=['table']).reset_index(level='table')"
    )


def streams(subject: Subject) -> tuple[str, ...]:
    """Name the stream whose attention is shown: the encoder's where the model has an encoder."""
    return ("encoder" if "encoder" in subject.trace.streams else "decoder",)


def split(subject: Subject) -> ScoreSplit:
    """Split the first layer's scores; ValueError where there is no such sum."""

    def make() -> ScoreSplit:
        with failures.told(words.SPLITTING, instead=words.ANOTHER_MODEL):
            return interventions.split_scores(subject.model, subject.trace)

    return subject.of_text("four terms", make)


def code_of_split(subject: Subject) -> str:
    """Write the Python lines after which `split` is there."""
    return f"{subject.code}split = inspector.interventions.split_scores(loaded, trace)\n"


HEAD = Count(
    "split_head",
    words.SPLIT_HEAD,
    lambda subject: subject.trace.sites_of(subject.stream)[0].heads - 1,
    lambda subject: 0,
)
