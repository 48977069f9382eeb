"""The matrices of a model as they grew in its training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from inspector import training
from inspector.components.matrix import Panel
from inspector.sections.picks import Option
from inspector.sections.section import Block, Map, Mark, Section, Sentence
from inspector.sections.training import files
from inspector.wording import training as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject
    from inspector.sections.training.files import Trained
    from models.training.replay_file import Replay


def answer(subject: Subject, *, run: str) -> Iterator[Block]:
    """Yield the part that asks for a stream."""
    trained = files.read(run)
    replay = files.replay(subject, trained)
    streams = Option("replay_stream", words.STREAM, lambda subject: {stream: stream for stream in replay.streams})
    yield replace(GROWTH, answer=partial(_growth, replay=replay, trained=trained), picks=(streams,))


def _growth(subject: Subject, *, replay_stream: str, replay: Replay, trained: Trained) -> Iterator[Block]:
    """Yield how the matrices of the stream's layers grew."""
    table = training.growth(replay, stream=replay_stream)
    growth = finite(table.iloc[:, -1])
    most = max(growth, key=growth.__getitem__, default=None)
    named = None if most is None else (table.index.get_loc(most), table.shape[1] - 1)
    if most is not None:
        yield Sentence(grown(growth), about=(Mark("norms-over-time", {"matrix": most}),))
    doublings = np.log2(table.to_numpy(dtype=float))
    columns = [f"{step:,}" for step in table.columns]
    yield Map(
        "norms-over-time",
        words.SIZES,
        (Panel(doublings, rows=list(table.index), columns=columns, named=named),),
        row_title="matrix",
        column_title="step",
        alt=words.SIZES_ALT,
        quantity="doublings since the start",
        numbered="neither",
        diverging=True,
        code=f"{trained.replay_code}import numpy as np\n\n"
        f'doublings = np.log2(training.growth(replay, stream="{replay_stream}"))',
        note=words.ABOUT_SIZES,
        name=f"{trained.name}-{replay_stream}-matrices",
    )


def finite(growth: Mapping[str, float]) -> dict[str, float]:
    """Leave out the matrices without a growth: a matrix that began as zeros has none."""
    return {str(name): float(times) for name, times in growth.items() if isfinite(times)}


def grown(growth: Mapping[str, float]) -> str:
    """Say how much the matrices grew; growth: size at the end over size at the start, by matrix, see `finite`."""
    most, least = max(growth, key=growth.__getitem__), min(growth, key=growth.__getitem__)
    return words.grown(most=(most, growth[most]), least=(least, growth[least]))


GROWTH = Section("sizes_of", "", _growth, about="course")
SECTION = Section("sizes", words.SIZES, answer, (files.RUN,), about="course", parts=(GROWTH,))
