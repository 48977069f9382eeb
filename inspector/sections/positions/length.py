"""Texts longer than a model's longest: what its positions have there, and what a token costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import positional
from inspector.plots.chart import Chart
from inspector.sections.positions.found import Found, find
from inspector.sections.section import Block, Figure, Note, Number, Numbers, Paragraph, Section
from inspector.text import plain
from inspector.wording import positions as words

if TYPE_CHECKING:
    from inspector.positional import DistanceBias, DistanceVectors, PositionTable, Rotation, Way
    from inspector.sections.subject import Subject

FARTHEST = 512  # tokens back, among which the last bucket and the last vector are looked for


def answer(subject: Subject) -> Iterator[Block]:
    """Yield what each way in which the model knows positions has beyond its longest text."""
    found, loaded = find(subject), subject.model
    said = beyond(
        found.ways,
        tokens=loaded.max_tokens,
        tables=tuple(found.own.values()),
        rotations=found.rotations,
        biases=subject.of_model("far biases", lambda: positional.biases(loaded, reach=FARTHEST)),
        vectors=subject.of_model("far vectors", lambda: positional.vectors(loaded, reach=FARTHEST)),
    )
    yield Paragraph("\n\n".join(said), words.BEYOND)
    yield _numbers(found, longest=loaded.max_tokens)
    yield _longer(subject)
    yield Note(words.ABOUT_LENGTH)


def _numbers(found: Found, *, longest: int) -> Numbers:
    numbers = [Number(*words.longest(longest))]
    for rotation in found.rotations[:1]:
        pairs = len(rotation.wavelengths)
        numbers.append(Number(*words.whole_pairs(pairs - _unfinished(rotation, longest), pairs=pairs)))
    return Numbers(tuple(numbers))


def _longer(subject: Subject) -> Figure | Note:
    """Read a passage beyond the longest text, at once and in windows, where the model can be run so."""
    loaded = subject.model
    try:
        table = subject.of_model("beyond", lambda: positional.longer(loaded))
    except ValueError as error:
        return Note(words.not_measured(plain(str(error).replace(loaded.card.id, loaded.card.title))))
    chart = Chart(
        table.melt("position", list(words.WINDOWS), var_name="read", value_name="bits"),
        "position",
        "bits",
        by="read",
        names=words.WINDOWS,
        parts={"at_once": "positions", "in_windows": "residual"},
        styles={"in_windows": 1},
        x_title=words.POSITION,
        y_title=words.BITS,
        title=words.COST,
        height=344,
    )
    return Figure(
        "longer",
        "",
        chart,
        words.COST_ALT,
        f"{subject.code}table = inspector.positional.longer(loaded)",
        table,
        sentence=longer(table, longest=loaded.max_tokens),
        note=words.passage(loaded.max_tokens),
        name=f"{subject.trace.model}-longer",
    )


def beyond(
    ways: Sequence[Way],
    *,
    tokens: int,
    tables: Sequence[PositionTable] = (),
    rotations: Sequence[Rotation] = (),
    biases: Sequence[DistanceBias] = (),
    vectors: Sequence[DistanceVectors] = (),
) -> list[str]:
    """Say what each way of a model's positions has beyond its longest text of `tokens` tokens, a sentence each."""
    said = []
    rows = [len(table.values) for table in tables if table.kind == "learned"]
    if "learned" in ways and rows:
        said.append(words.last_row(min(rows)))
    if "sinusoidal" in ways:
        said.append(words.ENDLESS_WAVES)
    for rotation in rotations[:1]:
        pairs, unfinished = len(rotation.wavelengths), _unfinished(rotation, tokens)
        said.append(words.angles(unfinished, pairs=pairs, tokens=tokens))
        if "dynamic" in rotation.variant or rotation.variant == "longrope":
            said.append(words.OTHER_ANGLES)
    if farthest := [bias.farthest for bias in biases if bias.farthest is not None]:
        said.append(words.last_bucket(max(farthest)))
    for slopes in [bias.slopes for bias in biases if bias.kind == "alibi"][:1]:
        flattest, steepest = float(slopes.min() * tokens), float(slopes.max() * tokens)
        said.append(words.taken(tokens=tokens, flattest=flattest, steepest=steepest))
    if {"xl", "xlnet"} & set(ways):
        said.append(words.ENDLESS_DISTANCES)
    shared = max((found.farthest for found in vectors if found.farthest is not None), default=None)
    if "profiles" in ways and shared is not None:
        said.append(words.nothing_farther(shared))
    elif {"shaw", "disentangled"} & set(ways):
        said.append(words.last_vector(shared))
    return said or [words.NO_END]


def longer(table: pd.DataFrame, *, longest: int) -> str:
    """Say what positions beyond `longest` tokens cost; table: of `positional.longer`."""
    behind = table[table["position"] >= longest]
    at_once, in_windows = (float(np.average(behind[read], weights=behind["tokens"])) for read in words.WINDOWS)
    return words.longer(tokens=int(table["tokens"].sum()) + 1, longest=longest, at_once=at_once, in_windows=in_windows)


def _unfinished(rotation: Rotation, tokens: int) -> int:
    """Count the pairs that need more tokens for one whole turn."""
    return int((rotation.wavelengths > tokens).sum())


SECTION = Section("length", words.LENGTH, answer, needs_model=True)
