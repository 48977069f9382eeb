"""The number that colours the heads of an atlas: a measure, or how well a head finds the governors of a relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector.atlas import library, measures
from inspector.atlas.opened import WITH_EXAMPLES
from inspector.atlas.reading import search
from inspector.atlas.relations import DIRECTIONS
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.atlas import Atlas
    from inspector.sections.subject import Subject

FIRST = "previous"
BETWEEN = "confidence"  # of cross-attention, which has no token before


@dataclass(frozen=True, eq=False)
class Colour:
    """One number for each head, float64 [N], NaN where it has none.

    key: in the link, a measure's name or "nsubj governor". title: in words. quantity: of a cell. top: the end of the
    colour scale; the largest value where None. code: the lines that give the numbers.
    """

    key: str
    title: str
    values: NDArray[np.float64]
    quantity: str
    top: float | None
    code: str

    @property
    def relation(self) -> tuple[str, str] | None:
        """The relation and the direction that the key asks for; None where it is a measure."""
        relation, _, direction = self.key.rpartition(" ")
        return (relation, direction) if relation else None

    @property
    def measure(self) -> str:
        """The measure that is told of one head over all texts: the key's, or the first."""
        return FIRST if self.relation else self.key

    @property
    def with_examples(self) -> str:
        """The measure by which texts are shown: of some the atlas keeps none."""
        return self.measure if self.measure in WITH_EXAMPLES else FIRST


def options(subject: Subject) -> Mapping[str, str]:
    """Name all that a stream's heads can be coloured by: measures first, then relations in both directions."""
    atlas = subject.atlas
    own = np.flatnonzero(atlas.heads["stream"] == subject.stream)
    means = atlas.statistics.mean[:, own]
    names = [name for number, name in enumerate(measures.NAMES) if np.isfinite(means[number]).any()]
    table = atlas.scores
    keys = names
    if table is not None:  # a decoder, which looks back alone, finds some governors from no dependent
        scored = table[(table["stream"] == subject.stream) & table["share"].notna()]
        known = set(zip(scored["relation"], scored["direction"], strict=True))
        pairs = [(relation, way) for relation in dict.fromkeys(scored["relation"]) for way in DIRECTIONS]
        keys += [" ".join(pair) for pair in pairs if pair in known]
    return {key: words.by(key) for key in keys}


def first(subject: Subject) -> str:
    """Return the key of the number that is shown at first."""
    return FIRST if FIRST in options(subject) else BETWEEN


def found(subject: Subject, asked: str) -> str | None:
    """Find the key that a reader's words mean; None where they mean none."""
    return search.find(asked, among=list(options(subject)))


def of(atlas: Atlas, key: str) -> Colour:
    """Read the numbers of a key for every head."""
    relation, _, direction = key.rpartition(" ")
    title = words.by(key)
    if not relation:
        own = measures.find(key)
        values = atlas.statistics.mean[measures.NAMES.index(key)]
        top = 1.0 if own.unit == "share" and own.group == "head" else None
        lines = f"table = atlas.table()[[*atlas.heads, {key!r}]]"
        return Colour(key, title, values, words.QUANTITIES[own.unit], top, opened(atlas) + lines)
    table = atlas.scores
    assert table is not None
    chosen = table[(table["relation"] == relation) & (table["direction"] == direction)]
    index = pd.MultiIndex.from_frame(atlas.heads)
    shares = chosen.set_index(list(atlas.heads.columns))["share"].reindex(index).to_numpy(np.float64)
    lines = f"table = atlas.scores.query({f'relation == {relation!r} and direction == {direction!r}'!r})"
    return Colour(key, title, shares, words.SHARE_FOUND, 1.0, opened(atlas) + lines)


def opened(atlas: Atlas, reading: str = "") -> str:
    """Write the Python lines that open an atlas, without a path of this machine, and import a module that reads it."""
    id = library.id_of(atlas)
    folder = f"library.kept() / {id!r}" if id else f"library.SHIPPED / {atlas.folder.name!r}"
    needed = f"from inspector.atlas.reading import {reading}\n" if reading else ""
    return f"import inspector\nfrom inspector.atlas import library\n{needed}\natlas = inspector.atlas.open({folder})\n"
